/** Computes the steps after which the workspace has what the file describes, in an order that respects references. */
import * as AlertChannelList from "@signalbox/api/AlertChannels"
import * as ScheduleList from "@signalbox/api/Schedules"
import * as Processes from "@signalbox/api/Processes"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as AlertChannels from "./AlertChannels.ts"
import * as Alerts from "./Alerts.ts"
import * as Assets from "./Assets.ts"
import * as Assistants from "./Assistants.ts"
import * as Dependents from "./Dependents.ts"
import { ApplyFileError, type Document } from "./Document.ts"
import * as Packages from "./Packages.ts"
import * as ProcessPlan from "./Processes.ts"
import * as Roles from "./Roles.ts"
import * as Schedules from "./Schedules.ts"
import * as Secrets from "./Secrets.ts"
import type { Ids, Section, Step } from "./Step.ts"
import * as Triggers from "./Triggers.ts"
import * as Webhooks from "./Webhooks.ts"
import * as Groups from "./WorkerGroups.ts"

export interface Options {
  /** Paths in the file are relative to this folder. */
  readonly folder: string
  /** Whether resources that the file does not name are deleted, in the sections that it has. */
  readonly prune: boolean
  /** Whether `prune` also deletes what depends on a process, in sections that the file does not have. */
  readonly withDependents: boolean
  readonly rewriteSecrets: boolean
  readonly code: ProcessPlan.Code
}

export interface Plan {
  readonly steps: ReadonlyArray<Step>
  /** How many resources that the file does not name remain, in its sections. */
  readonly besides: number
  /** What depends on those of them that are processes, in sections that the file does not have; may be empty. */
  readonly dependents: string
}

interface Reference {
  readonly field: string
  readonly name: string
}

/** Which packages, groups and processes the file refers to, and where. */
const referencesOf = ({
  alerts = {},
  assistants = {},
  processes = {},
  schedules = {},
  triggers = {},
  webhooks = []
}: Document) => {
  const ofAlerts = Alerts.referencesOf(alerts)
  const packages: Array<Reference> = []
  const groups: Array<Reference> = []
  for (const [process, { steps }] of Object.entries(processes)) {
    for (const [index, { task, worker_group }] of steps.entries()) {
      const field = `processes.${process}.steps.${index}`
      if (task.package !== undefined) packages.push({ field: `${field}.task.package`, name: task.package })
      if (worker_group !== undefined) groups.push({ field: `${field}.worker_group`, name: worker_group })
    }
  }
  for (const [name, { task }] of Object.entries(assistants)) {
    packages.push({ field: `assistants.${name}.task.package`, name: task.package })
  }
  const ofWebhooks = webhooks.flatMap(({ process }, index) =>
    process === undefined ? [] : [{ field: `webhooks.${index}.process`, name: process }]
  )
  const ofSchedules = Object.entries(schedules).map(([name, { process }]) => ({
    field: `schedules.${name}.process`,
    name: process
  }))
  const ofTriggers = Object.entries(triggers).map(([name, { process }]) => ({
    field: `triggers.${name}.process`,
    name: process
  }))
  return {
    packages,
    groups: [...groups, ...ofAlerts.groups],
    processes: [...ofWebhooks, ...ofSchedules, ...ofTriggers, ...ofAlerts.processes],
    schedules: ofAlerts.schedules,
    channels: ofAlerts.channels
  }
}

interface Known {
  readonly there: ReadonlyMap<string, string>
  readonly wanted: ReadonlyArray<string>
  /** Of those that are there and not wanted, the ones that the plan deletes. */
  readonly isDeleted: (name: string) => boolean
}

const check = (what: string, references: ReadonlyArray<Reference>, { isDeleted, there, wanted }: Known) => {
  const missing = references.find(({ name }) => !wanted.includes(name) && (!there.has(name) || isDeleted(name)))
  if (missing === undefined) return Effect.void
  const { field, name } = missing
  return Effect.fail(
    new ApplyFileError({
      message: there.has(name)
        ? `${field}: --prune deletes the ${what} "${name}", which the file does not have; add it to the file, or name another`
        : `${field}: not found in the file or the workspace: the ${what} "${name}"`
    })
  )
}

const listed = <I extends string, E, R>(
  needed: boolean,
  stream: Stream.Stream<{ readonly id: I; readonly name: string }, E, R>
) =>
  needed
    ? Effect.map(Stream.runCollect(stream), (all) => new Map(all.map(({ id, name }) => [name, id])))
    : Effect.succeed(new Map<string, I>())

