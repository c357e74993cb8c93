/** A control room of a few functions, for the unit tests of users. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ProcessId, ProcessRunId, WorkItemId, WorkspaceId } from "../src/contract/Ids.ts"
import { ControlRoom } from "../src/ControlRoom.ts"
import * as Files from "../src/Files.ts"
import { mock, type Mocked, refuse } from "../src/Mock.ts"
import * as ProcessRuns from "../src/ProcessRuns.ts"
import * as WorkItems from "../src/WorkItems.ts"

const over = <A, E>(room: Mocked, program: Effect.Effect<A, E, ControlRoom>) =>
  Effect.provide(
    program,
    Layer.fresh(
      ControlRoom.layer({
        baseUrl: "http://room.example",
        apiKey: Redacted.make("any"),
        workspaceId: WorkspaceId.make("w"),
        fetch: room.fetch
      })
    )
  )

const process = ProcessId.make("p")
const item = {
  id: "i",
  created_at: "2026-11-27T08:00:00.000Z",
  process: { id: "p" },
  process_run: null,
  step_run: null,
  step: null,
  state: "new",
  state_updated_at: "2026-11-27T08:00:00.000Z",
  exception: null,
  priority: 0,
  due_at: null,
  due_state: null,
  masked: [],
  reference: null,
  tags: [],
  payload: { day: 1 },
  files: []
} as const

describe("a mocked control room", () => {
  it.effect("responds by the functions of its operations, which get what was sent", () =>
    Effect.gen(function* () {
      const room = mock({
        createWorkItem: ({ payload }) => ({ ...item, payload: payload.payload ?? null }),
        listWorkItems: ({ query }) =>
          query.cursor === undefined
            ? { data: [item], has_more: true, next: "http://room.example/api/v1/x?cursor=2" }
            : { data: [], has_more: false, next: null }
      })
      const { payload } = yield* over(room, WorkItems.create({ process, payload: { day: 2 } }))
      assert.deepStrictEqual(payload, { day: 2 })
      const all = yield* over(room, Stream.runCollect(WorkItems.stream({ state: "new" })))
      assert.deepStrictEqual(
        all.map(({ id }) => id),
        [WorkItemId.make("i")]
      )
      assert.deepStrictEqual(
        room.calls.map(({ operation, params, query }) => [operation, params.workspace_id, query.cursor]),
        [
          ["createWorkItem", "w", undefined],
          ["listWorkItems", "w", undefined],
          ["listWorkItems", "w", "2"]
        ]
      )
    })
  )

  it.effect("refuses as the service does, and the client tries again what may succeed", () =>
    Effect.gen(function* () {
      let times = 0
      const room = mock({
        getWorkItem: () => refuse(404, "NOT_FOUND", "there is no such item"),
        stopProcessRun: () =>
          ++times === 1 ? refuse(429, "TOO_MANY", "slow down", { "retry-after": "60" }) : { accepted: true }
      })
      const error = yield* Effect.flip(over(room, WorkItems.get(WorkItemId.make("i"))))
      assert.strictEqual(error._tag, "NotFound")
      const stopped = yield* Effect.forkChild(over(room, ProcessRuns.stop(ProcessRunId.make("r"))))
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* Fiber.join(stopped), { accepted: true })
      assert.strictEqual(times, 2)
    })
  )

  it.effect("takes uploads, and has the files that it is given", () =>
    Effect.gen(function* () {
      const url = "http://files.example/a.txt"
      const room = mock(
        { createWorkItemFile: () => ({ upload: { url: "http://files.example/upload", form_data: {} } }) },
        { files: { [url]: "hello" } }
      )
      yield* over(room, WorkItems.attachFile(WorkItemId.make("i"), { name: "a", bytes: new Uint8Array(3) }))
      const text = Stream.mkString(Stream.decodeText(Files.download({ download: { url } })))
      assert.strictEqual(yield* over(room, text), "hello")
    })
  )

  it.effect("says what is not mocked, and what is no response", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(over(mock({}), WorkItems.list()))
      assert.include(message, "listWorkItems is not mocked")
      // From JavaScript.
      const lacking = mock({ listWorkItems: () => JSON.parse(`{"data":[]}`) })
      const problem = yield* Effect.flip(over(lacking, WorkItems.list()))
      assert.include(problem.message, "what the mock of listWorkItems returns is no response of it")
      assert.include(problem.message, "has_more")
      const misspelled: object = { createWorkItm: () => null }
      assert.throws(() => mock(misspelled), "mock: createWorkItm is no operation of the contract")
    })
  )
})
