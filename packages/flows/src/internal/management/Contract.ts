/**
 * The management of flows over HTTP: one value from which the routes and the client are built.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { ConflictResponse, NotFoundResponse } from "@signalbox/api/contract/Responses"
import { FlowHistory } from "../../FlowHistory.ts"
import { Failure } from "../../FlowEvents.ts"
import { type Command, commands } from "../model/Commands.ts"
import { wireFields } from "../interpreter/Halts.ts"
import { activityKinds } from "../operate/Inspection.ts"
import { states } from "../model/Execution.ts"
import { Authorization, Edge, strict } from "./Middleware.ts"
import { Entry, Execution, listedFields, listedKeys, longestWait, Stalled, Time, Undo } from "./Wire.ts"

/** An execution in a list. */
export const Listed = Schema.Struct({ ...listedFields, registered: Schema.Boolean }).pipe(Schema.encodeKeys(listedKeys))

const Activity = Schema.Struct({
  path: Schema.String,
  kind: Schema.Literals(activityKinds),
  attempt: Schema.Finite,
  since: Time,
  firstAt: Time,
  due: Schema.NullOr(Time),
  subject: Schema.NullOr(Schema.String),
  failure: Schema.NullOr(Failure),
  host: Schema.NullOr(Schema.String),
  stalled: Schema.optionalKey(Stalled),
  details: Schema.optionalKey(Schema.Json),
  takes: Schema.optionalKey(Schema.String)
}).pipe(Schema.encodeKeys({ firstAt: "first_at" }))

const QueuePlace = Schema.Struct({
  limit: Schema.NullOr(Schema.Finite),
  key: Schema.NullOr(Schema.String),
  place: Schema.Finite,
  holders: Schema.Array(Schema.String),
  admitsAt: Schema.NullOr(Time)
}).pipe(Schema.encodeKeys({ admitsAt: "admits_at" }))

const StandingStill = Schema.Struct({
  host: Schema.String,
  millis: Schema.Finite,
  step: Schema.NullOr(Schema.Struct({ execution: Schema.String, path: Schema.String }))
})

/** Its code is any text, so that codes can be added. */
const Halt = Schema.Struct({
  ...wireFields,
  since: Time,
  lastRun: Schema.NullOr(Schema.Struct({ path: Schema.String, host: Schema.String, at: Time }))
}).pipe(Schema.encodeKeys({ lastRun: "last_run" }))

/** Its command is any text, so that commands can be added. */
const Pending = Schema.Struct({
  command: Schema.String,
  by: Schema.NullOr(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  at: Time,
  waitsFor: Schema.String
}).pipe(Schema.encodeKeys({ waitsFor: "waits_for" }))

/** Its command and outcome are any text, so that others can be added. */
const RecentCommand = Schema.Struct({
  id: Schema.String,
  command: Schema.String,
  by: Schema.NullOr(Schema.String),
  at: Time,
  round: Schema.Finite,
  outcome: Schema.NullOr(Schema.String),
  endedAt: Schema.NullOr(Time)
}).pipe(Schema.encodeKeys({ endedAt: "ended_at" }))

/** The inspection of an execution. Members that earlier versions do not send have a default. */
export const Inspection = Schema.Struct({
  execution: Execution,
  registered: Schema.Boolean,
  summary: Schema.String,
  remedy: Schema.NullOr(Schema.String),
  now: Schema.Array(Activity),
  computingSince: Schema.NullOr(Time).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  halt: Schema.NullOr(Halt).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  queue: Schema.NullOr(QueuePlace),
  undos: Schema.Array(Undo),
  cancelling: Schema.Boolean,
  pending: Schema.Array(Pending).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  commands: Schema.Array(RecentCommand).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  steps: Schema.Array(Entry),
  standing: Schema.optionalKey(StandingStill),
  unreadable: Schema.optionalKey(Schema.String),
  withheld: Schema.optionalKey(Schema.Boolean),
  diagram: Schema.String
}).pipe(Schema.encodeKeys({ computingSince: "computing_since" }))

/** A version of a flow. */
export const VersionStatus = Schema.Struct({
  flow: Schema.String,
  version: Schema.Finite,
  newest: Schema.Boolean,
  executions: Schema.Struct({
    queued: Schema.Finite,
    waiting: Schema.Finite,
    running: Schema.Finite,
    undoing: Schema.Finite,
    halted: Schema.Finite,
    suspended: Schema.Finite
  }),
  unended: Schema.Finite,
  oldest: Schema.NullOr(Time),
  processes: Schema.Array(Schema.Struct({ id: Schema.String, host: Schema.String, draining: Schema.Boolean })),
  removable: Schema.Boolean
})

/** The versions of flows. */
export const Versions = Schema.Struct({ versions: Schema.Array(VersionStatus) })

/** A page of executions. */
export const Page = Schema.Struct({ executions: Schema.Array(Listed), next: Schema.NullOr(Schema.String) })

const filterKeys = { haltedFrom: "halted_from", startedFrom: "started_from", startedBefore: "started_before" } as const

const filterFields = <V extends Schema.ConstraintCodec<number, string | number, never, never>>(version: V) => ({
  flow: Schema.optionalKey(Schema.String),
  version: Schema.optionalKey(version),
  key: Schema.optionalKey(Schema.String),
  state: Schema.optionalKey(Schema.Union([Schema.Literals(states), Schema.Array(Schema.Literals(states))])),
  tag: Schema.optionalKey(Schema.String),
  halt: Schema.optionalKey(Schema.Union([Schema.NonEmptyString, Schema.Array(Schema.NonEmptyString)])),
  haltedFrom: Schema.optionalKey(Time),
  startedFrom: Schema.optionalKey(Time),
  startedBefore: Schema.optionalKey(Time)
})

const Query = Schema.Struct({
  ...filterFields(Schema.FiniteFromString),
  limit: Schema.optionalKey(Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThan(0))),
  before: Schema.optionalKey(Schema.String)
}).pipe(Schema.encodeKeys(filterKeys))

