/**
 * Schedules of durable flows: executions that start at the times of a schedule.
 */
import { OptionError } from "@signalbox/transport/OptionError"
import { TaggedError } from "@signalbox/transport/Printed"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Definition from "@signalbox/schedule/Definition"
import * as Due from "@signalbox/schedule/Due"
import { occurrences } from "@signalbox/schedule/Occurrences"
import { submit } from "./Durable.ts"
import type { FlowEngine } from "./FlowEngine.ts"
import * as FlowExecutions from "./FlowExecutions.ts"
import { versionName } from "./internal/model/Execution.ts"
import { engineOf } from "./internal/engine/EngineOf.ts"
import type { Flow } from "./internal/body/FlowType.ts"
import { asCall, unlimited } from "./internal/journal/Calling.ts"
import * as ScheduleRunner from "./internal/schedules/ScheduleRunner.ts"
import * as Decide from "./internal/schedules/Decide.ts"
import * as Row from "./internal/schedules/Row.ts"
import type { Codec } from "./internal/model/Values.ts"
import { type Urgency, whenOf } from "./internal/model/When.ts"

/** A definition of `@signalbox/schedule`, with the input of its executions. */
export type Options<I> = Definition.DefinitionInput &
  Urgency & {
    /** Returns the input of the execution of this time. */
    readonly input: (at: DateTime.Utc) => I
  }

/**
 * The definition is invalid, or its name is in use in this program: `field` is the path of the field, and the message says what is
 * wrong and what to do.
 */
export class InvalidSchedule extends TaggedError<InvalidSchedule>()("InvalidSchedule", {
  schedule: Schema.String,
  field: Schema.String,
  message: Schema.String
}) {}

/** The schedule does not exist. */
export class ScheduleNotFound extends TaggedError<ScheduleNotFound>()("ScheduleNotFound", {
  schedule: Schema.String
}) {
  override get message(): string {
    return `name: the schedule ${this.schedule} does not exist; the first start of a program with its FlowSchedules.layer creates it`
  }
}

/** The span of a backfill is invalid. Nothing was recorded. */
export class InvalidBackfill extends TaggedError<InvalidBackfill>()("InvalidBackfill", {
  schedule: Schema.String,
  field: Schema.Literals(["from", "to"]),
  message: Schema.String
}) {}

/** Returns what the executions of a schedule are submitted with. */
const urgencyOf = <I>({ deadline, name, priority }: Options<I>): Effect.Effect<Urgency, InvalidSchedule> =>
  Effect.try({
    try: () => {
      whenOf(`the schedule ${name}`, { priority, deadline })
      return { priority, deadline }
    },
    catch: (error) =>
      new InvalidSchedule({
        schedule: name,
        field: error instanceof OptionError ? error.option : "deadline",
        message: error instanceof Error ? error.message : String(error)
      })
  })

const definitionOf = <I>({ deadline: _deadline, input: _input, priority: _priority, ...fields }: Options<I>) =>
  Effect.fromResult(
    Result.mapError(
      Definition.make(fields),
      ({ field, message }) =>
        new InvalidSchedule({
          schedule: fields.name,
          field,
          message: `the schedule ${fields.name}: ${field}: ${message}`
        })
    )
  )

/**
 * Starts an execution of a flow at each occurrence of a schedule, while the layer is provided: exactly once, in any number of
 * processes on one store. The key of the execution is the name of the schedule and the time.
 *
 * - A new schedule begins now. An existing one continues: `missed` decides about occurrences that passed while no process ran, by
 *   default the last begins.
 * - `overlap` decides what happens when an earlier execution has not ended; by default the occurrence is skipped. Halted and
 *   suspended executions have not ended. `stop` cancels the earlier one and begins when its undos are done.
 * - The program that started last sets the definition. Programs with another definition no longer change the schedule, and the new
 *   times apply from the change on.
 *
 * Provide the `Flow.layer` of the flow around it. Fails with `InvalidSchedule`.
 *
 * ```ts
 * import * as DateTime from "effect/DateTime"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 * import * as FlowSchedules from "@signalbox/flows/FlowSchedules"
 *
 * const nightly = Flow.make("nightly", {
 *   version: 1,
 *   input: Schema.Struct({ day: Schema.String }),
 *   success: Schema.String,
 *   error: Schema.Never,
 *   idempotencyKey: ({ day }) => day,
 *   run: ({ day }) => Effect.succeed(day)
 * })
 *
 * export const schedule = FlowSchedules.layer(nightly, {
 *   name: "nightly",
 *   cron: "30 2 * * *",
 *   zone: "Europe/Vienna",
 *   input: (at) => ({ day: DateTime.formatIsoDateUtc(at) })
 * }).pipe(Layer.provide(Flow.layer(nightly)))
 * ```
 */
