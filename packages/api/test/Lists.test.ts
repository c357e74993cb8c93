/** Pages of lists by hand: `next` of a page as it comes, or the cursor in it, on every list. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ProcessId, ProcessRunId } from "../src/contract/Ids.ts"
import * as Failures from "../src/Failures.ts"
import { inWorkspace } from "../src/internal/calls/Workspace.ts"
import type { Top } from "../src/internal/endpoints/Endpoint.ts"
import * as Outputs from "../src/Outputs.ts"
import * as Processes from "../src/Processes.ts"
import * as ProcessRuns from "../src/ProcessRuns.ts"
import * as StepRuns from "../src/StepRuns.ts"
import type { CallError } from "../src/ControlRoomError.ts"
import type { ControlRoom } from "../src/ControlRoom.ts"
import * as WorkItems from "../src/WorkItems.ts"
import { declared } from "./support/Declared.ts"
import { answer, type FaultServer } from "./support/FaultServer.ts"
import { withServer } from "./support/Retries.ts"

const lists = [...declared.values()].filter((endpoint) => "cursor" in (endpoint.parts().query ?? {}))

const emptyPage = answer(200, { data: [], has_more: false, next: null, newer: null, position: 0, total: 0 })

const cursorsSent = (server: FaultServer) =>
  server.received().map(({ path }) => new URL(path, server.origin).searchParams.get("cursor"))

type Query = Readonly<Record<string, string>>

/** A call of a list by its endpoint, with what it needs besides the cursor. */
const callOf = (endpoint: Top) => {
  const params = Object.fromEntries([...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, "id"]))
  // The types of all lists together cannot be written; the contract checks what is sent.
  const call = inWorkspace(endpoint) as unknown as (input: unknown) => Effect.Effect<unknown, CallError, ControlRoom>
  const needed: Query = ["listOutputs", "listStepRuns"].includes(endpoint.identifier) ? { process_run_id: "run" } : {}
  return (cursor: unknown) => call({ params, query: { ...needed, cursor } })
}

describe("the cursor of a page", () => {
  it("is one of many lists", () => assert.isAtLeast(lists.length, 20))

  for (const endpoint of lists) {
    it.live(`of ${endpoint.identifier} is taken from the whole address, and as it is`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          const call = callOf(endpoint)
          server.script([emptyPage])
          yield* call(`https://elsewhere.example/api/v1/list?limit=1&cursor=a%2Bb%3D.c&state=new`)
          yield* call("/api/v1/list?cursor=a%2Bb%3D.c")
          yield* call("a+b=.c")
          assert.deepStrictEqual(cursorsSent(server), ["a+b=.c", "a+b=.c", "a+b=.c"])
        })
      )
    )
  }

  for (const [what, cursor] of [
    ["an address without one", "https://room.example/api/v1/workspaces/w/work-items?limit=5"],
    ["a text that is none", "the second page"],
    ["an empty text", ""],
    ["`next` of the last page", null]
  ] as const) {
    it.live(`is refused with a remedy, and nothing is sent: ${what}`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          server.script([emptyPage])
          for (const endpoint of lists) {
            const error = yield* Effect.flip(callOf(endpoint)(cursor))
            assert.strictEqual(error._tag, "InvalidRequest")
            assert.match(error.message, /^cursor: .*`next`/)
          }
          assert.lengthOf(server.received(), 0)
        })
      )
    )
  }
})

describe("a list of a module", () => {
  const next = "https://elsewhere.example/list?cursor=c1"
  const run = ProcessRunId.make("run")

  it.live("has its cursor in one object with all else", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([emptyPage])
        yield* WorkItems.list({ state: "failed", limit: 3, cursor: next })
        yield* ProcessRuns.list({ process: ProcessId.make("p"), cursor: next })
        yield* Failures.list({ cursor: next })
        yield* Processes.list({ cursor: next })
        yield* Outputs.list(run, { limit: 2, cursor: next })
        yield* StepRuns.list(run, { cursor: next })
        assert.deepStrictEqual(cursorsSent(server), Array(6).fill("c1"))
        assert.include(server.received()[0]?.path, "state=failed")
        assert.include(server.received()[4]?.path, "limit=2")
      })
    )
  )

  it.live("takes it as a further argument for one version", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([emptyPage])
        yield* WorkItems.list({}, next)
        yield* ProcessRuns.list({}, next)
        yield* Failures.list({}, next)
        yield* Outputs.list(run, {}, "c1")
        yield* StepRuns.list(run, {}, next)
        assert.deepStrictEqual(cursorsSent(server), Array(5).fill("c1"))
      })
    )
  )
})
