/**
 * The client for programs without Effect: the same modules with promises and async iterators, and plain strings for ids.
 * A promise is rejected with a class for each kind of error, all of them `ControlRoomError`.
 */
import { checkListeners, type Listeners } from "@signalbox/transport/Events"
import { address, callable, check, OptionError, text } from "@signalbox/transport/OptionError"
import { checkPolicy } from "@signalbox/transport/Policy"
import { placeOf, standAt } from "@signalbox/transport/Promised"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { WorkspaceId } from "./contract/Ids.ts"
import type { WebhookEvent } from "./contract/WebhookEvents.ts"
import { ControlRoom } from "./ControlRoom.ts"
import { defaultPolicy, type Policy, RetryPolicy } from "./Policy.ts"
import { checkHeaders } from "./internal/promise/CallOptions.ts"
import { type ClientOf, clientOf, type Resources } from "./internal/promise/Client.ts"
import { environmentOptions } from "./internal/promise/Environment.ts"
import { type Client, modules } from "./internal/promise/Modules.ts"
import { eventOf } from "./internal/process/DeliveredEvent.ts"
import { type VerifyOptions, verifyWebhook } from "./Webhook.ts"

export { AssetUploadFailed } from "./Assets.ts"
export { NotConfigured } from "./internal/environment/Environment.ts"
export type { BlobSource, Plain } from "./internal/promise/Adapt.ts"
export type { WebhookEvent } from "./contract/WebhookEvents.ts"
export type * from "./internal/promise/AdministrationClients.ts"
export type { CallOptions } from "./internal/promise/CallOptions.ts"
export type { ClientOf } from "./internal/promise/Client.ts"
export type * from "./internal/promise/Common.ts"
export {
  Closed,
  Conflict,
  ControlRoomError,
  Forbidden,
  InvalidRequest,
  Malformed,
  NotFound,
  PartlyCreated,
  RateLimited,
  Timeout,
  Unauthorized,
  Unavailable,
  Unexpected,
  Unreachable
} from "./internal/promise/Errors.ts"
export type { Listeners, PauseEvent, PauseReason, RequestEvent, ResponseEvent, RetryEvent } from "./Events.ts"
export type { ApiPromise, ResponseInfo } from "./internal/promise/Members.ts"
export type { Client } from "./internal/promise/Modules.ts"
export type { ListPage } from "./internal/promise/Pages.ts"
export type * from "./internal/promise/FailureClients.ts"
export type * from "./internal/promise/NotificationClients.ts"
export type * from "./internal/promise/PackageClients.ts"
export type * from "./internal/promise/ProcessClient.ts"
export type * from "./internal/promise/RunClients.ts"
export type * from "./internal/promise/StartClients.ts"
export type * from "./internal/promise/StepRunClients.ts"
export type * from "./internal/promise/WorkClients.ts"
export type * from "./internal/promise/WorkerClients.ts"
export { type Jsonable, UnexpectedData } from "./Payload.ts"
export { UploadSourceError } from "./Upload.ts"
export { UnreadableEvent } from "./internal/process/DeliveredEvent.ts"
export { InvalidSignature, type VerifyOptions, verifyWebhook } from "./Webhook.ts"

/** How requests are sent, whichever room they go to; functions such as `onRetry` are called with what happens while a call waits. */
export interface ConnectionOptions extends Listeners {
  /** Overrides of the default policy of retries and time limits. */
  readonly policy?: Partial<Policy>
  /** What sends requests instead of the global `fetch`, such as one with a proxy. */
  readonly fetch?: typeof globalThis.fetch
  /** Headers of every request to the service, such as those that a gateway asks for. */
  readonly headers?: Readonly<Record<string, string>>
  /** What the program calls itself, such as `invoices/2.1`: it stands in `User-Agent` before this client. Not in browsers. */
  readonly userAgent?: string
  /** The transport of requests in place of `fetch`, such as `layer` of `@signalbox/api/node`: undici, proxies and paths. */
  readonly connect?: typeof ControlRoom.layer
}

/** Which room a client connects to, and how. */
export interface Options extends ConnectionOptions {
  /** With or without the version prefix. */
  readonly baseUrl: string
  /** A workspace key. It belongs on servers, never in a browser. */
  readonly apiKey: string
  readonly workspaceId: string
}

/** What comes redacted, such as the `key` of a new key, the `secret` of a webhook or an `integrationUrl`, as text. */
export const reveal = (secret: Redacted.Redacted): string => Redacted.value(secret)

/** As `verifyWebhook`, and resolves to the event; rejects with `UnreadableEvent` when this version knows no such event. */
export const receiveWebhook = async (options: VerifyOptions): Promise<WebhookEvent> => {
  const place = placeOf(receiveWebhook)
  try {
    await verifyWebhook(options)
    return await Effect.runPromise(eventOf(options.body))
  } catch (error) {
    throw error instanceof Error ? standAt(error, place) : error
  }
}