/** Identifies a command, and who gives it. */
const commandFields = {
  id: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(200))),
  by: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(200)))
}
const CommandBody = [Schema.Struct(commandFields), Schema.Undefined] as const

/** A length of time, in milliseconds. */
const Millis = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

const resumeFields = { skip: Schema.optionalKey(Schema.Array(Schema.String)) }
const retryFields = { from: Schema.optionalKey(Schema.String), version: Schema.optionalKey(Schema.Finite) }

const whenFields = {
  at: Schema.optionalKey(Time),
  after: Schema.optionalKey(Millis),
  priority: Schema.optionalKey(Schema.Finite),
  deadline: Schema.optionalKey(Millis)
}
export type ChangedStart = Pick<Start, keyof typeof whenFields>
const whenKeys = { at: "starts_at", after: "starts_after_millis", deadline: "deadline_millis" } as const

/** A command for all executions that match. */
const Commands = Schema.Struct({
  command: Schema.Literals(commands),
  filter: Schema.Struct(filterFields(Schema.Finite)).pipe(Schema.encodeKeys(filterKeys)),
  /** Must be true for an empty filter. */
  all: Schema.optionalKey(Schema.Boolean),
  ...commandFields,
  ...resumeFields,
  ...retryFields,
  ...whenFields
}).pipe(Schema.encodeKeys(whenKeys))

/** The options of each command. */
const optionsOf: Readonly<Record<Command, ReadonlyArray<string>>> = {
  cancel: [],
  terminate: [],
  suspend: [],
  resume: Object.keys(resumeFields),
  retry: Object.keys(retryFields),
  reschedule: Object.keys(whenFields)
}

/** Returns why a command for many is refused: the field, and the expected value; null when it is valid. */
export const refusedCommands = ({ all, command, filter, ...options }: typeof Commands.Type): string | null => {
  if (all !== true && Object.keys(filter).length === 0) {
    return (
      "filter: Expected a flow, version, key, state, tag, halt, halted_from, started_from or started_before; or `all: true` for every " +
      "execution"
    )
  }
  const allowed = [...Object.keys(commandFields), ...optionsOf[command]]
  const other = Object.keys(options).find((name) => !allowed.includes(name))
  const onWire: Readonly<Record<string, string>> = whenKeys
  return other === undefined
    ? null
    : `${onWire[other] ?? other}: Expected nothing, because ${command} has no such option`
}

/** How many executions a command changed, and how many refused it. */
const Carried = Schema.Struct({ changed: Schema.Finite, refused: Schema.Finite })

/** A flow to start, by its name. */
const Start = Schema.Struct({
  flow: Schema.NonEmptyString,
  /** The version of the caller; default: the newest. */
  version: Schema.optionalKey(Schema.Finite),
  /** Default: that of the flow's `idempotencyKey`. */
  key: Schema.optionalKey(Schema.NonEmptyString),
  input: Schema.Json,
  /** A signal that the execution gets with its start. */
  signal: Schema.optionalKey(
    Schema.Struct({ name: Schema.NonEmptyString, value: Schema.Json, id: Schema.optionalKey(Schema.NonEmptyString) })
  ),
  ...whenFields,
  debounce: Schema.optionalKey(Schema.Struct({ key: Schema.NonEmptyString, quiet: Millis, most: Millis }))
}).pipe(Schema.encodeKeys(whenKeys))
export type Start = typeof Start.Type

