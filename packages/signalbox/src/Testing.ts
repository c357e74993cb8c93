/**
 * A control room for tests: the real service in memory with workers for your tasks, connected to your client without a
 * socket, on the clock of the test. On a `TestClock` hours pass in milliseconds.
 */
import { check, OptionError, whole } from "@signalbox/transport/OptionError"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { Permission } from "@signalbox/api/contract/Authorization"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import { layerUploads } from "@signalbox/api/node"
import { PollingClock } from "@signalbox/api/PollingClock"
import { ReaderKeys } from "@signalbox/api/robot/Vault"
import { Administration } from "@signalbox/control-room/Administration"
import * as Mounted from "@signalbox/control-room/Mounted"
import { IdSeed, PollInterval } from "@signalbox/control-room/Options"
import * as Server from "@signalbox/control-room/Server"
import { VerifyRuns } from "@signalbox/flows/VerifyRuns"
import type * as Task from "@signalbox/worker/Task"
import * as Worker from "@signalbox/worker/Worker"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as HttpClient from "effect/http/HttpClient"
import type { Agenda } from "./internal/testing/Mover.ts"
import * as VirtualTime from "./internal/testing/VirtualTime.ts"
import * as InProcess from "./internal/connection/InProcess.ts"

/** A delivery of a webhook or callback, as its endpoint would receive it. */
export interface ReceivedWebhook {
  readonly endpoint: string
  /** Including the signatures, which `verify` of `@signalbox/api/Webhooks` checks. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Options<T extends Task.Any> {
  /** The tasks of the workers. */
  readonly tasks?: ReadonlyArray<T>
  /** Workers, one step run at a time each; default 1, 0 for none. */
  readonly workers?: number
  /** The permissions of the client's key; default: all. */
  readonly permissions?: ReadonlyArray<Permission>
  /** The status of the response of a webhook's endpoint; default 200. */
  readonly answerWebhook?: (webhook: ReceivedWebhook) => number
  /**
   * On a `TestClock`: the same ids in every run of the test, others with another seed. Keys and tokens stay random. Default:
   * random ids.
   */
  readonly seed?: string | number
}

/** The control room under test. */
export class Testing extends Context.Service<
  Testing,
  {
    /** The address of the service inside the test; nothing listens there. */
    readonly origin: string
    readonly workspaceId: WorkspaceId
    readonly apiKey: Redacted.Redacted
    /** Sends requests to the service only. */
    readonly httpClient: HttpClient.HttpClient
    /** The clocks of the control room, for other programs in the test: `elapse` knows what waits on them. */
    readonly clocks: Context.Context<never>
    readonly settle: Effect.Effect<void>
    readonly advance: (duration: Duration.Input) => Effect.Effect<void>
    readonly advanceTo: (instant: DateTime.DateTime.Input) => Effect.Effect<void>
    readonly elapse: <A, E, R>(effect: Effect.Effect<A, E, R>, limit: Duration.Input) => Effect.Effect<A, E, R>
    readonly webhooks: Effect.Effect<ReadonlyArray<ReceivedWebhook>>
  }
>()("signalbox/Testing") {}

/** The expiry of the workers' link tokens, which are used immediately. */
const endOfTime = "9999-12-31T23:59:59.999Z"

/**
 * The interval of polls and heartbeats: longer than on a server, so that an hour takes few steps. `settle` and
 * `advance` poll as well.
 */
const interval = "5 seconds"

const origin = "http://signalbox.test"

/** Part of the path of every request of a worker. */
const workerPath = "/worker-v1/"

const instantOf = (instant: DateTime.DateTime.Input): number => DateTime.toEpochMillis(DateTime.makeUnsafe(instant))

const receiver =
  (received: Array<ReceivedWebhook>, answer: (webhook: ReceivedWebhook) => number) =>
  (request: Mounted.DeliveryRequest) =>
    Effect.sync(() => {
      const webhook = {
        endpoint: request.endpoint,
        headers: request.headers,
        body: new TextDecoder().decode(request.body)
      }
      received.push(webhook)
      return { status: answer(webhook), retryAfter: null }
    })