export const layer = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  options: Options<I["Type"]>
): Layer.Layer<never, InvalidSchedule, FlowEngine> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { engine, schedules } = yield* engineOf
      const context = unlimited(yield* Effect.context<FlowEngine>())
      const definition = yield* definitionOf(options)
      const urgency = yield* urgencyOf(options)
      const { name } = definition
      const digest = `${versionName({ flow: flow.name, version: flow.version })} ${Definition.digest(definition)}`
      const changed = yield* schedules.add(name, digest)
      if (changed === null) {
        const message = `the schedule ${name}: name: another schedule of this program has the name: choose another name`
        return yield* new InvalidSchedule({ schedule: name, field: "name", message })
      }
      const wanted: Decide.Wanted = { flow: flow.name, version: flow.version, definition, digest }
      yield* ScheduleRunner.set(engine.journal, wanted)
      const local: ScheduleRunner.Local = {
        ...wanted,
        changed,
        isRegistered: () => engine.registered.takes(versionName(wanted)),
        begin: (at) =>
          Effect.suspend(() =>
            submit(flow, options.input(Decide.utc(at)), { ...urgency, key: Decide.keyOf(name, at) })
          ).pipe(Effect.provideContext(context)),
        cancel: (execution) =>
          FlowExecutions.cancel(execution).pipe(
            Effect.catchTag("ExecutionNotFound", () => Effect.void),
            Effect.provideContext(context)
          )
      }
      yield* Effect.forkScoped(ScheduleRunner.run(engine, local))
    })
  )

/** An execution that a schedule started and that has not ended. */
export type { Running } from "./internal/schedules/Decide.ts"
/** The outcome of an occurrence. */
export type { Outcome } from "./internal/schedules/Row.ts"

/** A schedule as it is recorded. Times are milliseconds since 1970. */
export interface Schedule {
  readonly name: string
  readonly flow: string
  readonly version: number
  readonly definition: Definition.Definition
  /** When a program set this definition. */
  readonly setAt: number
  /** Whether this program runs it: false when it does not define the schedule, or another definition was set after its own. */
  readonly local: boolean
  readonly paused: { readonly at: number; readonly by: string; readonly note: string } | null
  /** When the next occurrence starts; in the past when no program runs the schedule. Null: none is left. */
  readonly next: number | null
  /** Its executions that have not ended, also halted and suspended ones. */
  readonly running: ReadonlyArray<Decide.Running>
  /** Occurrences that begin when the running executions have ended. */
  readonly waiting: ReadonlyArray<number>
  /** Occurrences of a backfill that have not begun. */
  readonly backfill: ReadonlyArray<number>
  /** Why an occurrence cannot begin, since when; null when nothing is wrong. */
  readonly problem: { readonly since: number; readonly message: string } | null
  /** The outcomes of the last occurrences, at most 50, the newest last. */
  readonly recent: ReadonlyArray<Row.Outcome>
}

const shown = Effect.fnUntraced(function* (row: Row.Row) {
  const { engine, schedules } = yield* engineOf
  const { backfill, definition, flow, problem, recent, setAt, starting, state, version, wakeAt } = row
  const { paused, queue } = state
  const { name } = definition
  const schedule: Schedule = {
    name,
    flow,
    version,
    definition,
    setAt,
    local: schedules.digestOf(name) === row.digest,
    paused: paused === null ? null : { ...paused, at: paused.at.epochMilliseconds },
    next: wakeAt,
    running: yield* ScheduleRunner.runningOf(engine.journal, row),
    waiting: [...starting, ...queue.map(({ epochMilliseconds }) => epochMilliseconds)],
    backfill,
    problem,
    recent
  }
  return schedule
})

/**
 * Returns a schedule by its name.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowSchedules from "@signalbox/flows/FlowSchedules"
 *
 * export const next = Effect.map(
 *   FlowSchedules.get("nightly"),
 *   ({ next, paused }) => (paused === null ? next : null)
 * )
 * ```
 */
