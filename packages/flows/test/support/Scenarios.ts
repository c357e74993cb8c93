/**
 * Scenarios of other engines, in our words: on a SQLite file in virtual time, and on Postgres in a short real one. Each has the name
 * that its engine gives it: a folder of `temporalio/features`, a test of `dbos-transact-ts` or of Restate's test suites.
 */
import { defined } from "@signalbox/transport/Defined"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../../src/Flow.ts"
import { FlowEngine, type Options } from "../../src/FlowEngine.ts"
import { FlowHalted } from "../../src/FlowErrors.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import type { RetryOptions } from "../../src/Retry.ts"
import { inProcess, postgresUrl, Store, temporaryFile, temporarySchema } from "./Engines.ts"
import { Diary, Refused } from "./Flows.ts"
import { breathe } from "./Polling.ts"
import { advance, inRealTime } from "./Time.ts"

const isVirtual = postgresUrl === ""

/** So many seconds of a scenario, in milliseconds. Where time is real they are short. */
export const seconds = (count: number): number => count * (isVirtual ? 1_000 : 50)

/** The database and the diary are those of one scenario; processes begin and end on it. */
export const scenario = (title: string, body: Effect.Effect<void, unknown, Store | Diary>): void => {
  const store = isVirtual ? Store.sqlite : Store.postgres
  const around = Layer.merge(Layer.fresh(store), Layer.fresh(Diary.layer))
  const begun = isVirtual ? Effect.andThen(TestClock.setTime(Date.parse("2026-11-20T05:00:00Z")), body) : body
  ;(isVirtual ? it.effect : it.live)(title, () => Effect.provide(begun, around))
}

/** Of several processes at once: on Postgres alone. */
export const shared = (title: string, body: Effect.Effect<void, unknown, Store | Diary>): void => {
  if (!isVirtual) scenario(title, body)
}

/** No scenario computes for long, and a thread for each of their processes costs most of their time. */
const withoutThread = { leaseThread: false } as const

/** A scenario of promises, which have no virtual time. */
export const promised = (title: string, body: (storage: Storage) => Promise<void>): void =>
  it.live(title, () =>
    Effect.gen(function* () {
      const storage = isVirtual
        ? { file: yield* temporaryFile }
        : { url: postgresUrl, schema: yield* temporarySchema, ...withoutThread }
      yield* Effect.promise(() => body(storage))
    }).pipe(Effect.scoped)
  )
type Storage =
  | { readonly file: string }
  | { readonly url: string; readonly schema: string; readonly leaseThread: false }

/** Where time is real, scenarios mostly wait. */
export const scenarios = (area: string, body: () => void): void => {
  describe(`${area}, on ${isVirtual ? "SQLite" : "Postgres"}`, { concurrent: !isVirtual }, body)
}

// ---- time

/** Where schedules go on meanwhile, hours would be thousands of their executions. */
const fewMillis = 2_000

/** Steps grow, so that a day is a few of them. */
const stepOf = (step: number): number => Math.round(250 * 1.5 ** step)

/** Lets time pass until an effect is through, after `answered` each time, by at most so many milliseconds at once. */
export const through = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  answered: Effect.Effect<void> = Effect.void,
  mostMillis = 3_600_000
) {
  if (!isVirtual) return yield* Effect.exit(effect)
  const fiber = yield* Effect.forkChild(effect)
  for (let step = 0; fiber.pollUnsafe() === undefined; step++) {
    if (step > 2_000) return yield* Effect.die(new Error("it does not end"))
    yield* answered
    yield* advance(Math.min(stepOf(step), mostMillis))
  }
  return yield* Fiber.await(fiber)
})

/** A client waits in real time for a response, whatever the time of the scenario. */
export const client: typeof inRealTime = isVirtual ? inRealTime : (effect) => effect

/** Lets so many seconds of the scenario pass. */
export const pass = (count: number): Effect.Effect<void> =>
  isVirtual ? advance(seconds(count)) : Effect.sleep(seconds(count))

/** Lets real time pass, for what is measured by it. */
export const elapse = (millis: number): Effect.Effect<void> => (isVirtual ? advance(millis) : Effect.sleep(millis))

/** Lets time pass, by little at first, until it holds. */
export const eventually = <E, R>(condition: Effect.Effect<boolean, E, R>, step = 0): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (holds) => {
    if (holds) return Effect.void
    const passes = isVirtual ? advance(step < 10 ? 100 : Math.min(stepOf(step - 10), fewMillis)) : breathe
    return Effect.andThen(passes, eventually(condition, step + 1))
  })

// ---- steps and flows

/** Writes a line and returns it. */
export const say = Flow.step("say", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: (text) => Effect.as(Diary.write(text), text)
})

/** Fails, with its input as the reason. */
export const refuse = Flow.step("refuse", {
  input: Schema.String,
  success: Schema.String,
  error: Refused,
  run: (why) => Effect.andThen(Diary.write(why), Effect.fail(new Refused({ why })))
})

/** Writes a line when it begins, and one when it has taken so many seconds. */
export const take = Flow.step("take", {
  input: Schema.Struct({ name: Schema.String, seconds: Schema.Finite }),
  success: Schema.String,
  error: Schema.Never,
  run: Effect.fnUntraced(function* (work) {
    yield* Diary.write(`${work.name} begins`)
    yield* Effect.sleep(seconds(work.seconds))
    yield* Diary.write(`${work.name} ends`)
    return work.name
  })
})

/** A step that begins, and ends when it is let. */
export const gated = () => {
  const gate = Latch.makeUnsafe()
  const held = Flow.step("held", {
    input: Schema.Void,
    success: Schema.Null,
    error: Schema.Never,
    run: Effect.fnUntraced(function* () {
      yield* Diary.write("held begins")
      yield* gate.await
      yield* Diary.write("held ends")
      return null
    })
  })
  return { held: held(undefined), open: gate.open }
}

