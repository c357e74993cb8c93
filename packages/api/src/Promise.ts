/**
 * The client for programs without Effect: the same modules with promises and async iterators, and plain strings for ids.
 * A promise is rejected with the errors of the call: classes, for `instanceof`, with a `_tag` each.
 */
import { address, check } from "@signalbox/transport/OptionError"
import { checkPolicy } from "@signalbox/transport/Policy"
import type * as Brand from "effect/Brand"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as AlertChannels from "./AlertChannels.ts"
import * as Alerts from "./Alerts.ts"
import * as ApiKeys from "./ApiKeys.ts"
import * as Assets from "./Assets.ts"
import * as Assistants from "./Assistants.ts"
import * as BulkOperations from "./BulkOperations.ts"
import { WorkspaceId } from "./contract/Ids.ts"
import { ControlRoom } from "./ControlRoom.ts"
import * as Failures from "./Failures.ts"
import * as Files from "./Files.ts"
import * as Outputs from "./Outputs.ts"
import { defaultPolicy, type Policy, RetryPolicy } from "./Policy.ts"
import * as Processes from "./Processes.ts"
import * as ProcessRuns from "./ProcessRuns.ts"
import * as Schedules from "./Schedules.ts"
import * as Room from "./Room.ts"
import * as Secrets from "./Secrets.ts"
import * as StepRuns from "./StepRuns.ts"
import * as TaskPackages from "./TaskPackages.ts"
import * as Triggers from "./Triggers.ts"
import * as Webhooks from "./Webhooks.ts"
import * as WorkerGroups from "./WorkerGroups.ts"
import * as Workers from "./Workers.ts"
import * as WorkItems from "./WorkItems.ts"
import * as Workspaces from "./Workspaces.ts"
import { type SizedBytes, UploadSourceError } from "./Upload.ts"
import * as WebhookSignature from "./WebhookSignature.ts"

export { AssetUploadFailed } from "./Assets.ts"
export {
  Conflict,
  ControlRoomError,
  Forbidden,
  InvalidRequest,
  Malformed,
  NotFound,
  RateLimited,
  Timeout,
  Unauthorized,
  Unavailable,
  Unexpected,
  Unreachable
} from "./ControlRoomError.ts"
export { UploadSourceError } from "./Upload.ts"
export { InvalidSignature, UnreadableEvent } from "./WebhookSignature.ts"

export interface Options {
  /** With or without the version prefix. */
  readonly baseUrl: string
  /** A workspace key. It belongs on servers, never in a browser. */
  readonly apiKey: string
  readonly workspaceId: string
  /** Overrides of the default policy of retries and time limits. */
  readonly policy?: Partial<Policy>
  /**
   * The transport of requests; default: over `fetch`. Use `layerControlRoom` of `@signalbox/api/node` for undici and
   * paths.
   */
  readonly connect?: typeof ControlRoom.layer
}

/** Bytes to upload of a known size that can be read again: a `File`, or a `Blob` (`openAsBlob` of `node:fs`) with a name. */
export type BlobSource = File | { readonly name: string; readonly blob: Blob }

/** An argument without brands, with plain functions where the client takes effects, and with blobs where it takes streams. */
export type Plain<T> = T extends SizedBytes
  ? T | BlobSource
  : T extends (...args: infer A) => Effect.Effect<infer _A, infer _E, infer _R>
    ? (...args: A) => void | PromiseLike<void>
    : T extends string & Brand.Brand<string>
      ? string
      : T extends Uint8Array | Stream.Stream<infer _A, infer _E, infer _R>
        ? T
        : T extends ReadonlyArray<infer I>
          ? ReadonlyArray<Plain<I>>
          : T extends object
            ? { readonly [K in keyof T]: Plain<T[K]> }
            : T

type PlainArguments<A extends ReadonlyArray<unknown>> = { readonly [K in keyof A]: Plain<A[K]> }

/** A member of a module, without Effect. */
export type Promised<T> =
  T extends Effect.Effect<infer A, infer _E, infer _R>
    ? () => Promise<A>
    : T extends (...args: infer A) => Effect.Effect<infer S, infer _E, infer _R>
      ? (...args: PlainArguments<A>) => Promise<S>
      : T extends (...args: infer A) => Stream.Stream<infer I, infer _E, infer _R>
        ? (...args: PlainArguments<A>) => AsyncIterable<I>
        : T

