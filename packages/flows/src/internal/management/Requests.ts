/**
 * Requests to the routes of another program, and those for executions.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import { address, check } from "@signalbox/transport/OptionError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpClient from "effect/http/HttpClient"
import { isHttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { ErrorCode } from "@signalbox/api/contract/Responses"
import { defined } from "@signalbox/transport/Defined"
import type {
  Carried,
  Command,
  CommandIdentity,
  CommandOptions,
  ExecutionPage,
  Filter,
  ForkOptions,
  Inspection,
  ListedExecution,
  PageOptions,
  ResumeOptions,
  RetryOptions,
  State,
  VersionStatus
} from "../../FlowExecutions.ts"
import type { FlowHistory } from "../../FlowHistory.ts"
import { type AnyTimes, changedWhenOf, whenOf } from "../model/When.ts"
import { type Awaited, ExecutionsApi, type Start } from "./Contract.ts"

/**
 * A request failed: with a code of the program, with `UNREACHABLE` when there is no response, or with `UNEXPECTED_ANSWER` when the
 * response is not that of `FlowManagement.layerRoutes`.
 */
export class FlowManagementError extends TaggedError<FlowManagementError>()("FlowManagementError", {
  code: Schema.Union([ErrorCode, Schema.Literals(["UNREACHABLE", "UNEXPECTED_ANSWER"])]),
  message: Schema.String
}) {}

export interface Options {
  /** The address of the program, with the prefix of its routes, such as `http://127.0.0.1:4800`. */
  readonly url: string
  readonly token: Redacted.Redacted
}

const attemptTimeout = "30 seconds"
/**
 * How long a request waits for more, in seconds. A program that ends waits for the requests that it has, so it is short; the next one
 * follows.
 */
export const pollSeconds = 5
/** How much longer than it was asked to wait a program may take, in seconds: its connection may have no other end any more. */
const answersWithin = 10
/** The timeout of a request that changes many. */
export const longTimeout = "10 minutes"
/** The retries of reads. */
export const again = { schedule: Schedule.exponential("200 millis"), times: 3 }

export const isUnreachable = ({ code }: FlowManagementError) => code === "UNREACHABLE"

export type Call<A> = Effect.Effect<A, FlowManagementError>

const isEnvelope = Schema.is(Schema.Struct({ error: Schema.Struct({ code: ErrorCode, message: Schema.String }) }))

/** The statuses of a program that ends while it has a request, and of proxies without one behind them. */
const statusesAway: ReadonlyArray<number> = [499, 502, 503, 504]
const isAway = (status: number | undefined) => status === undefined || statusesAway.includes(status)

/** Returns what sends requests to a program, and says why they fail. */
export const to = ({ token, url }: Options) => {
  check("FlowManagementClient.layer", { url }, { url: address })
  const base = url.replace(/\/+$/, "")
  const unreachable = new FlowManagementError({
    code: "UNREACHABLE",
    message: `cannot reach ${base}: check the address, and that the program runs`
  })
  const unexpected = new FlowManagementError({
    code: "UNEXPECTED_ANSWER",
    message: `the response of ${base} is not that of FlowManagement.layerRoutes: check that the program mounts them, and their prefix`
  })
  const call = <A, E>(effect: Effect.Effect<A, E>, timeout: Duration.Input = attemptTimeout): Call<A> =>
    effect.pipe(
      Effect.timeout(timeout),
      Effect.mapError((error) => {
        if (isEnvelope(error)) return new FlowManagementError(error.error)
        const silent = Predicate.isTagged(error, "TimeoutError")
        return silent || (isHttpClientError(error) && isAway(error.response?.status)) ? unreachable : unexpected
      })
    )
  return {
    /** Of the client of an API. */
    options: { baseUrl: base, transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(token)) },
    call,
    read: <A, E>(effect: Effect.Effect<A, E>, timeout?: Duration.Input) =>
      Effect.retry(call(effect, timeout), { ...again, while: isUnreachable }),
    done: <A, E>(effect: Effect.Effect<A, E>) => Effect.asVoid(call(effect))
  }
}

/** Returns options with their times in milliseconds. */
const onWire = <O extends AnyTimes>({ after, at, deadline, priority, ...options }: O) => {
  const when = whenOf("FlowManagementClient", { after, at, deadline, priority })
  return {
    ...options,
    ...defined({
      at: when.at ?? undefined,
      after: when.afterMillis ?? undefined,
      priority,
      deadline: when.deadlineMillis ?? undefined
    })
  }
}