export const get = Effect.fn("FlowSchedules.get")(function* (
  name: string
): Effect.fn.Return<Schedule, ScheduleNotFound, FlowEngine> {
  const { engine } = yield* engineOf
  const row = yield* Row.read(engine.journal, name)
  return yield* row === null ? new ScheduleNotFound({ schedule: name }) : shown(row)
}, asCall)

/**
 * Returns all schedules of the store in the order of their names, those of other programs included.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowSchedules from "@signalbox/flows/FlowSchedules"
 *
 * export const stuck = Effect.map(FlowSchedules.list, (all) =>
 *   all.filter(({ problem }) => problem !== null)
 * )
 * ```
 */
export const list: Effect.Effect<ReadonlyArray<Schedule>, never, FlowEngine> = Effect.gen(function* () {
  const { engine } = yield* engineOf
  const names = yield* Row.names(engine.journal)
  const rows = yield* Effect.forEach(names, (name) => Row.read(engine.journal, name))
  return yield* Effect.forEach(
    rows.filter((row) => row !== null),
    shown
  )
})

/** Changes the row of an existing schedule, and wakes the programs that run it. */
const command = Effect.fnUntraced(function* <A, E = never>(
  name: string,
  change: (row: Row.Row, now: number) => Effect.Effect<readonly [Row.Row | null, A], E, FlowEngine>
) {
  const { engine, schedules } = yield* engineOf
  const [, value] = yield* Row.update(
    engine.journal,
    name,
    (row, now): Effect.Effect<readonly [Row.Row | null, A], E | ScheduleNotFound, FlowEngine> =>
      row === null ? Effect.fail(new ScheduleNotFound({ schedule: name })) : change(row, now)
  )
  yield* schedules.wake(name)
  return value
})

/**
 * Pauses a schedule: until it is resumed its occurrences are skipped as paused, with this note. Running executions continue. Fails
 * with `ScheduleNotFound`.
 *
 * ```ts
 * import * as FlowSchedules from "@signalbox/flows/FlowSchedules"
 *
 * export const paused = FlowSchedules.pause(
 *   "nightly",
 *   "the ERP is down until noon",
 *   { by: "ann" }
 * )
 * ```
 */
export const pause = Effect.fn("FlowSchedules.pause")(function* (
  name: string,
  note: string,
  options: { readonly by?: string } = {}
): Effect.fn.Return<void, ScheduleNotFound, FlowEngine> {
  const { by = "" } = options
  yield* command(name, (row, now) => {
    const state = Due.pause(row.state, { at: Decide.utc(now), by, note })
    return Effect.succeed([{ ...row, state }, undefined] as const)
  })
}, asCall)

/**
 * Resumes a paused schedule: occurrences from now on begin. Changes nothing when it is not paused. Fails with `ScheduleNotFound`.
 *
 * ```ts
 * import * as FlowSchedules from "@signalbox/flows/FlowSchedules"
 *
 * export const resumed = FlowSchedules.resume("nightly")
 * ```
 */
export const resume = Effect.fn("FlowSchedules.resume")(function* (
  name: string
): Effect.fn.Return<void, ScheduleNotFound, FlowEngine> {
  yield* command(name, (row, now) => {
    const resumed =
      row.state.paused === null ? row : Decide.decided(row, Due.resume(row.definition, row.state, Decide.utc(now)), [])
    return Effect.succeed([resumed, undefined] as const)
  })
}, asCall)

/**
 * Deletes a schedule with its progress; its executions continue. A program whose `layer` still defines the schedule creates it
 * again when it starts; so deploy without it first, or pause it instead. Fails with `ScheduleNotFound`.
 *
 * ```ts
 * import * as FlowSchedules from "@signalbox/flows/FlowSchedules"
 *
 * export const removed = FlowSchedules.remove("nightly")
 * ```
 */
export const remove = Effect.fn("FlowSchedules.remove")(function* (
  name: string
): Effect.fn.Return<void, ScheduleNotFound, FlowEngine> {
  yield* command(name, () => Effect.succeed([null, undefined] as const))
}, asCall)

/** The decision of `runNow`. */
export interface RunNow {
  /** The time of the occurrence, milliseconds since 1970; the key of its execution is the name of the schedule and this time. */
  readonly at: number
  /** `waits`: until the running executions have ended. `skipped`: `why` names them. */
  readonly outcome: "begins" | "waits" | "skipped"
  readonly why: string | null
}