export type PromisedModule<M> = { readonly [K in keyof M]: Promised<M[K]> }

const modules = {
  alertChannels: AlertChannels,
  alerts: Alerts,
  apiKeys: ApiKeys,
  assets: Assets,
  assistants: Assistants,
  bulkOperations: BulkOperations,
  failures: Failures,
  files: Files,
  outputs: Outputs,
  processes: Processes,
  processRuns: ProcessRuns,
  schedules: Schedules,
  room: Room,
  secrets: Secrets,
  stepRuns: StepRuns,
  taskPackages: TaskPackages,
  triggers: Triggers,
  webhooks: Webhooks,
  workerGroups: WorkerGroups,
  workers: Workers,
  workItems: WorkItems,
  workspaces: Workspaces
}

type Modules = { readonly [K in keyof typeof modules]: PromisedModule<(typeof modules)[K]> }

/** A client: the modules of the workspace, and `close`. */
export interface Client extends Modules {
  /** Runs any effect that needs the connection; `signal` aborts it and its requests. */
  readonly run: <A, E>(
    effect: Effect.Effect<A, E, ControlRoom>,
    options?: { readonly signal?: AbortSignal }
  ) => Promise<A>
  /** The same client, whose calls and streams `signal` aborts, with their requests. They reject with its reason. */
  readonly withSignal: (signal: AbortSignal) => Client
  /** Closes the connection and aborts active calls. */
  readonly close: () => Promise<void>
}

const sizedBytes = (name: string, blob: Blob): SizedBytes => ({
  name,
  size: blob.size,
  stream: Stream.suspend(() =>
    Stream.fromReadableStream({
      evaluate: () => blob.stream(),
      onError: (error) => new UploadSourceError({ name, message: `${name} cannot be read: ${String(error)}` })
    })
  )
})

/** Blobs become what can be uploaded, and functions inside options effects, which is what the modules take. */
const adapt = (argument: unknown): unknown => {
  if (argument instanceof File) return sizedBytes(argument.name, argument)
  if (!Predicate.isObject(argument) || argument instanceof Uint8Array) {
    return argument
  }
  if ("blob" in argument && argument.blob instanceof Blob && "name" in argument)
    return sizedBytes(String(argument.name), argument.blob)
  if (Stream.isStream(argument) || !Object.values(argument).some((value) => typeof value === "function"))
    return argument
  return Object.fromEntries(
    Object.entries(argument).map(([name, value]) => [
      name,
      typeof value === "function" && !Stream.isStream(value)
        ? (...args: ReadonlyArray<unknown>) => Effect.promise(async () => value(...args))
        : value
    ])
  )
}

/** What comes redacted, such as the `key` of a new key, the `secret` of a webhook or an `integrationUrl`, as text. */
export const reveal = (secret: Redacted.Redacted): string => Redacted.value(secret)

/**
 * Checks that a delivery comes from the service: rejects with `InvalidSignature`. Needs no connection. `body` is the raw body.
 *
 * ```ts
 * import { InvalidSignature, verifyWebhook } from "@signalbox/api/promise"
 *
 * export const handle = async (request: Request, secret: string) => {
 *   const body = new Uint8Array(await request.arrayBuffer())
 *   try {
 *     await verifyWebhook({ headers: request.headers, body, secret })
 *   } catch (error) {
 *     if (error instanceof InvalidSignature)
 *       return new Response(error.message, { status: 400 })
 *     throw error
 *   }
 *   return new Response()
 * }
 * ```
 */
export const verifyWebhook = (options: WebhookSignature.VerifyOptions): Promise<void> =>
  Effect.runPromise(WebhookSignature.verify(options))

/** As `verifyWebhook`, and resolves to the event; rejects with `UnreadableEvent` when this version knows no such event. */
export const receiveWebhook = (options: WebhookSignature.VerifyOptions): Promise<WebhookSignature.WebhookEvent> =>
  Effect.runPromise(WebhookSignature.receive(options))