/** What those know of an execution that wait for its end. `settled`: it has ended, or is halted. */
const Awaited = Schema.Struct({
  settled: Schema.Boolean,
  id: Schema.String,
  flow: Schema.String,
  version: Schema.Finite,
  state: Schema.Literals(states),
  result: Schema.Json,
  error: Schema.Json,
  failure: Schema.NullOr(Failure),
  deadlineAt: Schema.NullOr(Time).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  /** Why it is halted, as in its inspection. */
  code: Schema.optionalKey(Schema.String),
  /** Whether the values are withheld: the token is not for `values`. */
  withheld: Schema.optionalKey(Schema.Boolean)
}).pipe(Schema.encodeKeys({ deadlineAt: "deadline_at" }))
export type Awaited = typeof Awaited.Type

/** The execution of the request. */
const Reached = Schema.Struct({ id: Schema.String })

const params = { id: Schema.String }
const one = "/flow-executions/:id"
const command = { params, payload: CommandBody, success: Reached } as const

const group = HttpApiGroup.make("executions")
  .add(
    HttpApiEndpoint.get("list", "/flow-executions", { query: Query, success: Page, error: NotFoundResponse }),
    HttpApiEndpoint.post("start", "/flow-executions", {
      payload: Start,
      success: Schema.Struct({ id: Schema.String, state: Schema.Literals(states) }),
      error: [NotFoundResponse, ConflictResponse]
    }),
    HttpApiEndpoint.get("versions", "/flow-versions", {
      query: Schema.Struct({ flow: Schema.optionalKey(Schema.String) }),
      success: Versions
    }),
    HttpApiEndpoint.post("commands", "/flow-executions/commands", { payload: Commands, success: Carried }),
    HttpApiEndpoint.get("inspect", one, { params, success: Inspection, error: NotFoundResponse }),
    HttpApiEndpoint.get("result", `${one}/result`, {
      params,
      query: Schema.Struct({
        wait: Schema.optionalKey(
          Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: longestWait }))
        )
      }),
      success: Awaited,
      error: NotFoundResponse
    }),
    HttpApiEndpoint.get("history", `${one}/history`, { params, success: FlowHistory, error: NotFoundResponse }),
    HttpApiEndpoint.post("signal", `${one}/signals`, {
      params,
      payload: Schema.Struct({
        signal: Schema.String,
        value: Schema.Json,
        id: Schema.optionalKey(Schema.String)
      }),
      success: Reached,
      error: [NotFoundResponse, ConflictResponse]
    }),
    HttpApiEndpoint.post("cancel", `${one}/cancel`, { ...command, error: NotFoundResponse }),
    HttpApiEndpoint.post("terminate", `${one}/terminate`, { ...command, error: NotFoundResponse }),
    HttpApiEndpoint.post("suspend", `${one}/suspend`, {
      ...command,
      error: [NotFoundResponse, ConflictResponse]
    }),
    HttpApiEndpoint.post("resume", `${one}/resume`, {
      params,
      payload: Schema.Struct({ ...commandFields, ...resumeFields }),
      success: Reached,
      error: [NotFoundResponse, ConflictResponse]
    }),
    HttpApiEndpoint.post("reschedule", `${one}/reschedule`, {
      params,
      payload: Schema.Struct({ ...commandFields, ...whenFields }).pipe(Schema.encodeKeys(whenKeys)),
      success: Reached,
      error: [NotFoundResponse, ConflictResponse]
    }),
    HttpApiEndpoint.post("fork", `${one}/fork`, {
      params,
      payload: Schema.Struct({
        from: Schema.NonEmptyString,
        input: Schema.optionalKey(Schema.Json),
        version: Schema.optionalKey(Schema.Finite),
        key: Schema.optionalKey(Schema.NonEmptyString)
      }),
      success: Reached,
      error: [NotFoundResponse, ConflictResponse]
    }),
    HttpApiEndpoint.post("retry", `${one}/retry`, {
      params,
      payload: Schema.Struct({ ...commandFields, ...retryFields }),
      success: Reached,
      error: [NotFoundResponse, ConflictResponse]
    })
  )
  .middleware(Authorization)
  .middleware(Edge)

/** The executions alone: what a program needs that starts flows. */
export const ExecutionsApi = HttpApi.make("flowExecutions")
  .add(group)
  .annotate(HttpApi.QueryParseOptions, strict)
  .annotate(HttpApi.PayloadParseOptions, strict)