/** How many lines a step has written, its own included. */
export const countOf = (line: string) =>
  Effect.map(Diary.read, (lines) => lines.filter((there) => there === line).length)

/** A step that writes its line, and fails until it has done so often enough. */
export const flaky = (times: number, retry?: RetryOptions<Refused>) =>
  Flow.step("flaky", {
    input: Schema.Void,
    success: Schema.Finite,
    error: Refused,
    run: Effect.fnUntraced(function* () {
      yield* Diary.write("attempt")
      const attempt = yield* countOf("attempt")
      return attempt < times ? yield* new Refused({ why: `attempt ${attempt}` }) : attempt
    }),
    ...defined({ retry })
  })(undefined)

/** What bodies of scenarios fail with. */
export const Failure = Schema.Union([
  Refused,
  Flow.StepTimeout,
  Flow.FlowTimeout,
  Flow.FlowCancelled,
  Flow.InvalidInput,
  Flow.SignalConflict,
  Flow.ExecutionConflict
])

/** A flow of a text, which is its key, that returns any JSON. */
export const flow = <C extends Flow.FlowContext<unknown>>(
  name: string,
  run: (text: string) => Effect.Effect<Schema.Json, typeof Failure.Type, C>,
  options: {
    readonly version?: number
    readonly signals?: ReadonlyArray<Flow.Signal<Flow.Codec>>
    readonly states?: ReadonlyArray<Flow.AnyState>
    readonly limit?: ReadonlyArray<Flow.FlowLimit<string>>
    readonly tags?: (text: string) => ReadonlyArray<string>
    readonly key?: (text: string) => string
  } = {}
) =>
  Flow.make(name, {
    version: options.version ?? 1,
    input: Schema.String,
    success: Schema.Json,
    error: Failure,
    idempotencyKey: options.key ?? ((text) => text),
    signals: options.signals,
    states: options.states,
    limit: options.limit,
    tags: options.tags,
    run
  })

// ---- processes

type Registered = Layer.Layer<never, unknown, FlowEngine | Diary>

/** A process on the database of the scenario, for as long as the effect runs. */
export const program = <A, E, R>(
  flows: Registered | ReadonlyArray<Registered>,
  effect: Effect.Effect<A, E, R>,
  options: Options = {}
) => {
  const all = [flows].flat().reduce<Registered>((one, other) => Layer.merge(one, other), Layer.empty)
  const closing = <B, E2, R2>(close: Effect.Effect<B, E2, R2>) => through(close, Effect.void, fewMillis)
  return inProcess(all, effect, { ...options, ...withoutThread }, closing)
}

/** A client of the database of the scenario, as a program has it for its own tables. */
export const sqlClient: Layer.Layer<SqlClient, unknown, FlowEngine> = isVirtual
  ? FlowEngine.sqlClient
  : PgClient.layer({ url: Redacted.make(postgresUrl) })

/** The result of an execution, once it has ended. */
export const resultOf = <S extends Flow.Codec, E extends Flow.Codec, R>(
  flow: Flow.Flow<typeof Schema.String, S, E, R>,
  text: string
) => Effect.flatten(through(Flow.execute(flow, text)))

/** The error of an execution, once it has ended. */
export const errorOf = <S extends Flow.Codec, E extends Flow.Codec, R>(
  flow: Flow.Flow<typeof Schema.String, S, E, R>,
  text: string
) =>
  Effect.map(through(Flow.execute(flow, text)), (exit): unknown =>
    Exit.isFailure(exit) ? Cause.squash(exit.cause) : assert.fail("it has succeeded")
  )

/** Why an execution is halted, once it is. */
export const haltOf = <S extends Flow.Codec, E extends Flow.Codec, R>(
  flow: Flow.Flow<typeof Schema.String, S, E, R>,
  text: string
) =>
  Effect.map(errorOf(flow, text), (error) => {
    assert.instanceOf(error, FlowHalted)
    return error
  })

export const stateOf = (id: string) => Effect.map(FlowExecutions.get(id), ({ state }) => state)

/** The first of some executions, once there is one. */
export const firstOf = (filter: FlowExecutions.Filter = {}) =>
  Effect.gen(function* () {
    const listed = Effect.map(FlowExecutions.list(filter), ({ executions }) => executions)
    yield* eventually(Effect.map(listed, (executions) => executions.length > 0))
    return (yield* listed).at(-1)?.id ?? assert.fail("it is gone")
  })

/** Lets time pass until an execution is in a state; fails when it ends in another one. */
export const reaches = (id: string, state: FlowExecutions.State) =>
  eventually(
    Effect.map(FlowExecutions.get(id), (execution) => {
      if (execution.state !== state && execution.endedAt !== null) assert.fail(`it is ${execution.state}, not ${state}`)
      return execution.state === state
    })
  )

/** Starts an execution, and lets time pass until it waits. */
export const waiting = <S extends Flow.Codec, E extends Flow.Codec, R>(
  flow: Flow.Flow<typeof Schema.String, S, E, R>,
  text = "x"
) => Effect.tap(Flow.submit(flow, text), (id) => reaches(id, "waiting"))

/** Lets time pass until an execution has failed because of its deadline. */
export const isLate = (id: string) =>
  Effect.map(Effect.andThen(reaches(id, "failed"), FlowExecutions.get(id)), ({ failure }) => {
    assert.strictEqual(failure?.tag, "DeadlineExceeded")
  })

/** Lets time pass until the diary has a line. */
export const says = (line: string) => eventually(Effect.map(Diary.read, (lines) => lines.includes(line)))

export { Diary, Refused } from "./Flows.ts"
