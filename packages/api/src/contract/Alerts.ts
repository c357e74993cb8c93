/**
 * Alerts: what is watched, whom its messages go to, and its firings. An extension.
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Alerts.ts"

export * from "../internal/endpoints/Alerts.ts"

/** Extension. */
export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get an alert").annotate(
  RequiredPermission,
  "Alerts.read_alerts"
)

/** Extension. */
export const list: EndpointOf<typeof declared.list> = endpoint(declared.list, "List the alerts, newest first").annotate(
  RequiredPermission,
  "Alerts.read_alerts"
)

/** Extension: the name is unique in the workspace. */
export const create: EndpointOf<typeof declared.create> = endpoint(declared.create, "Create an alert")
  .annotate(RequiredPermission, "Alerts.write_alerts")
  .annotate(Audited, entry("alert"))

/** Extension: replaces the alert. With another rule it watches anew, and its firings are over without a message. */
export const update: EndpointOf<typeof declared.update> = endpoint(declared.update, "Replace an alert")
  .annotate(RequiredPermission, "Alerts.write_alerts")
  .annotate(Audited, entry("alert"))

/** Extension. Irreversible: with its firings, and without a message. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete an alert")
  .annotate(RequiredPermission, "Alerts.write_alerts")
  .annotate(Audited, entry("alert"))

/** Extension: sends a test message to each of its channels, also in quiet hours. */
export const test: EndpointOf<typeof declared.test> = endpoint(declared.test, "Test an alert")
  .annotate(RequiredPermission, "Alerts.write_alerts")
  .annotate(Audited, entry("alert"))

/** Extension: mutes an alert until then. What still holds at that time is reported then. */
export const mute: EndpointOf<typeof declared.mute> = endpoint(declared.mute, "Mute an alert")
  .annotate(RequiredPermission, "Alerts.write_alerts")
  .annotate(Audited, entry("alert"))

/** Extension. */
export const unmute: EndpointOf<typeof declared.unmute> = endpoint(declared.unmute, "End the mute of an alert")
  .annotate(RequiredPermission, "Alerts.write_alerts")
  .annotate(Audited, entry("alert"))

/** Extension. */
export const messages: EndpointOf<typeof declared.messages> = endpoint(
  declared.messages,
  "List the messages of an alert, newest first"
).annotate(RequiredPermission, "Alerts.read_alerts")

/** Extension. */
export const firings: EndpointOf<typeof declared.firings> = endpoint(
  declared.firings,
  "List the firings of alerts, newest first"
).annotate(RequiredPermission, "Alerts.read_alerts")

export const Alerts: Group<
  "alerts",
  | typeof get
  | typeof list
  | typeof create
  | typeof update
  | typeof remove
  | typeof test
  | typeof mute
  | typeof unmute
  | typeof messages
  | typeof firings,
  WorkspaceAuthorization
> = HttpApiGroup.make("alerts")
  .add(get, list, create, update, remove, test, mute, unmute, messages, firings)
  .middleware(WorkspaceAuthorization)
