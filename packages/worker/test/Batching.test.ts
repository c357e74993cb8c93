import { assert, describe, it } from "@effect/vitest"
import { ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import type { CallError, ControlRoomError } from "@signalbox/api/ControlRoomError"
import type { ReservedItem, NextAsk } from "@signalbox/api/robot/WorkerProtocol"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as WorkerSource from "../src/internal/items/WorkerSource.ts"
import { LeaseLost } from "../src/internal/outcome/LeaseLost.ts"
import * as Batching from "../src/internal/items/Batching.ts"
import * as MemorySession from "./support/MemorySession.ts"
import { lease } from "./support/Protocol.ts"

const itemOf = (id: string): ReservedItem => ({
  work_item_id: WorkItemId.make(`item of ${id}`),
  attempt: 1,
  payload: id,
  files: []
})

const askOf = (id: string, run = "run"): NextAsk => ({
  lease: lease(id, "task", { process_run_id: ProcessRunId.make(run) }),
  settled: null,
  reserve: true
})

const nothing = { item: null, ahead: [], mayBegin: true, error: null }

/** A service that responds while it is open, and refuses the step run named `lost`. */
const makeService = Effect.gen(function* () {
  const open = yield* Latch.make(true)
  const called: Array<ReadonlyArray<string>> = []
  const failures: Array<ControlRoomError> = []
  const nextItems: Batching.Calls["nextItems"] = Effect.fnUntraced(function* (_run, asks) {
    called.push(asks.map(({ lease }) => lease.step_run_id))
    yield* open.await
    const failure = failures.shift()
    if (failure !== undefined) return yield* failure
    return asks.map(({ lease: { step_run_id } }) =>
      step_run_id === "lost"
        ? { ...nothing, error: { code: "LEASE_LOST", message: "stop the task" } }
        : { ...nothing, item: itemOf(step_run_id) }
    )
  })
  const send = yield* Batching.make({ nextItems })
  const next = (ask: NextAsk) =>
    Effect.gen(function* () {
      const answer = yield* Deferred.make<Batching.Answer, CallError | LeaseLost>()
      const answered = (exit: Exit.Exit<Batching.Answer, CallError | LeaseLost>) => {
        Deferred.doneUnsafe(answer, exit)
        return false
      }
      yield* send(ask.lease.process_run_id, { ask: () => ask, answered })
      return (yield* Deferred.await(answer)).item
    })
  return { open, called, failures, next }
})

const settle = TestClock.adjust(0)

describe("calls of several step runs", () => {
  it.effect("go together when they come while one is under way, each run by itself", () =>
    Effect.gen(function* () {
      const { called, next, open } = yield* makeService
      yield* open.close
      const first = yield* Effect.forkChild(next(askOf("a")))
      yield* settle
      const rest = yield* Effect.forEach(["b", "c"], (id) => Effect.forkChild(next(askOf(id))))
      const elsewhere = yield* Effect.forkChild(next(askOf("z", "another run")))
      yield* settle
      assert.deepStrictEqual(called, [["a"], ["z"]])
      yield* open.open
      const items = yield* Effect.forEach([first, ...rest, elsewhere], Fiber.join)
      assert.deepStrictEqual(
        items.map((item) => item?.payload),
        ["a", "b", "c", "z"]
      )
      assert.deepStrictEqual(called, [["a"], ["z"], ["b", "c"]])
    })
  )

  it.effect("have separate results: only a step run that lost its lease fails", () =>
    Effect.gen(function* () {
      const { next } = yield* makeService
      const exits = yield* Effect.forEach(["a", "lost", "b"], (id) => Effect.exit(next(askOf(id))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true])
      assert.deepStrictEqual(exits[1], Exit.fail(new LeaseLost()))
    })
  )

  it.effect("are sent again until the service is available again", () =>
    Effect.gen(function* () {
      const { called, failures, next } = yield* makeService
      failures.push(MemorySession.unreachable, MemorySession.unreachable)
      const fiber = yield* Effect.forkChild(next(askOf("a")))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* Fiber.join(fiber), itemOf("a"))
      assert.strictEqual(called.length, 3)
    })
  )
})