/**
 * Starts an occurrence now, also when the schedule is paused; `overlap` decides about executions that have not ended. A program that
 * runs the schedule starts the execution, within ten seconds if that is another one. Fails with `ScheduleNotFound`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowSchedules from "@signalbox/flows/FlowSchedules"
 *
 * export const said = Effect.map(
 *   FlowSchedules.runNow("nightly"),
 *   ({ outcome, why }) => why ?? outcome
 * )
 * ```
 */
export const runNow = Effect.fn("FlowSchedules.runNow")(function* (
  name: string
): Effect.fn.Return<RunNow, ScheduleNotFound, FlowEngine> {
  const { engine } = yield* engineOf
  return yield* command(
    name,
    Effect.fnUntraced(function* (row, now) {
      // An execution that is being started cannot be stopped yet.
      if (row.definition.overlap === "stop" && row.stop === null && row.starting.length > 0) {
        const waiting = { ...row, backfill: [now, ...row.backfill] }
        return [waiting, { at: now, outcome: "waits", why: null } satisfies RunNow] as const
      }
      const running = yield* ScheduleRunner.runningOf(engine.journal, row)
      const moment = { now: Decide.utc(now), running: Decide.isBusy(row, running) }
      const next = Decide.decided(row, Due.runNow(row.definition, row.state, moment), running)
      const skipped = next.recent.find(({ at, outcome }) => at === now && outcome === "skipped")
      const outcome =
        skipped !== undefined ? "skipped" : next.starting.includes(now) && next.stop === null ? "begins" : "waits"
      return [next, { at: now, outcome, why: skipped?.why ?? null } satisfies RunNow] as const
    })
  )
}, asCall)

const mostBackfilled = 1_000

/**
 * Starts the occurrences from `from` on and before `to`, milliseconds since 1970, in their order: one after another, or with
 * `overlap: "allow"` concurrently. Returns how many will start: occurrences that have already begun are not repeated. Fails with
 * `InvalidBackfill`, and nothing is recorded, when the span is empty, reaches into the future, or has more than 1,000 occurrences;
 * and with `ScheduleNotFound`.
 *
 * ```ts
 * import * as FlowSchedules from "@signalbox/flows/FlowSchedules"
 *
 * export const lastWeek = FlowSchedules.backfill(
 *   "nightly",
 *   Date.parse("2026-11-15"),
 *   Date.parse("2026-11-22")
 * )
 * ```
 */
export const backfill = Effect.fn("FlowSchedules.backfill")(function* (
  name: string,
  from: number,
  to: number
): Effect.fn.Return<number, ScheduleNotFound | InvalidBackfill, FlowEngine> {
  const { engine } = yield* engineOf
  const refuse = (field: "from" | "to", message: string) =>
    new InvalidBackfill({ schedule: name, field, message: `the schedule ${name}: ${field}: ${message}` })
  return yield* command(
    name,
    Effect.fnUntraced(function* (row, now) {
      if (!Number.isFinite(from)) return yield* refuse("from", "Expected milliseconds since 1970")
      if (!(to > from)) return yield* refuse("to", "Expected to be later than from: the span is empty")
      if (to > now)
        return yield* refuse("to", `Expected at most now, ${Decide.iso(now)}: later occurrences begin automatically`)
      const found = occurrences(row.definition, Decide.utc(from), Decide.utc(to), mostBackfilled + 1)
      if (found.length > mostBackfilled) {
        const last = found.at(-1)?.at.epochMilliseconds ?? to
        return yield* refuse(
          "to",
          `Expected at most ${mostBackfilled} occurrences: end at ${Decide.iso(last)} and continue from there`
        )
      }
      const missing = yield* Effect.filter(found, ({ key }) =>
        Effect.map(engine.journal.findKey(row.flow, key), (execution) => execution === null)
      )
      const asked = missing.map(({ at }) => at.epochMilliseconds).filter((at) => !row.backfill.includes(at))
      if (row.backfill.length + asked.length > mostBackfilled) {
        return yield* refuse(
          "to",
          `Expected the earlier backfill to end first: ${row.backfill.length} of its occurrences have not begun`
        )
      }
      return [{ ...row, backfill: [...row.backfill, ...asked] }, asked.length] as const
    })
  )
}, asCall)