/** Unset variables arrive as `undefined` from programs without types, and as empty strings. */
const requireAll = (options: Options) => {
  const names = ["baseUrl", "apiKey", "workspaceId"] as const
  const missing = names.filter((name) => !options[name])
  if (missing.length === 0) return
  const variables = "such as SIGNALBOX_BASE_URL, SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID"
  throw new TypeError(`connect: ${missing.join(", ")} missing or empty; a connection needs all three, ${variables}`)
}

/**
 * Connects to a workspace. Throws a `TypeError` that names the missing options when `baseUrl`, `apiKey` or
 * `workspaceId` is empty, and an `OptionError` for a `baseUrl` that is no address and a policy that cannot be.
 *
 * ```ts
 * import { connect } from "@signalbox/api/promise"
 *
 * export const main = async (apiKey: string) => {
 *   const room = connect({
 *     baseUrl: "http://127.0.0.1:4700",
 *     apiKey,
 *     workspaceId: "0199..."
 *   })
 *   const item = await room.workItems.create({
 *     process: "0199...",
 *     payload: { day: 1 }
 *   })
 *   const run = await room.processRuns.start("0199...", { workItems: [item.id] })
 *   if (!run.started) return
 *   await room.processRuns.awaitEnd(run.id)
 *   for await (const output of room.outputs.stream(run.id))
 *     console.log(output.payload)
 *   await room.close()
 * }
 * ```
 */
export const connect = (options: Options): Client => {
  requireAll(options)
  check("connect", options, { baseUrl: address })
  checkPolicy("connect", options.policy ?? {}, "policy.")
  const layer = (options.connect ?? ControlRoom.layer)({
    baseUrl: options.baseUrl,
    apiKey: Redacted.make(options.apiKey),
    workspaceId: WorkspaceId.make(options.workspaceId)
  })
  const policy = Layer.succeed(RetryPolicy, { ...defaultPolicy, ...options.policy })
  const runtime = ManagedRuntime.make(Layer.merge(layer, policy))

  return clientOver(runtime, undefined)
}

const clientOver = (
  runtime: ManagedRuntime.ManagedRuntime<ControlRoom, never>,
  signal: AbortSignal | undefined
): Client => {
  const run: Client["run"] = (effect, runOptions = {}) => {
    const signals = [signal, runOptions.signal].filter((one) => one !== undefined)
    if (signals.length === 0) return runtime.runPromise(effect)
    const either = AbortSignal.any(signals)
    return runtime.runPromise(effect, { signal: either }).catch((error: unknown) => {
      throw either.aborted ? either.reason : error
    })
  }
  const promised = (value: unknown): unknown => {
    // Members of the modules need no service but `ControlRoom`.
    if (Effect.isEffect(value)) return () => run(value as Effect.Effect<unknown, unknown, ControlRoom>)
    if (typeof value !== "function") return value
    return (...args: ReadonlyArray<unknown>) => {
      const made: unknown = value(...args.map(adapt))
      // As above, for streams.
      if (Stream.isStream(made)) return iterate(made as Stream.Stream<unknown, unknown, ControlRoom>)
      // As above.
      return Effect.isEffect(made) ? run(made as Effect.Effect<unknown, unknown, ControlRoom>) : made
    }
  }
  const iterate = (stream: Stream.Stream<unknown, unknown, ControlRoom>): AsyncIterable<unknown> => ({
    async *[Symbol.asyncIterator]() {
      const bounded = signal === undefined ? stream : Stream.interruptWhen(stream, aborted(signal))
      yield* Stream.toAsyncIterableWith(bounded, await runtime.context())
    }
  })
  const wrapped = Object.fromEntries(
    Object.entries(modules).map(([name, module]) => [
      name,
      Object.fromEntries(Object.entries(module).map(([member, value]) => [member, promised(value)]))
    ])
  )
  return {
    // The loop above applies `Promised` to every member, which its type does not express.
    ...(wrapped as unknown as Modules),
    run,
    withSignal: (other) => clientOver(runtime, signal === undefined ? other : AbortSignal.any([signal, other])),
    close: () => runtime.dispose()
  }
}

/** Fails with the reason of a signal once it is aborted. */
const aborted = (signal: AbortSignal): Effect.Effect<never, unknown> =>
  Effect.callback((resume) => {
    const fail = () => resume(Effect.fail(signal.reason))
    if (signal.aborted) return fail()
    signal.addEventListener("abort", fail, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", fail))
  })
