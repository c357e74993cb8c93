/** Webhooks: addresses that receive events of process runs, defined in `WebhookEvents`. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Webhooks.ts"

export * from "../internal/endpoints/Webhooks.ts"

export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a webhook with its secret").annotate(
  RequiredPermission,
  "Webhooks.read_webhooks"
)

export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the webhooks, newest first, without their secrets"
).annotate(RequiredPermission, "Webhooks.read_webhooks")

/** Without `process`, or with null: all processes. A process that does not exist is a 404. */
export const create: EndpointOf<typeof declared.create> = endpoint(declared.create, "Create a webhook")
  .annotate(RequiredPermission, "Webhooks.write_webhooks")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("webhook"))

/** Irreversible. Pending deliveries are dropped. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete a webhook")
  .annotate(RequiredPermission, "Webhooks.write_webhooks")
  .annotate(Audited, entry("webhook"))

/**
 * Extension: changes the given fields. `rotate_secret: true` creates a new secret and returns it; for 24 hours
 * `webhook-signature` also carries a signature under the old one, while `x-rc-signature` uses the new one immediately.
 */
export const update: EndpointOf<typeof declared.update> = endpoint(
  declared.update,
  "Change a webhook, or rotate its secret"
)
  .annotate(RequiredPermission, "Webhooks.write_webhooks")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("webhook"))

/** Extension: sends a test event, even if the webhook is disabled. Returns its delivery, which may be pending. */
export const test: EndpointOf<typeof declared.test> = endpoint(declared.test, "Send a test event to a webhook")
  .annotate(RequiredPermission, "Webhooks.write_webhooks")
  .annotate(Audited, entry("webhook"))

/** Extension: the deliveries of the last 14 days. */
export const listDeliveries: EndpointOf<typeof declared.listDeliveries> = endpoint(
  declared.listDeliveries,
  "List the deliveries of a webhook, newest first"
).annotate(RequiredPermission, "Webhooks.read_webhooks")

/** Extension: sends the same event again, as a new delivery. 409 while the old one is pending. */
export const redeliver: EndpointOf<typeof declared.redeliver> = endpoint(declared.redeliver, "Deliver an event again")
  .annotate(RequiredPermission, "Webhooks.write_webhooks")
  .annotate(Audited, entry("webhook"))

export const Webhooks: Group<
  "webhooks",
  | typeof get
  | typeof list
  | typeof create
  | typeof remove
  | typeof update
  | typeof test
  | typeof listDeliveries
  | typeof redeliver,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("webhooks")
  .add(get, list, create, remove, update, test, listDeliveries, redeliver)
  .middleware(WorkspaceAuthorization)
