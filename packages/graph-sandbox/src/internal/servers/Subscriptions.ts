/**
 * Requests of subscriptions: what may be subscribed to, for how long, and by whom.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Address from "../requests/Address.ts"
import * as Failure from "../model/Failure.ts"
import {
  type Answer,
  created,
  type GraphRequest,
  identity,
  type Method,
  noContent,
  objectOf,
  prefers,
  type Reply,
  textOf
} from "../requests/GraphRequest.ts"
import { Notifier, type Subscription, type Watched } from "./Notifier.ts"
import * as Pages from "../requests/Pages.ts"
import * as Mailboxes from "../world/Mailboxes.ts"
import { World } from "../world/World.ts"

/** Reads what a resource is, if a request with that method to it were permitted. */
type Look = (resource: string, permitted: Method) => Answer

/** By the page "subscription resource type": minutes, and the permissions of "Create subscription". */
interface Kind {
  readonly of: RegExp
  readonly minutes: number
  readonly changeTypes: ReadonlyArray<string>
  /** What must be permitted: to write what is watched, or to read it. */
  readonly permitted: Method
  readonly watched: (resource: Resource) => Effect.Effect<Watched, Failure.Failure, World>
}

/** What is to be watched: its address, what reading it gave, and who asks. */
interface Resource {
  readonly segments: ReadonlyArray<Address.Segment>
  readonly body: Readonly<Record<string, unknown>>
  readonly request: GraphRequest
}

const onlyRoots = Failure.subscriptionInvalid("Only the root folder of a drive can be subscribed to.")

