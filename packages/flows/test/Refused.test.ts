/** Executions that do not fit the code of a build. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import { FlowHalted } from "../src/FlowErrors.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import type { Journal } from "../src/internal/journal/Journal.ts"
import * as Sqlite from "../src/internal/journal/Sqlite.ts"
import { Diary, note, Refused } from "./support/Flows.ts"
import { alone, engineOver, journalOf, shared } from "./support/Processes.ts"
import { errorOf, stateOf } from "./support/Running.ts"
import { until } from "./support/Polling.ts"
import { advance, throughTime } from "./support/Time.ts"

const nap = Flow.sleep("nap", "1 hour")
const undone = Flow.compensate(note("a"), () => note("undone"))

const flow = <C extends Flow.FlowContext<unknown>>(run: (key: string) => Effect.Effect<unknown, Refused, C>) =>
  Flow.make("refusable", {
    version: 1,
    input: Schema.String,
    success: Schema.Void,
    error: Refused,
    idempotencyKey: (key) => key,
    run: (key) => Effect.asVoid(run(key))
  })

const before = flow(() => Effect.andThen(undone, nap))
/** Calls a step that is not recorded, before one that is. */
const after = flow(() => Effect.andThen(undone, Effect.andThen(note("new", { key: "new" }), nap)))

type Program = typeof before | typeof after

/** A process with one build of the flow, until the effect ends. */
const process = <A, E, R>(
  journal: Journal["Service"],
  program: Program,
  effect: Effect.Effect<A, E, R | FlowEngine>,
  lease = alone
) => Effect.provide(effect, Layer.fresh(Layer.provideMerge(Flow.layer(program), engineOver(journal, lease))))

/** A process that runs beside others; returns what ends it. */
const beside = Effect.fnUntraced(function* (journal: Journal["Service"], program: Program) {
  const scope = yield* Scope.make()
  const layer = Layer.fresh(Layer.provideMerge(Flow.layer(program), engineOver(journal, shared)))
  const context = yield* Layer.buildWithScope(layer, scope)
  return { context, stop: Scope.close(scope, Exit.void) }
})

/** Waits in its nap, and no process runs. */
const napping = (journal: Journal["Service"], key = "one") =>
  process(
    journal,
    before,
    Effect.tap(Flow.submit(before, key), () => advance("1 minute"))
  )

const refusals = (journal: Journal["Service"]) => journal.names("refused ")

const test = (
  title: string,
  body: (journal: Journal["Service"]) => Effect.Effect<void, unknown, Scope.Scope | Diary>
) =>
  it.effect(title, () => Effect.provide(Effect.flatMap(journalOf(Sqlite.layerMemory), body), Layer.fresh(Diary.layer)))

