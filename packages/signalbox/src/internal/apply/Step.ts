/** One step of a plan: a resource, the action, and its effect. */
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { AssetUploadFailed } from "@signalbox/api/Assets"
import type { AlertChannelId, ProcessId, ScheduleId, TaskPackageId, WorkerGroupId } from "@signalbox/api/contract/Ids"
import type { InvalidProcess, WaitingItems } from "@signalbox/api/Process"
import type { UploadSourceError } from "@signalbox/api/Upload"
import * as Effect from "effect/Effect"

export type Kind =
  | "role"
  | "secret"
  | "package"
  | "worker group"
  | "asset"
  | "process"
  | "assistant"
  | "webhook"
  | "schedule"
  | "trigger"
  | "alert channel"
  | "alert"

export interface Step {
  readonly kind: Kind
  readonly name: string
  readonly action: "create" | "change" | "delete" | "unchanged"
  /** What changes, or why nothing does; may be empty. */
  readonly detail: string
  readonly run: Effect.Effect<
    unknown,
    CallError | UploadSourceError | AssetUploadFailed | InvalidProcess | WaitingItems,
    ControlRoom
  >
}

/** The steps of a section of the file, and those for resources that only the workspace has. */
export interface Section {
  readonly steps: ReadonlyArray<Step>
  /** Deletes what the file does not name; only with `--prune`. */
  readonly extra: ReadonlyArray<Step>
}

/** The ids of names: of existing resources, and, while a plan is carried out, of those it has created. */
export interface Ids {
  readonly packages: Map<string, TaskPackageId>
  readonly groups: Map<string, WorkerGroupId>
  readonly processes: Map<string, ProcessId>
  readonly schedules: Map<string, ScheduleId>
  readonly channels: Map<string, AlertChannelId>
}

export const unchanged = (kind: Kind, name: string, detail = ""): Step => ({
  kind,
  name,
  action: "unchanged",
  detail,
  run: Effect.void
})

/** The id of a resource that existed or that the plan has created. */
export const idOf = <I>(ids: ReadonlyMap<string, I>, name: string): Effect.Effect<I> =>
  Effect.suspend(() => {
    const id = ids.get(name)
    return id === undefined ? Effect.die(new Error(`no resource has the name ${name}`)) : Effect.succeed(id)
  })

/** Values whose order and repetition mean nothing, in the one form that they are compared in. */
export const asSet = (values: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(values)].toSorted()