const kinds: ReadonlyArray<Kind> = [
  {
    of: /(?:^|\/)drives?(?:\/[^/]+)?\/(?:root|items\/[^/]+)$/i,
    minutes: 42_300,
    changeTypes: ["updated"],
    permitted: "PUT",
    watched: Effect.fnUntraced(function* ({ body }) {
      const { drives } = yield* World
      const drive = drives.get(String(objectOf(body["parentReference"])["driveId"]))
      if (drive === undefined || body["root"] === undefined) return yield* onlyRoots
      return { changes: [drive.changes], item: null }
    })
  },
  {
    of: /^sites\/.+\/lists\/[^/]+$/i,
    minutes: 42_300,
    changeTypes: ["updated"],
    permitted: "PUT",
    watched: Effect.fnUntraced(function* ({ body }) {
      const { sites } = yield* World
      const list = [...sites.values()].flatMap(({ lists }) => lists.get(String(body["id"])) ?? [])[0]
      if (list === undefined) return yield* Failure.subscriptionNotFound()
      return { changes: [list.library?.changes ?? list.changes], item: null }
    })
  },
  {
    of: /^(?:me|users\/[^/]+)\/(?:mailFolders(?:\/[^/]+|\('[^']+'\))\/)?messages$/i,
    minutes: 10_080,
    changeTypes: ["created", "updated", "deleted"],
    permitted: "GET",
    watched: Effect.fnUntraced(function* ({ request, segments }) {
      const { mailboxes, userBy } = yield* World
      const [root, ...keys] = segments.map(({ text }) => text)
      const { principal } = request
      const own = principal.kind === "user" ? principal.user.id : ""
      const isOwn = root?.toLowerCase() === "me"
      const mailbox = mailboxes.get(isOwn ? own : (userBy(keys[0] ?? "")?.id ?? ""))
      if (mailbox === undefined) return yield* Failure.subscriptionNotFound()
      const [, name] = isOwn ? keys : keys.slice(1)
      const one = name === undefined ? undefined : Mailboxes.folder(mailbox, name)
      const folders = one === undefined ? [...mailbox.folders.values()] : [one]
      const isImmutable = prefers(request, "immutableid")
      return {
        changes: folders.map(({ changes }) => changes),
        item: (id) => {
          const shown = isImmutable ? id : (mailbox.messages.get(id)?.regularId ?? id)
          const resource = `Users/${mailbox.owner.id}/Messages/${shown}`
          const resourceData = { "@odata.type": "#Microsoft.Graph.Message", "@odata.id": resource, id: shown }
          return { resource, resourceData }
        }
      }
    })
  }
]

/** The state is shown only to who makes the subscription. */
const view = (subscription: Subscription, clientState: string | null = null) => ({
  id: subscription.id,
  resource: subscription.resource,
  applicationId: subscription.applicationId,
  changeType: subscription.changeTypes.join(","),
  clientState,
  notificationUrl: subscription.notificationUrl,
  lifecycleNotificationUrl: subscription.lifecycleUrl,
  expirationDateTime: new Date(subscription.expiresAt).toISOString(),
  creatorId: subscription.creatorId,
  includeResourceData: null,
  latestSupportedTlsVersion: "v1_2",
  encryptionCertificate: null,
  encryptionCertificateId: null,
  notificationQueryOptions: null,
  notificationUrlAppId: null
})

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"])

/** An address that the service would take; and, as receivers on this machine have no certificates, loopback over plain HTTP. */
const checkedUrl = Effect.fnUntraced(function* (name: string, url: string) {
  const { hostname, protocol } = URL.canParse(url) ? new URL(url) : { hostname: "", protocol: "" }
  if (protocol === "https:" || (protocol === "http:" && loopback.has(hostname))) return url
  return yield* Failure.subscriptionInvalid(`${name} must be an HTTPS address.`)
})

const required = Effect.fnUntraced(function* (body: Readonly<Record<string, unknown>>, name: string) {
  const value = yield* textOf(body, name)
  if (value !== undefined && value !== "") return value
  return yield* Failure.subscriptionInvalid(`${name} is a required property for subscription creation.`)
})

const expiration = Effect.fnUntraced(function* (text: string, minutes: number, now: number) {
  const { endOf } = yield* Notifier
  const at = Option.getOrUndefined(DateTime.make(text))?.epochMilliseconds
  if (at === undefined || at <= now) {
    return yield* Failure.subscriptionInvalid("Subscription expiration must be a time in the future.")
  }
  if (at > now + minutes * 60_000) {
    return yield* Failure.subscriptionTooLong(`Subscription expiration can only be ${minutes} minutes in the future.`)
  }
  return endOf(at, now)
})

const kindOf = (resource: string) => {
  const kind = kinds.find(({ of }) => of.test(resource))
  return kind === undefined
    ? Effect.fail(Failure.notServed(`The sandbox has no subscriptions to '${resource}'. Its README lists what it has.`))
    : Effect.succeed(kind)
}

const creatorOf = ({ principal }: GraphRequest) => ({
  applicationId: principal.app.clientId,
  creatorId: identity(principal).id
})

const create = Effect.fnUntraced(function* (request: GraphRequest, look: Look) {
  const { add, validate } = yield* Notifier
  const body = yield* request.json
  const given = yield* required(body, "resource")
  const resource = given.replace(/^\/+/, "")
  const changeTypes = (yield* required(body, "changeType")).split(",").map((type) => type.trim().toLowerCase())
  const notificationUrl = yield* checkedUrl("notificationUrl", yield* required(body, "notificationUrl"))
  const expires = yield* required(body, "expirationDateTime")
  if (body["includeResourceData"] === true) {
    return yield* Failure.notServed("The sandbox does not send contents in notifications ('includeResourceData').")
  }
  const clientState = (yield* textOf(body, "clientState")) ?? null
  if (clientState !== null && clientState.length > 128) {
    return yield* Failure.subscriptionInvalid("clientState must have at most 128 characters.")
  }
  const lifecycle = yield* textOf(body, "lifecycleNotificationUrl")
  const lifecycleUrl = lifecycle === undefined ? null : yield* checkedUrl("lifecycleNotificationUrl", lifecycle)
  const kind = yield* kindOf(resource)
  const unknown = changeTypes.find((type) => !kind.changeTypes.includes(type))
  if (unknown !== undefined) {
    return yield* Failure.subscriptionInvalid(`changeType '${unknown}' is not supported for '${resource}'.`)
  }
  const found = yield* look(`/${resource}`, kind.permitted)
  const segments = yield* Effect.fromResult(Address.parse(`/${resource}`))
  const watched = yield* kind.watched({ segments, body: objectOf(found.body), request })
  yield* expiration(expires, kind.minutes, request.now)
  yield* validate(notificationUrl)
  if (lifecycleUrl !== null && lifecycleUrl !== notificationUrl) yield* validate(lifecycleUrl)
  const subscription = add({
    ...creatorOf(request),
    resource: given,
    changeTypes,
    clientState,
    notificationUrl,
    lifecycleUrl,
    watched,
    expiresAt: yield* expiration(expires, kind.minutes, request.now)
  })
  return created(Pages.one(request, "subscriptions", view(subscription, clientState)).body)
})

const update = Effect.fnUntraced(function* (subscription: Subscription, request: GraphRequest) {
  const { validate } = yield* Notifier
  const body = yield* request.json
  const expires = yield* textOf(body, "expirationDateTime")
  const url = yield* textOf(body, "notificationUrl")
  if (expires === undefined && url === undefined) {
    return yield* Failure.subscriptionInvalid(
      "Subscription must contain either the 'expirationDateTime' or 'notificationUrl' property and its value."
    )
  }
  const kind = yield* kindOf(subscription.resource.replace(/^\/+/, ""))
  const expiresAt =
    expires === undefined ? subscription.expiresAt : yield* expiration(expires, kind.minutes, request.now)
  if (url !== undefined) yield* validate(yield* checkedUrl("notificationUrl", url))
  subscription.expiresAt = expiresAt
  subscription.notificationUrl = url ?? subscription.notificationUrl
  subscription.isPaused = false
  return Pages.one(request, "subscriptions", view(subscription))
})

type Served = Effect.Effect<Reply, Failure.Failure, Notifier>

/** What one can do with a subscription. */
const methods: Readonly<Record<string, (subscription: Subscription, request: GraphRequest) => Served>> = {
  GET: (subscription, request) => Effect.succeed(Pages.one(request, "subscriptions", view(subscription))),
  PATCH: update,
  DELETE: ({ id }) =>
    Effect.map(Notifier, ({ remove }) => {
      remove(id)
      return noContent
    }),
  "POST reauthorize": (subscription) =>
    Effect.sync(() => {
      subscription.isPaused = false
      return noContent
    })
}

/** What follows `subscriptions` in an address. An app sees those that it made, for the person who is signed in if there is one. */
export const handle = Effect.fnUntraced(function* (
  [key, action, more]: ReadonlyArray<Address.Segment>,
  request: GraphRequest,
  look: Look
) {
  const { all } = yield* Notifier
  const creator = creatorOf(request)
  const own = all(request.now).filter(
    ({ applicationId, creatorId }) => applicationId === creator.applicationId && creatorId === creator.creatorId
  )
  if (key === undefined) {
    if (request.method === "POST") return yield* create(request, look)
    if (request.method !== "GET") return yield* Failure.methodNotAllowed()
    return yield* Pages.page(request, { of: "subscriptions", rows: own, view: (one) => view(one), size: 100, max: 100 })
  }
  const subscription = own.find(({ id }) => id === key.text)
  if (subscription === undefined) return yield* Failure.subscriptionNotFound()
  if (more !== undefined) return yield* Failure.unknownSegment(more.text)
  const name = action === undefined ? request.method : `${request.method} ${action.text.toLowerCase()}`
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (method !== undefined) return yield* method(subscription, request)
  return yield* action === undefined ? Failure.methodNotAllowed() : Failure.unknownSegment(action.text)
})
