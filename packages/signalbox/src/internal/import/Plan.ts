/**
 * Compares what a source has with the workspace, by the code of `apply`, and returns the steps after which the workspace has
 * it, in an order that respects references.
 */
import * as AlertChannels from "@signalbox/api/AlertChannels"
import * as ProcessList from "@signalbox/api/Processes"
import * as Schedules from "@signalbox/api/Schedules"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Groups from "../apply/WorkerGroups.ts"
import type { Ids } from "../apply/Step.ts"
import * as Assets from "./Assets.ts"
import * as Assistants from "./Assistants.ts"
import type { Names } from "./Converted.ts"
import type { Gaps } from "./Gaps.ts"
import * as Items from "./Items.ts"
import * as Notices from "./Notices.ts"
import * as Packages from "./Packages.ts"
import * as Parts from "./Parts.ts"
import * as Processes from "./Processes.ts"
import type { Reading } from "./Reading.ts"
import * as Roles from "./Roles.ts"
import * as Secrets from "./Secrets.ts"
import * as Starts from "./Starts.ts"
import type { ImportStep } from "./Step.ts"

export interface Options {
  readonly secrets: boolean
  readonly items: boolean
  readonly replace: boolean
  /** Where processes go of which the source does not say what they run. */
  readonly processesFile: string
}

const listed = <I extends string, E, R>(stream: Stream.Stream<{ readonly id: I; readonly name: string }, E, R>) =>
  Effect.map(Stream.runCollect(stream), (all) => new Map(all.map(({ id, name }) => [name, id])))

const namesOf = (resources: ReadonlyArray<{ readonly id: string; readonly name: string }>) =>
  new Map(resources.map(({ id, name }) => [id, name]))

/** Whether something of a name is in the workspace, or will be after these steps. */
const present = (ids: ReadonlyMap<string, string>, steps: ReadonlyArray<ImportStep>): Processes.IsThere => {
  const planned = new Set(steps.map(({ name }) => name))
  return (name) => ids.has(name) || planned.has(name)
}

/** Plans the import. Downloads what has to be compared or brought; changes nothing. */
export const make = Effect.fn("import.plan")(function* (reading: Reading, options: Options, gaps: Gaps) {
  const all = { limit: 500 }
  const ids: Ids = {
    packages: yield* listed(TaskPackages.stream(all)),
    groups: yield* listed(WorkerGroups.stream(all)),
    processes: yield* listed(ProcessList.stream(all)),
    schedules: yield* listed(Schedules.stream(all)),
    channels: yield* listed(AlertChannels.stream(all))
  }
  const names: Names = {
    packages: namesOf(reading.packages),
    groups: namesOf(reading.groups),
    processes: namesOf(reading.processes),
    schedules: namesOf(reading.schedules)
  }
  const roles = yield* Roles.plan(reading.roles, gaps)
  const secrets = yield* Secrets.plan(reading.secrets, { replace: options.replace, values: options.secrets }, gaps)
  const packages = yield* Packages.plan(reading.packages, Processes.pinnedBy(reading, names), ids, gaps)
  const isPackage = present(ids.packages, packages.steps)
  const groupEntries = reading.groups.map(({ name }) => [name, name] as const)
  const groupNames = yield* Parts.acceptedList("worker group", "worker_groups", groupEntries, gaps)
  const groups = Parts.importSteps(Groups.plan(groupNames, ids))
  const isGroup = present(ids.groups, groups)
  const assets = yield* Assets.plan(reading.assets, gaps)
  const { versionOf } = packages
  const defined = yield* Processes.plan(reading.processes, { names, ids, isPackage, isGroup, versionOf }, gaps)
  const outlined = yield* Processes.outline(reading.processes, ids, options.processesFile, gaps)
  const isProcess = present(ids.processes, defined)
  const assistants = yield* Assistants.plan(reading.assistants, { names, ids, isPackage }, gaps)
  const starting = { names, ids, isProcess }
  const webhooks = yield* Starts.webhooks(reading.webhooks, starting, gaps)
  const schedules = yield* Starts.schedules(reading.schedules, starting, gaps)
  const triggers = yield* Starts.triggers(reading.triggers, starting, gaps)
  const channels = yield* Notices.channels(reading.channels, ids, gaps)
  const isThere = {
    process: isProcess,
    worker_group: isGroup,
    schedule: present(ids.schedules, schedules),
    channel: present(ids.channels, channels)
  }
  const alerts = yield* Notices.alerts(reading.alerts, { names, ids, isThere }, gaps)
  const items = options.items ? yield* Items.plan(reading.processes, isProcess, ids, gaps) : []
  // Each after what it may refer to.
  return [
    ...roles,
    ...secrets,
    ...packages.steps,
    ...groups,
    ...assets,
    ...defined,
    ...outlined,
    ...assistants,
    ...webhooks,
    ...schedules,
    ...triggers,
    ...channels,
    ...alerts,
    ...items
  ]
})