/** The functions of `FlowExecutions`, for another program. */
export interface Executions {
  readonly list: (options?: PageOptions) => Call<ExecutionPage>
  /** Emits all executions that match, the newest first. */
  readonly stream: (filter?: Filter) => Stream.Stream<ListedExecution, FlowManagementError>
  /** Starts a flow by its name, or joins the execution with its key. */
  readonly start: (asked: Start) => Call<{ readonly id: string; readonly state: State }>
  /** Returns how an execution ended, or after `wait` seconds (at most 25) that it has not. */
  readonly result: (execution: string, options?: { readonly wait?: number }) => Call<Awaited>
  /** The versions of one flow, or of all. */
  readonly versions: (flow?: string) => Call<ReadonlyArray<VersionStatus>>
  readonly inspect: (execution: string) => Call<Inspection>
  readonly history: (execution: string) => Call<FlowHistory>
  /** Sends a value to a signal, or with an `id` to an inbox, by its name with its key as in `price[a]`. */
  readonly signal: (
    execution: string,
    signal: string,
    value: Schema.Json,
    options?: { readonly id?: string }
  ) => Call<void>
  readonly cancel: (execution: string, options?: CommandIdentity) => Call<void>
  readonly terminate: (execution: string, options?: CommandIdentity) => Call<void>
  readonly suspend: (execution: string, options?: CommandIdentity) => Call<void>
  readonly resume: (execution: string, options?: ResumeOptions) => Call<void>
  readonly retry: (execution: string, options?: RetryOptions) => Call<void>
  /** Changes when an execution starts that has not begun, its priority, or its deadline. */
  readonly reschedule: (execution: string, options: CommandIdentity & AnyTimes) => Call<void>
  /** Creates a new execution that begins with the recorded results before a step; returns its id. */
  readonly fork: (execution: string, options: ForkOptions) => Call<string>
  /** Carries out a command for all that match. An empty filter, which matches every execution, needs `all: true`. */
  readonly each: (
    filter: Filter,
    command: Command,
    options?: CommandOptions & { readonly all?: boolean }
  ) => Call<Carried>
}

export const executionsOf = Effect.fnUntraced(function* ({ call, done, options, read }: ReturnType<typeof to>) {
  const { executions } = yield* HttpApiClient.make(ExecutionsApi, options)
  const list = (options: PageOptions = {}): Call<ExecutionPage> => read(executions.list({ query: options }))
  const all: Executions = {
    list,
    stream: (filter = {}) =>
      Stream.paginate(Option.none<string>(), (before) =>
        Effect.map(
          list({ ...filter, ...defined({ before: Option.getOrUndefined(before) }) }),
          (page) => [page.executions, Option.map(Option.fromNullOr(page.next), Option.some)] as const
        )
      ),
    // Inputs with one key are one execution, so that it may be repeated.
    start: (asked) => read(executions.start({ payload: asked })),
    result: (id, { wait = 0 } = {}) =>
      read(executions.result({ params: { id }, query: { wait } }), `${wait + answersWithin} seconds`),
    versions: (flow) => Effect.map(read(executions.versions({ query: defined({ flow }) })), ({ versions }) => versions),
    inspect: (id) => read(executions.inspect({ params: { id } })),
    history: (id) => read(executions.history({ params: { id } })),
    signal: (id, signal, value, options = {}) =>
      done(executions.signal({ params: { id }, payload: { signal, value, ...options } })),
    cancel: (id, options) => done(executions.cancel({ params: { id }, payload: options })),
    terminate: (id, options) => done(executions.terminate({ params: { id }, payload: options })),
    suspend: (id, options) => done(executions.suspend({ params: { id }, payload: options })),
    resume: (id, options = {}) => done(executions.resume({ params: { id }, payload: options })),
    retry: (id, options = {}) => done(executions.retry({ params: { id }, payload: options })),
    reschedule: (id, options) =>
      Effect.flatMap(
        Effect.sync(() => changedWhenOf("FlowManagementClient.reschedule", options)),
        () => done(executions.reschedule({ params: { id }, payload: onWire(options) }))
      ),
    fork: (id, options) => Effect.map(call(executions.fork({ params: { id }, payload: options })), ({ id }) => id),
    each: (filter, command, options = {}) =>
      Effect.flatMap(
        Effect.sync(() => onWire(options)),
        (given) => call(executions.commands({ payload: { command, filter, ...given } }), longTimeout)
      )
  }
  return all
})