/** Throws an `OptionError` for invalid options, before anything is built. */
const checked = <T extends Task.Any>(options: Options<T>) => {
  check("Testing.layer", options, { workers: whole(0, 1_000) })
  const { permissions = [] } = options
  const unknown = permissions.find((permission) => !Permission.literals.includes(permission))
  if (unknown === undefined) return
  throw new OptionError("permissions", `Testing.layer: permissions: unknown permission "${unknown}"`)
}

const build = Effect.fnUntraced(function* <T extends Task.Any>(options: Options<T>) {
  checked(options)
  const time = yield* VirtualTime.make
  const received: Array<ReceivedWebhook> = []
  const outside = yield* Effect.serviceOption(HttpClient.HttpClient)
  const send = receiver(received, options.answerWebhook ?? (() => 200))

  // Fresh, because two control rooms in one program share nothing.
  const service = yield* Layer.build(
    Layer.fresh(
      Mounted.Mounted.layer({ publicUrl: origin, rateLimit: null, allowPrivateTargets: true }).pipe(
        Layer.provideMerge(Server.layerMemory)
      )
    )
  ).pipe(
    Effect.orDie,
    Effect.provideService(PollInterval, interval),
    Effect.provideService(IdSeed, options.seed === undefined ? null : String(options.seed)),
    options.seed === undefined ? identity : Random.withSeed(options.seed),
    Effect.provideService(Mounted.DeliverySender, (request) => time.watch(send(request))),
    // E-mails are not webhooks, and leave nothing behind.
    Effect.provideService(Mounted.MailSender, () => Effect.succeed([])),
    Effect.provideService(Clock.Clock, time.polling("service"))
  )
  const { httpEffect, nextDue, tick } = Context.get(service, Mounted.Mounted)
  const administration = Context.get(service, Administration)
  const workspace = yield* administration.firstWorkspace("testing")
  const permissions = options.permissions ?? Permission.literals
  const apiKey = yield* administration.createKey(workspace.id, "testing", permissions)

  // Closed after the workers, which report until their end.
  const requests = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  const clientOf = (watch: VirtualTime.VirtualTime["watch"]) =>
    Effect.provideService(InProcess.make(origin, httpEffect, watch), Scope.Scope, requests)
  // A worker of the test may fall silent; ours always send heartbeats.
  let otherWorkers = false
  const httpClient = HttpClient.mapRequest(yield* clientOf(time.watch), (request) => {
    otherWorkers ||= request.url.includes(workerPath)
    return request
  })
  const workerClient = yield* clientOf(time.watchPolling)
  const room = yield* Layer.build(
    ControlRoom.layerHttpClient({ baseUrl: origin, workspaceId: workspace.id, apiKey }).pipe(
      Layer.provide(layerUploads)
    )
  ).pipe(Effect.provideService(HttpClient.HttpClient, httpClient))

  const tasks = (options.tasks ?? []).map((task: T): T => ({
    ...task,
    outputs: (item: Parameters<T["outputs"]>[0]) => VirtualTime.watchTask(time, outside, task.outputs(item))
  }))
  const readerKeys = time.compute(yield* ReaderKeys)
  const count = tasks.length === 0 ? 0 : (options.workers ?? 1)
  for (let index = 1; index <= count; index++) {
    const linkToken = yield* administration.createLinkToken(workspace.id, endOfTime)
    yield* Layer.build(
      Worker.layer({ origin, linkToken, name: `local-${index}`, tasks, heartbeat: interval, drain: 0 }).pipe(
        Layer.provide(layerUploads)
      )
    ).pipe(
      Effect.provideService(HttpClient.HttpClient, workerClient),
      Effect.provideService(Clock.Clock, time.clock),
      Effect.provideService(PollingClock, time.polling("worker")),
      Effect.provideService(ReaderKeys, readerKeys)
    )
  }

  const agenda: Agenda = {
    nextDue: Effect.provideService(
      Effect.suspend(() => nextDue({ workers: otherWorkers })),
      Clock.Clock,
      time.clock
    ),
    tick: Effect.provideService(tick, Clock.Clock, time.clock)
  }
  const settle = Effect.gen(function* () {
    for (let before = -1; before !== time.activity();) {
      yield* time.quiet
      before = time.activity()
      yield* agenda.tick
      yield* time.quiet
    }
  })
  const advance = (duration: Duration.Input) => Effect.andThen(time.advance(duration, agenda), settle)

  return Context.add(
    Context.add(room, VerifyRuns, true),
    Testing,
    Testing.of({
      origin,
      workspaceId: workspace.id,
      apiKey,
      httpClient,
      clocks: Context.make(Clock.Clock, time.clock).pipe(Context.add(PollingClock, time.polling("worker"))),
      settle,
      advance,
      advanceTo: Effect.fnUntraced(function* (instant) {
        const now = time.clock.currentTimeMillisUnsafe()
        const millis = instantOf(instant) - now
        if (millis < 0) {
          return yield* Effect.die(
            new RangeError(
              `Testing.advanceTo: ${new Date(instantOf(instant)).toISOString()} is before the time of the test, ${new Date(now).toISOString()}`
            )
          )
        }
        yield* advance(Duration.millis(millis))
      }),
      elapse: (effect, limit) => time.elapse(effect, limit, agenda),
      webhooks: Effect.sync(() => [...received])
    })
  )
})