describe("the items of a reserved step run", () => {
  const id = WorkItemId.make("item of a")
  const bytes = { name: "out.txt", size: 2 }

  /** A step run that has a reserved item, and its next request. */
  const working = Effect.gen(function* () {
    const { actions, session } = MemorySession.make({ [id]: { payload: null } })
    const asked: Array<NextAsk> = []
    const next: Batching.Next = (_run, { answered, ask }) =>
      Effect.sync(() => {
        const request = ask()
        asked.push(request)
        const item = request.settled === null ? { ...itemOf("a"), attempt: 2 } : null
        answered(Exit.succeed({ item, ahead: [], mayBegin: true, milliseconds: 1 }))
      })
    const source = WorkerSource.make(lease("a", "task"), next, session)
    yield* source.advance(null, true)
    return { actions, asked, source }
  })

  it.effect("settles the attempt that it reserved, with the outputs in their order", () =>
    Effect.gen(function* () {
      const { actions, asked, source } = yield* working
      yield* source.createOutput(id, 1, [])
      yield* source.createOutput(id, { two: 2 }, [])
      assert.isNull(yield* source.advance({ id, release: { state: "COMPLETED" } }, false))
      assert.deepStrictEqual(asked[1]?.settled, {
        work_item_id: id,
        attempt: 2,
        state: "COMPLETED",
        outputs: [1, { two: 2 }]
      })
      assert.isFalse(asked[1]?.reserve)
      assert.deepStrictEqual(actions, [])
    })
  )

  it.effect("sends the outputs of an item that failed, unless it is released without them", () =>
    Effect.gen(function* () {
      const { asked, source } = yield* working
      yield* source.createOutput(id, 1, [])
      const exception = { type: "BUSINESS", code: "NO", message: "no" } as const
      yield* source.advance({ id, release: { state: "FAILED", exception } }, true)
      const failed = { work_item_id: id, attempt: 2, state: "FAILED", exception }
      assert.deepStrictEqual<unknown>(asked[1]?.settled, { ...failed, outputs: [1] })
      yield* source.createOutput(id, 2, [])
      yield* source.advance({ id, release: { state: "FAILED", exception, dropOutputs: true } }, true)
      assert.deepStrictEqual<unknown>(asked[2]?.settled, { ...failed, drop_outputs: true })
    })
  )

  it.effect("creates outputs that are large or have files immediately, after those before them", () =>
    Effect.gen(function* () {
      const { actions, asked, source } = yield* working
      const large = "x".repeat(30_000)
      yield* source.createOutput(id, 1, [])
      yield* source.createOutput(id, 2, [{ ...bytes, stream: Stream.make(new Uint8Array([79, 75])) }])
      yield* source.createOutput(id, 3, [])
      yield* source.createOutput(id, large, [])
      yield* source.createOutput(id, 5, [])
      yield* source.advance({ id, release: { state: "COMPLETED" } }, true)
      const payloads = actions.flatMap((action) => (action.did === "output" ? [action.payload] : []))
      assert.deepStrictEqual(payloads, [1, 2, 3, large])
      assert.deepStrictEqual(asked[1]?.settled?.outputs, [5])
    })
  )

  it.effect("sends no call larger than the service accepts: more than a hundred outputs go before", () =>
    Effect.gen(function* () {
      const { actions, asked, source } = yield* working
      for (let n = 0; n < 150; n++) yield* source.createOutput(id, n, [])
      yield* source.advance({ id, release: { state: "COMPLETED" } }, true)
      const payloads = actions.flatMap((action) => (action.did === "output" ? [action.payload] : []))
      const all = [...payloads, ...(asked[1]?.settled?.outputs ?? [])]
      assert.strictEqual(payloads.length, 100)
      assert.deepStrictEqual(
        all,
        Array.from({ length: 150 }, (_, n) => n)
      )
    })
  )
})