describe("an execution that a build refuses", () => {
  /** Cancels it when the process comes to a call of its journal, once. */
  const cancelledAt = Effect.fnUntraced(function* (
    journal: Journal["Service"],
    watched: (cancel: Effect.Effect<void>) => Partial<Journal["Service"]>
  ) {
    const id = yield* napping(journal)
    const engine = yield* Latch.make()
    let isDone = false
    let running: Context.Context<FlowEngine> | null = null
    const cancel = Effect.suspend(() => {
      if (isDone || running === null) return Effect.void
      isDone = true
      return Effect.orDie(Effect.provideContext(FlowExecutions.cancel(id), running))
    })
    const told = { ...journal, ...watched(Effect.andThen(engine.await, cancel)) }
    yield* process(
      told,
      after,
      Effect.gen(function* () {
        running = yield* Effect.context<FlowEngine>()
        yield* engine.open
        yield* advance("2 hours")
        assert.strictEqual(yield* stateOf(id), "cancelled")
      })
    )
    assert.isTrue(isDone)
    assert.deepStrictEqual(yield* Diary.read, ["a", "undone"])
  })

  test("and that is cancelled while it is being halted is undone, without another cancel", (journal) =>
    cancelledAt(journal, (cancel) => ({ processes: Effect.andThen(cancel, journal.processes) })))

  test("and that is cancelled while it is being replayed is undone, without another cancel", (journal) =>
    cancelledAt(journal, (cancel) => ({ history: (id) => Effect.tap(journal.history(id), () => cancel) })))

  test("leaves nothing but its row when all have refused it", (journal) =>
    Effect.gen(function* () {
      const id = yield* napping(journal)
      // Each claims it once, and leaves it to the other one when it has refused it.
      const claimsOnce = (): Journal["Service"] => {
        let has = false
        return {
          ...journal,
          claim: (...claiming) =>
            Effect.suspend(() => (has ? Effect.succeed([]) : journal.claim(...claiming))).pipe(
              Effect.tap(({ length }) => Effect.sync(() => void (has ||= length > 0)))
            )
        }
      }
      const one = yield* beside(claimsOnce(), after)
      const two = yield* beside(claimsOnce(), after)
      yield* advance("2 hours")
      yield* throughTime(until(Effect.map(journal.find(id), (found) => found?.state === "halted")))
      assert.deepStrictEqual(yield* refusals(journal), [])
      yield* one.stop
      yield* two.stop
    }))

  test("leaves nothing but its row when another one continues it", (journal) =>
    Effect.gen(function* () {
      const id = yield* napping(journal)
      const one = yield* beside(journal, after)
      // Registered, and without room to run it: the other one is asked first.
      const two = yield* beside({ ...journal, claim: () => Effect.succeed([]) }, before)
      yield* advance("61 minutes")
      assert.deepStrictEqual(yield* refusals(journal), [`refused ${id}`])
      yield* two.stop
      const three = yield* beside(journal, before)
      yield* one.stop
      yield* advance("1 minute")
      assert.strictEqual((yield* journal.find(id))?.state, "completed")
      assert.deepStrictEqual(yield* refusals(journal), [])
      yield* three.stop
    }))
})

describe("executions that older builds have refused", () => {
  const many = 250
  const halted = Effect.fnUntraced(function* (journal: Journal["Service"]) {
    const keys = Array.from({ length: many }, (_, n) => `${n}`)
    const submitted = Effect.forEach(keys, (key) => Flow.submit(before, key))
    const ids = yield* process(
      journal,
      before,
      Effect.tap(submitted, () => advance("1 minute"))
    )
    yield* process(journal, after, advance("2 hours"))
    const { length } = yield* journal.list({ states: ["halted"], limit: 500 })
    assert.strictEqual(length, many)
    return ids
  })

  test("continue, however many, after the start of the flow, which waits for none of them", (journal) =>
    Effect.gen(function* () {
      yield* halted(journal)
      const gate = yield* Latch.make()
      const slow: Journal["Service"] = {
        ...journal,
        list: (page) => Effect.andThen(gate.await, journal.list(page))
      }
      yield* process(
        slow,
        before,
        Effect.gen(function* () {
          // The flow is registered and runs while nothing has been reopened.
          yield* throughTime(Flow.execute(before, "new"))
          assert.strictEqual((yield* journal.list({ states: ["halted"], limit: 500 })).length, many)
          yield* gate.open
          const completed = journal.list({ states: ["completed"], limit: 500 })
          yield* throughTime(until(Effect.map(completed, ({ length }) => length === many + 1)))
        })
      )
    }))

  test("continue before their turn when a caller awaits them", (journal) =>
    Effect.gen(function* () {
      const [id = ""] = yield* halted(journal)
      const never: Journal["Service"] = { ...journal, list: () => Effect.never }
      const exit = yield* process(never, before, throughTime(Flow.execute(before, "0")))
      assert.isTrue(Exit.isSuccess(exit))
      assert.strictEqual((yield* journal.find(id))?.state, "completed")
    }))

  test("are halted again when the new build refuses them, and callers that await one fail", (journal) =>
    Effect.gen(function* () {
      yield* halted(journal)
      const never: Journal["Service"] = { ...journal, list: () => Effect.never }
      const exit = yield* process(never, after, throughTime(Flow.execute(after, "0")))
      assert.instanceOf(errorOf(exit), FlowHalted)
    }))
})
