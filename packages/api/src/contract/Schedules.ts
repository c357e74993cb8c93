/** Schedules: times at which runs of a process start. An extension. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry, noEntry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization, StartsWork } from "./Authorization.ts"
import { WithoutRecord } from "./IdempotencyKeys.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Schedules.ts"

export * from "../internal/endpoints/Schedules.ts"

/** Extension. */
export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a schedule").annotate(
  RequiredPermission,
  "Schedules.read_schedules"
)

/** Extension. */
export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the schedules, newest first"
).annotate(RequiredPermission, "Schedules.read_schedules")

/**
 * Extension: a schedule counts from now; earlier times never start anything. Its name is unique in the workspace. Needs
 * the permission Processes.trigger_processes too. It runs as itself: it continues when the key that created it is revoked.
 */
export const create: EndpointOf<typeof declared.create> = endpoint(declared.create, "Create a schedule")
  .annotate(RequiredPermission, "Schedules.write_schedules")
  .annotate(StartsWork, true)
  .annotate(Audited, entry("schedule"))

/**
 * Extension: replaces the definition; a pause and the history stay. Other times count from now, and occurrences that
 * wait are then skipped as `changed`. Needs the permission Processes.trigger_processes too.
 */
export const update: EndpointOf<typeof declared.update> = endpoint(declared.update, "Replace a schedule")
  .annotate(RequiredPermission, "Schedules.write_schedules")
  .annotate(StartsWork, true)
  .annotate(Audited, entry("schedule"))

/** Extension. Irreversible. Its history is deleted; its runs go on. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete a schedule")
  .annotate(RequiredPermission, "Schedules.write_schedules")
  .annotate(Audited, entry("schedule"))

/** Extension: until it is resumed, occurrences are skipped as `paused`; its runs go on. */
export const pause: EndpointOf<typeof declared.pause> = endpoint(declared.pause, "Pause a schedule")
  .annotate(RequiredPermission, "Schedules.write_schedules")
  .annotate(Audited, entry("schedule"))

/** Extension: occurrences from now on begin. Changes nothing when it is not paused. */
export const resume: EndpointOf<typeof declared.resume> = endpoint(declared.resume, "Resume a schedule")
  .annotate(RequiredPermission, "Schedules.write_schedules")
  .annotate(StartsWork, true)
  .annotate(Audited, entry("schedule"))

/** Extension: the next ten times, fewer when no more are left; also of a paused schedule. */
export const next: EndpointOf<typeof declared.next> = endpoint(
  declared.next,
  "List the next ten times of a schedule"
).annotate(RequiredPermission, "Schedules.read_schedules")

/**
 * Extension: the next ten times that a schedule with these rules would have if it were made now, fewer when no more are
 * left. Nothing is stored.
 */
export const previewTimes: EndpointOf<typeof declared.previewTimes> = endpoint(
  declared.previewTimes,
  "List the next ten times that a schedule would have"
)
  .annotate(RequiredPermission, "Schedules.read_schedules")
  .annotate(WithoutRecord, true)
  .annotate(Audited, noEntry("it computes times and stores nothing"))

/** Extension. */
export const listOccurrences: EndpointOf<typeof declared.listOccurrences> = endpoint(
  declared.listOccurrences,
  "List the past occurrences of a schedule, newest first"
).annotate(RequiredPermission, "Schedules.read_schedules")

export const Schedules: Group<
  "schedules",
  | typeof get
  | typeof list
  | typeof create
  | typeof update
  | typeof remove
  | typeof pause
  | typeof resume
  | typeof next
  | typeof previewTimes
  | typeof listOccurrences,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("schedules")
  .add(get, list, create, update, remove, pause, resume, next, previewTimes, listOccurrences)
  .middleware(WorkspaceAuthorization)
