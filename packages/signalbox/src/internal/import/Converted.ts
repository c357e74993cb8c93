/** Resources of a source as parts of the document of `apply`: names for ids, and switched off. Checked by its schema later. */
import type { Alert } from "@signalbox/api/contract/Alerts"
import type { AlertChannel } from "@signalbox/api/contract/AlertChannels"
import type { StoredDefinition } from "@signalbox/api/contract/Processes"
import type { Schedule } from "@signalbox/api/contract/Schedules"
import type { TriggerListed } from "@signalbox/api/contract/Triggers"
import { defined } from "@signalbox/transport/Defined"

/** Names by the ids of the source. */
export interface Names {
  readonly packages: ReadonlyMap<string, string>
  readonly groups: ReadonlyMap<string, string>
  readonly processes: ReadonlyMap<string, string>
  readonly schedules: ReadonlyMap<string, string>
}

/** The name of something that the source does not list, such as what its key may not read. */
const unknown = (id: string) => `${id}, which is not among those of the source`

export const nameIn = (names: ReadonlyMap<string, string>, id: string) => names.get(id) ?? unknown(id)

/** Without the members that are null, which say nothing. */
const present = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

/** The number at the target of a version of a package at the source. */
export type VersionOf = (packageName: string, version: number) => number | null

export const process = (
  { masked: _, name: __, revision: ___, steps, ...definition }: StoredDefinition,
  names: Names,
  versionOf: VersionOf
) => ({
  ...definition,
  steps: steps.map(({ task, task_package_version: pinned = null, worker_group: group = null, ...step }) => {
    const of = task.package_id === undefined ? undefined : nameIn(names.packages, task.package_id)
    return {
      ...step,
      task: defined({ name: task.name, package: of }),
      ...defined({
        // No version has the number 0: it is refused with the name of the field.
        task_package_version: pinned === null || of === undefined ? undefined : (versionOf(of, pinned) ?? 0),
        worker_group: group === null ? undefined : nameIn(names.groups, group.id)
      })
    }
  })
})

export const schedule = ({ process, ...schedule }: Schedule, names: Names) => {
  const { anchor, at, calendar, cron, every, from, inputs, jitter, missed, overlap, queue, until, zone } = schedule
  return {
    process: nameIn(names.processes, process.id),
    ...present({ anchor, at, cron, every, from, until }),
    calendar,
    jitter,
    missed,
    overlap,
    queue,
    zone,
    inputs
  }
}

export const trigger = ({ process, start, webhook }: TriggerListed, names: Names, secretFile: string) => ({
  process: nameIn(names.processes, process.id),
  enabled: false,
  ...defined({
    start: start === null ? undefined : present(start),
    webhook:
      webhook === null
        ? undefined
        : {
            ...present(webhook),
            ...defined({
              signature:
                webhook.signature === null
                  ? undefined
                  : { ...present(webhook.signature), secret: { file: secretFile } },
              event_id: webhook.event_id === null ? undefined : present(webhook.event_id)
            })
          }
  })
})

/** Null: its address or password is a secret, which no room shows. */
export const channel = ({ email, target, type }: AlertChannel) => {
  if (type === "webhook") return { type, url: target }
  if (type !== "email" || email === null || (email.username !== null && email.password_from === null)) return null
  const at = target.lastIndexOf(":")
  return {
    type,
    host: target.slice(0, at),
    port: Number(target.slice(at + 1)),
    ...present(email)
  }
}

/** Parameters of rules that name something. */
const named = (names: Names): ReadonlyMap<string, ReadonlyMap<string, string>> =>
  new Map([
    ["process", names.processes],
    ["worker_group", names.groups],
    ["schedule", names.schedules]
  ])

export const alert = ({ channels, gather_seconds, quiet, repeat_seconds, rule }: Alert, names: Names) => ({
  enabled: false,
  rule: Object.fromEntries(
    Object.entries(rule).map(([key, value]) => {
      const known = named(names).get(key)
      return [key, known !== undefined && typeof value === "object" && "id" in value ? nameIn(known, value.id) : value]
    })
  ),
  channels: channels.map(({ name }) => name),
  ...present({ repeat_seconds, quiet }),
  ...defined({ gather_seconds })
})