/**
 * A separate control room, which ends with the layer and leaves nothing behind. Nothing is sent over a network:
 * webhooks and callbacks are recorded instead. Plain runs of flows are verified: see `verify` of `Flow.run`.
 *
 * ```ts
 * import * as Processes from "@signalbox/api/Processes"
 * import * as ProcessRuns from "@signalbox/api/ProcessRuns"
 * import * as Task from "@signalbox/worker/Task"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Testing from "signalbox/Testing"
 *
 * const greet = Task.make("greet", {
 *   input: Schema.Struct({ name: Schema.String }),
 *   output: Schema.Struct({ greeting: Schema.String }),
 *   run: (item) => Effect.succeed({ greeting: `Hello, ${item.payload.name}` })
 * })
 *
 * export const state = Effect.gen(function* () {
 *   const process = yield* Processes.put({
 *     name: "greetings",
 *     steps: [{ name: "greet", task: { name: "greet" } }]
 *   })
 *   const run = yield* ProcessRuns.start(process.id, {
 *     payloads: [{ name: "Ada" }]
 *   })
 *   if (!run.started) return "not started"
 *   yield* Testing.settle
 *   return (yield* ProcessRuns.get(run.id)).state
 * }).pipe(Effect.provide(Testing.layer({ tasks: [greet] })))
 * ```
 */
export const layer = <T extends Task.Any = never>(
  options: Options<T> = {}
): Layer.Layer<Testing | ControlRoom, never, Task.Services<T>> => Layer.effectContext(build(options))

/**
 * Waits until everything that can happen without time passing has happened: requests have responses, step runs are as
 * far as they get, everything due is done, webhooks are delivered. The clock does not advance.
 */
export const settle: Effect.Effect<void, never, Testing> = Effect.flatMap(Testing, ({ settle }) => settle)

/**
 * Advances time, with everything that happens in it, and settles. It stops at each moment at which something in the
 * control room wakes, so that consequences happen in order. On the live clock it waits for the duration.
 */
export const advance = (duration: Duration.Input): Effect.Effect<void, never, Testing> =>
  Effect.flatMap(Testing, ({ advance }) => advance(duration))

/**
 * Advances time to an instant, such as `"2026-12-01T06:00:00Z"`; a `TestClock` starts at 1970. It is a defect when the
 * instant is invalid or in the past.
 */
export const advanceTo = (instant: DateTime.DateTime.Input): Effect.Effect<void, never, Testing> =>
  Effect.flatMap(Testing, ({ advanceTo }) => advanceTo(instant))

/**
 * Runs an effect that waits for time to pass, such as `ProcessRuns.awaitEnd` or a whole flow, and advances time until the
 * effect has ended. It is a defect if it has not after `limit`, by default 1 day. On the live clock the effect just runs.
 */
export const elapse = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options: { readonly limit?: Duration.Input } = {}
): Effect.Effect<A, E, R | Testing> => Effect.flatMap(Testing, ({ elapse }) => elapse(effect, options.limit ?? "1 day"))

/** The deliveries to webhooks and callbacks so far, with all attempts, in order. */
export const webhooks: Effect.Effect<ReadonlyArray<ReceivedWebhook>, never, Testing> = Effect.flatMap(
  Testing,
  ({ webhooks }) => webhooks
)
