/**
 * Receivers of change notifications, in any HTTP server, with Effect or without: no module of Effect is loaded. A notification says
 * that something has changed, and no more can be trusted of it than its `clientState` proves; what changed, a delta says.
 *
 * The shapes are those of the pages "Receive change notifications through webhooks" and "Reduce missing subscriptions and change
 * notifications" of the service's documentation.
 */

/** What a lifecycle notification says: `missed` that others were lost, the two others what must be done with the subscription. */
export type LifecycleEvent = "missed" | "reauthorizationRequired" | "subscriptionRemoved"

/** A notification that came with the right `clientState`. */
export interface Notification {
  readonly subscriptionId: string
  /** `created`, `updated` or `deleted`; null in lifecycle notifications. */
  readonly changeType: string | null
  /** A `LifecycleEvent`, or one that this library does not know; null in notifications of changes. */
  readonly lifecycleEvent: string | null
  /** The path of what changed, or of what was subscribed to; null in lifecycle notifications. */
  readonly resource: string | null
  /** The id of what changed, where the service says it: of messages, not of drives. */
  readonly resourceId: string | null
  /** When the subscription ends, ISO 8601. */
  readonly subscriptionExpirationDateTime: string | null
  readonly tenantId: string | null
  /** All that came, without `clientState`. */
  readonly raw: Readonly<Record<string, unknown>>
}

/** With what notifications are verified. */
export interface ReceiveOptions {
  /** The secret that the subscription was created with; several while it is replaced. */
  readonly clientState: string | ReadonlyArray<string>
}

/** A request to a receiver. */
export interface Incoming {
  /** Its address, or path and query alone. */
  readonly url: string
  /** The whole body as text. */
  readonly body: string
}

/** How a request is answered, and what it said. */
export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly notifications: ReadonlyArray<Notification>
  /** Notifications that were left out, since they came with another `clientState`, or with none. */
  readonly refused: number
}

const bytes = (text: string) => new TextEncoder().encode(text)

/** In a time that does not depend on where they differ. */
const isEqual = (given: Uint8Array, wanted: Uint8Array): boolean => {
  let difference = given.length ^ wanted.length
  for (let at = 0; at < given.length; at++) difference |= (given[at] ?? 0) ^ (wanted[at % wanted.length] ?? 0)
  return difference === 0
}

const statesOf = ({ clientState }: ReceiveOptions): ReadonlyArray<Uint8Array> => {
  const states = typeof clientState === "string" ? [clientState] : clientState
  if (states.length > 0 && states.every((state) => typeof state === "string" && state !== "")) return states.map(bytes)
  throw new TypeError("clientState: expected the secret of the subscription, a text that is not empty")
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const textIn = (record: Readonly<Record<string, unknown>>, name: string): string | null => {
  const value = record[name]
  return typeof value === "string" ? value : null
}

const notificationOf = (subscriptionId: string, raw: Readonly<Record<string, unknown>>): Notification => {
  const data = raw["resourceData"]
  return {
    subscriptionId,
    changeType: textIn(raw, "changeType"),
    lifecycleEvent: textIn(raw, "lifecycleEvent"),
    resource: textIn(raw, "resource"),
    resourceId: isRecord(data) ? textIn(data, "id") : null,
    subscriptionExpirationDateTime: textIn(raw, "subscriptionExpirationDateTime"),
    tenantId: textIn(raw, "tenantId"),
    raw
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const plain = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" }
const answer = (status: number, body = ""): Received => ({
  status,
  headers: plain,
  body,
  notifications: [],
  refused: 0
})

/**
 * Reads a request and says how to answer it: a validation with its token, which the service waits 10 seconds for; notifications with
 * 202, which it waits 3 seconds for, so that they are handed over after the answer; what is neither with 400. Throws a `TypeError` for
 * an empty `clientState`.
 *
 * ```ts
 * import { createServer } from "node:http"
 * import { text } from "node:stream/consumers"
 * import { readNotifications } from "@signalbox/graph/Notifications"
 *
 * export const receiver = (clientState: string, look: () => void) =>
 *   createServer(async (request, response) => {
 *     const body = await text(request)
 *     const url = request.url ?? "/"
 *     const received = readNotifications({ url, body }, { clientState })
 *     response.writeHead(received.status, received.headers)
 *     response.end(received.body)
 *     if (received.notifications.length > 0) look()
 *   })
 * ```
 */
export const readNotifications = ({ body, url }: Incoming, options: ReceiveOptions): Received => {
  const states = statesOf(options)
  const base = "http://receiver"
  const token = URL.canParse(url, base) ? new URL(url, base).searchParams.get("validationToken") : null
  if (token !== null) return answer(200, token)
  const parsed = parse(body)
  const all = isRecord(parsed) ? parsed["value"] : undefined
  if (!Array.isArray(all)) return answer(400, "expected the notifications of a subscription, as JSON")
  const notifications = all.flatMap((one: unknown) => {
    if (!isRecord(one)) return []
    const { clientState, ...raw } = one
    const id = textIn(raw, "subscriptionId")
    const given = bytes(typeof clientState === "string" ? clientState : "")
    // Each is compared, so that the time does not say which one it was.
    const matching = states.filter((state) => isEqual(given, state))
    return id === null || matching.length === 0 ? [] : [notificationOf(id, raw)]
  })
  return { ...answer(202), notifications, refused: all.length - notifications.length }
}

/** How a web request is answered, and what it said. */
export interface ReceivedRequest extends Pick<Received, "notifications" | "refused"> {
  readonly response: Response
}

/**
 * Reads a web `Request`, as servers of Deno, Bun, Workers and many frameworks give it. As `readNotifications`; other methods than POST
 * get a 405.
 *
 * ```ts
 * import { receiveNotifications } from "@signalbox/graph/Notifications"
 *
 * export const handle = async (request: Request, clientState: string) => {
 *   const { notifications, response } = await receiveNotifications(request, {
 *     clientState
 *   })
 *   for (const { lifecycleEvent, subscriptionId } of notifications)
 *     console.log(subscriptionId, lifecycleEvent ?? "changed")
 *   return response
 * }
 * ```
 */
export const receiveNotifications = async (request: Request, options: ReceiveOptions): Promise<ReceivedRequest> => {
  const { body, headers, notifications, refused, status } =
    request.method === "POST"
      ? readNotifications({ url: request.url, body: await request.text() }, options)
      : answer(405, "expected a POST")
  return { response: new Response(body, { status, headers }), notifications, refused }
}
