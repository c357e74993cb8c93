/** What keys may do, in words, and the sets that are usual. */
import type { Session } from "../../api.ts"
import type { Permission } from "@signalbox/api/contract/Authorization"
import * as text from "../../text/text.ts"

const isPermission = (name: string): name is Permission => name in text.keys.acts
export const permissions: ReadonlyArray<Permission> = Object.keys(text.keys.acts).filter(isPermission)

/** Every key that manages keys may give it, and no set has it: it is given by hand alone. */
const ofValues: Permission = "Vault.read_secret_values"

/** The permissions under the headings of the form. */
export const grouped: ReadonlyArray<readonly [area: string, permissions: ReadonlyArray<Permission>]> = Object.entries(
  text.keys.areas
).map(([prefix, area]) => [area, permissions.filter((permission) => permission.startsWith(`${prefix}.`))])

const reads = permissions.filter((permission) => permission.includes(".read_") && permission !== ofValues)

export interface Preset {
  readonly value: "start" | "read" | "operator" | "all"
  readonly label: string
  readonly hint: string
  readonly permissions: ReadonlyArray<Permission>
}

export const presets: ReadonlyArray<Preset> = [
  {
    value: "start",
    ...text.keys.presets.start,
    permissions: [
      "Processes.read_processes",
      "Processes.read_runs",
      "Processes.read_work_items",
      "Processes.read_run_outputs",
      "Processes.trigger_processes",
      "Processes.write_work_items"
    ]
  },
  {
    value: "read",
    ...text.keys.presets.read,
    permissions: reads
  },
  {
    value: "operator",
    ...text.keys.presets.operator,
    permissions: [
      ...reads,
      "Processes.trigger_processes",
      "Processes.write_work_items",
      "Processes.run_bulk_operations",
      "Processes.pause_processes",
      "Workers.pause_workers",
      "Failures.write_failures"
    ]
  },
  {
    value: "all",
    ...text.keys.presets.all,
    permissions: permissions.filter((permission) => permission !== ofValues)
  }
]

/** What a session has to give to keys. A key may also give values of secrets, unless it is newer than the first account. */
export const heldBy = ({ permissions, user }: Pick<Session, "permissions" | "user">): ReadonlyArray<string> =>
  user === null && permissions.includes("Workspace.manage_api_keys") ? [...permissions, ofValues] : permissions

/** Whether somebody who has `held` may give it to a key. */
export const mayGive = (permission: Permission, held: ReadonlyArray<string>): boolean =>
  held.includes(permission) || (permission === ofValues && held.includes("Room.manage"))

/** What of a set somebody who has `held` can give. */
export const within = (preset: Preset, held: ReadonlyArray<string>): ReadonlyArray<Permission> =>
  preset.permissions.filter((permission) => mayGive(permission, held))

/** The set that has exactly these. */
export const presetOf = (chosen: ReadonlyArray<string>): Preset | undefined =>
  presets.find(
    ({ permissions }) => permissions.length === chosen.length && permissions.every((one) => chosen.includes(one))
  )

/** Such as `see runs`; a permission of a newer room as it is. */
export const inWords = (permission: string): string =>
  isPermission(permission) ? text.keys.acts[permission] : permission

/** What a key changes or starts, which stops when it is revoked; none: it only reads. */
export const actsOf = (chosen: ReadonlyArray<string>): ReadonlyArray<string> =>
  chosen.filter((permission) => !permission.includes(".read_")).map(inWords)
