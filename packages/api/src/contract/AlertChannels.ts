/**
 * Channels of alerts: where their messages go, and addresses that are called each minute while the service runs. An
 * extension.
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/AlertChannels.ts"

export * from "../internal/endpoints/AlertChannels.ts"

/** Extension. */
export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a channel of alerts").annotate(
  RequiredPermission,
  "Alerts.read_alerts"
)

/** Extension. */
export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the channels of alerts, newest first"
).annotate(RequiredPermission, "Alerts.read_alerts")

/** Extension: the name is unique in the workspace. */
export const create: EndpointOf<typeof declared.create> = endpoint(declared.create, "Create a channel of alerts")
  .annotate(RequiredPermission, "Alerts.write_alerts")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("alert_channel"))

/**
 * Extension: replaces the settings. A password that is left out stays only while host, port and user name do; a webhook
 * keeps its secret.
 */
export const update: EndpointOf<typeof declared.update> = endpoint(declared.update, "Replace a channel of alerts")
  .annotate(RequiredPermission, "Alerts.write_alerts")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("alert_channel"))

/**
 * Extension: creates a new secret for a webhook, and returns it. For 24 hours `webhook-signature` also carries a signature under
 * the old one, while `x-rc-signature` uses the new one immediately. 409 for a channel of another type.
 */
export const rotateSecret: EndpointOf<typeof declared.rotateSecret> = endpoint(
  declared.rotateSecret,
  "Rotate the secret of a channel of alerts"
)
  .annotate(RequiredPermission, "Alerts.write_alerts")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("alert_channel"))

/** Extension. Refused while an alert names it. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete a channel of alerts")
  .annotate(RequiredPermission, "Alerts.write_alerts")
  .annotate(Audited, entry("alert_channel"))

export const AlertChannels: Group<
  "alertChannels",
  typeof get | typeof list | typeof create | typeof update | typeof rotateSecret | typeof remove,
  WorkspaceAuthorization
> = HttpApiGroup.make("alertChannels")
  .add(get, list, create, update, rotateSecret, remove)
  .middleware(WorkspaceAuthorization)