const nothing: Section = { steps: [], extra: [] }

/** Compares the file with the workspace. Changes nothing; reads the local files that it refers to. */
export const make = Effect.fn("apply.plan")(function* (document: Document, options: Options) {
  const references = referencesOf(document)
  const { assets, assistants, packages, processes, roles, schedules, secrets, triggers, webhooks, worker_groups } =
    document
  const { alert_channels, alerts } = document
  const all = { limit: 500 }
  const ids: Ids = {
    packages: yield* listed(packages !== undefined || references.packages.length > 0, TaskPackages.stream(all)),
    groups: yield* listed(worker_groups !== undefined || references.groups.length > 0, WorkerGroups.stream(all)),
    processes: yield* listed(
      [processes, webhooks, schedules, triggers, alerts].some((section) => section !== undefined),
      Processes.stream(all)
    ),
    schedules: yield* listed(references.schedules.length > 0, ScheduleList.stream(all)),
    channels: yield* listed(references.channels.length > 0, AlertChannelList.stream(all))
  }
  const known = (there: ReadonlyMap<string, string>, section: object | undefined, deleted: ReadonlySet<string>) => {
    const wanted: ReadonlyArray<string> = Array.isArray(section) ? section : Object.keys(section ?? {})
    return { there, wanted, isDeleted: (name: string) => options.prune && (section !== undefined || deleted.has(name)) }
  }
  const none = new Set<string>()
  yield* check("package", references.packages, known(ids.packages, packages, none))
  yield* check("worker group", references.groups, known(ids.groups, worker_groups, none))
  yield* check("process", references.processes, known(ids.processes, processes, none))

  const unnamed = new Map(
    [...ids.processes].flatMap(([name, id]) =>
      processes === undefined || Object.hasOwn(processes, name) ? [] : [[id, name] as const]
    )
  )
  const dependents = options.prune
    ? yield* Dependents.of(unnamed, document)
    : // Without --prune they are only mentioned, which needs no more permissions than the file.
      yield* Effect.catchReason(Dependents.of(unnamed, document), "ControlRoomError", "Forbidden", () =>
        Effect.succeed(Dependents.none)
      )
  if (options.prune && !options.withDependents) yield* Dependents.refuse(dependents)

  const deletedSchedules = new Set(dependents.schedules.map(({ name }) => name))
  yield* check("schedule", references.schedules, known(ids.schedules, schedules, deletedSchedules))
  yield* check("alert channel", references.channels, known(ids.channels, alert_channels, none))

  const absent = (key: keyof Dependents.Dependents): Section => ({ steps: [], extra: dependents[key] })
  // Each after what it may refer to; deletions in reverse.
  const sections: ReadonlyArray<Section> = [
    roles === undefined ? nothing : yield* Roles.plan(roles),
    secrets === undefined ? nothing : yield* Secrets.plan(secrets, options.folder, options.rewriteSecrets),
    packages === undefined ? nothing : yield* Packages.plan(packages, options.folder, ids),
    worker_groups === undefined ? nothing : Groups.plan(worker_groups, ids),
    assets === undefined ? nothing : yield* Assets.plan(assets, options.folder),
    processes === undefined ? nothing : yield* ProcessPlan.plan(processes, ids, options.code),
    assistants === undefined ? nothing : yield* Assistants.plan(assistants, ids),
    webhooks === undefined ? absent("webhooks") : yield* Webhooks.plan(webhooks, ids),
    schedules === undefined ? absent("schedules") : yield* Schedules.plan(schedules, ids),
    triggers === undefined
      ? absent("triggers")
      : yield* Triggers.plan(triggers, ids, options.folder, options.rewriteSecrets),
    alert_channels === undefined
      ? nothing
      : yield* AlertChannels.plan(alert_channels, ids, options.folder, options.rewriteSecrets),
    alerts === undefined ? absent("alerts") : yield* Alerts.plan(alerts, ids)
  ]
  const steps = sections.flatMap((section) => section.steps)
  const extra = sections.toReversed().flatMap((section) => section.extra)
  const plan: Plan = options.prune
    ? { steps: [...steps, ...extra], besides: 0, dependents: "" }
    : {
        steps,
        besides: extra.length - Object.values(dependents).flat().length,
        dependents: Dependents.listOf(dependents)
      }
  return plan
})
