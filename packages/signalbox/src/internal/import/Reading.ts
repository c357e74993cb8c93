/** Everything that is read of a source before a plan can be made, without the content of files. */
import { Alert } from "@signalbox/api/contract/Alerts"
import { AlertChannel } from "@signalbox/api/contract/AlertChannels"
import { AssetSummary } from "@signalbox/api/contract/Assets"
import { Assistant } from "@signalbox/api/contract/Assistants"
import { Process, ProcessSummary, StoredDefinition } from "@signalbox/api/contract/Processes"
import { Role } from "@signalbox/api/contract/Roles"
import { Schedule, ScheduleListed } from "@signalbox/api/contract/Schedules"
import { Secret } from "@signalbox/api/contract/Secrets"
import { TaskPackage, TaskPackageSummary } from "@signalbox/api/contract/TaskPackages"
import { TriggerListed } from "@signalbox/api/contract/Triggers"
import { WebhookListed } from "@signalbox/api/contract/Webhooks"
import { WorkerGroup } from "@signalbox/api/contract/WorkerGroups"
import { Workspace } from "@signalbox/api/contract/Workspaces"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { bounds } from "./Bounds.ts"
import { everything, type Gaps } from "./Gaps.ts"
import { Source, type SourceError } from "./Source.ts"

const pages = { limit: "100" }

/** All roles, in one response. */
const RoleList = Schema.Struct({ data: Schema.Array(Role).check(Schema.isMaxLength(bounds.resources)) })

const absent = (error: SourceError) => (error.kind === "absent" ? Effect.succeed(null) : Effect.fail(error))

const ofPackage = (id: string, gaps: Gaps) =>
  Effect.flatMap(Source, ({ get }) => gaps.orNull("package", id, get(["task-packages", id], TaskPackage), "not found"))

/** A process with its definition, or without one from a source that has only the v1 interface. */
const processOf = Effect.fnUntraced(function* ({ id, name }: ProcessSummary, gaps: Gaps) {
  const { get } = yield* Source
  const definition = yield* gaps.orNull(
    "process",
    name,
    Effect.catch(get(["processes", id, "definition"], StoredDefinition), absent)
  )
  if (definition !== null) return { id, name, definition, outline: null }
  // The oldest sources show no steps either.
  const process = yield* gaps.orNull("process", name, Effect.catch(get(["processes", id], Process), absent))
  return {
    id,
    name,
    definition: null,
    outline: { description: process?.description ?? null, steps: process?.steps.map((step) => step.name) ?? [] }
  }
})

export type SourceProcess = Effect.Success<ReturnType<typeof processOf>>

/** Reads a workspace. `packages`: ids of packages besides those that the source lists, or that its assistants name. */
export const read = Effect.fn("import.read")(function* (packages: ReadonlyArray<string>, gaps: Gaps) {
  const { get, list } = yield* Source
  const workspace = yield* get([], Workspace)
  const roles = yield* gaps.orNone(
    "role",
    Effect.map(get(["roles"], RoleList), ({ data }) => data)
  )
  const groups = yield* gaps.orNone("worker group", list(["worker-groups"], WorkerGroup, pages))
  const assets = yield* gaps.orNone("asset", list(["assets"], AssetSummary, pages))
  const secrets = yield* gaps.orNone("secret", list(["secrets"], Secret))
  const assistants = yield* gaps.orNone("assistant", list(["assistants"], Assistant, pages))
  const webhooks = yield* gaps.orNone("webhook", list(["webhooks"], WebhookListed, pages))
  const processes = yield* Effect.forEach(
    gaps.named("process", yield* gaps.orNone("process", list(["processes"], ProcessSummary, pages))),
    (process) => processOf(process, gaps)
  )
  const listed = yield* gaps.orNull(
    "package",
    everything,
    Effect.catch(list(["task-packages"], TaskPackageSummary, pages), absent)
  )
  const known = listed ?? assistants.map(({ task }) => ({ id: task.package_id }))
  const wanted = new Set([...packages, ...known.map(({ id }) => id)])
  const found = yield* Effect.forEach(wanted, (id) => ofPackage(id, gaps))
  const schedules = yield* Effect.forEach(
    gaps.named("schedule", yield* gaps.orNone("schedule", list(["schedules"], ScheduleListed, pages))),
    ({ id, name }) => gaps.orNull("schedule", name, get(["schedules", id], Schedule), "not found")
  )
  const triggers = yield* gaps.orNone("trigger", list(["triggers"], TriggerListed, pages))
  const channels = yield* gaps.orNone("alert channel", list(["alert-channels"], AlertChannel, pages))
  const alerts = yield* gaps.orNone("alert", list(["alerts"], Alert, pages))
  const present = <A>(all: ReadonlyArray<A | null>) => all.flatMap((one) => (one === null ? [] : [one]))
  return {
    workspace: workspace.name,
    roles: gaps.named(
      "role",
      roles.filter(({ built_in }) => !built_in)
    ),
    groups: gaps.named("worker group", groups),
    assets: gaps.named("asset", assets),
    secrets: gaps.named("secret", secrets),
    packages: gaps.named("package", present(found)),
    processes,
    assistants: gaps.named("assistant", assistants),
    webhooks,
    schedules: present(schedules),
    triggers: gaps.named("trigger", triggers),
    channels: gaps.named("alert channel", channels),
    alerts: gaps.named("alert", alerts)
  }
})

export type Reading = Effect.Success<ReturnType<typeof read>>