const names = ["baseUrl", "apiKey", "workspaceId"] as const

/** Whether the options say which room it is. Unset variables arrive as `undefined` from programs without types, and as empty strings. */
const hasRoom = (of: string, options: Options | ConnectionOptions): options is Options => {
  const given: Partial<Options> = options
  if (names.every((name) => !(name in given))) return false
  const missing = names.filter((name) => !given[name])
  if (missing.length === 0) return true
  const variables = "such as SIGNALBOX_BASE_URL, SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID"
  throw new TypeError(
    `${of}: ${missing.join(", ")} missing or empty; a connection needs all three, ${variables}, or none of them: ` +
      "then these variables are read, or the credentials of the control room that runs from this folder"
  )
}

/**
 * Connects to a workspace: to the one of the options, or, without `baseUrl`, `apiKey` and `workspaceId`, to the one of the environment
 * (`SIGNALBOX_BASE_URL`, `SIGNALBOX_API_KEY` and `SIGNALBOX_WORKSPACE_ID`, or the control room that runs from this folder).
 *
 * Throws `NotConfigured` when the environment has no room or only a part of its variables, a `TypeError` that names the missing options
 * when some of the three are given, and an `OptionError` for a `baseUrl` that is no address, a policy that cannot be, and `fetch` beside
 * a `connect` that would ignore it.
 *
 * ```ts
 * import { connect } from "@signalbox/api/promise"
 *
 * export const main = async () => {
 *   await using room = connect()
 *   const item = await room.workItems.create({
 *     process: "0199...",
 *     payload: { day: 1 }
 *   })
 *   const run = await room.processRuns.start("0199...", { workItems: [item.id] })
 *   if (!run.started) return
 *   await room.processRuns.awaitEnd(run.id)
 *   for await (const output of room.outputs.stream(run.id))
 *     console.log(output.payload)
 * }
 * ```
 */
export const connect = (options: Options | ConnectionOptions = {}): Client => open("connect", connect, options, modules)

/**
 * Like `connect`, for a client that has only these modules: a bundle of the program then has no other. They are in
 * `@signalbox/api/resources`, under the names that they have in `connect()`.
 *
 * ```ts
 * import { connectOnly } from "@signalbox/api/promise"
 * import { outputs, processRuns } from "@signalbox/api/resources"
 *
 * export const main = async (run: string) => {
 *   await using room = connectOnly({ outputs, processRuns })
 *   await room.processRuns.awaitEnd(run)
 *   for await (const output of room.outputs.stream(run))
 *     console.log(output.payload)
 * }
 * ```
 */
export const connectOnly = <R extends Resources>(
  resources: R,
  options: Options | ConnectionOptions = {}
): ClientOf<R> => open("connectOnly", connectOnly, options, resources)

/** `of` and `door` are the function that was called: for messages, and for where its stack begins. */
const open = <R extends Resources>(
  of: string,
  door: (...args: never) => unknown,
  options: Options | ConnectionOptions,
  resources: R
): ClientOf<R> => {
  check(of, options, { fetch: callable, userAgent: text })
  if (options.fetch !== undefined && options.connect !== undefined && options.connect !== ControlRoom.layer)
    throw new OptionError(
      "fetch",
      `${of}: fetch: the layer of the option connect sends the requests; give one of the two`
    )
  checkListeners(of, options)
  checkPolicy(of, options.policy ?? {}, "policy.")
  checkHeaders(of, options.headers ?? {})
  const policy = { ...defaultPolicy, ...options.policy }
  const { headers, onPause, onRequest, onResponse, onRetry, userAgent } = options
  const on = { onPause, onRequest, onResponse, onRetry }
  const room = (options.connect ?? ControlRoom.layer)({ ...roomOf(of, door, options), headers, userAgent, on })
  const services = [
    room,
    Layer.succeed(RetryPolicy, policy),
    ...(options.fetch === undefined ? [] : [Layer.succeed(FetchHttpClient.Fetch, options.fetch)])
  ] as const
  const runtime = ManagedRuntime.make(Layer.mergeAll(...services))
  return clientOf({ runtime, policy, iterating: new Set(), isClosed: false }, {}, resources)
}

const roomOf = (of: string, door: (...args: never) => unknown, options: Options | ConnectionOptions) => {
  if (!hasRoom(of, options)) {
    const place = placeOf(door)
    try {
      return environmentOptions()
    } catch (error) {
      throw error instanceof Error ? standAt(error, place) : error
    }
  }
  check(of, options, { baseUrl: address })
  return {
    baseUrl: options.baseUrl,
    apiKey: Redacted.make(options.apiKey),
    workspaceId: WorkspaceId.make(options.workspaceId)
  }
}
