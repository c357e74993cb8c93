/**
 * One step of a plan: a resource, what is to be done with it, and how.
 */
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { AssetUploadFailed } from "@signalbox/api/Assets"
import type { ProcessId, TaskPackageId, WorkerGroupId } from "@signalbox/api/contract/Ids"
import type { UploadSourceError } from "@signalbox/api/Upload"
import * as Effect from "effect/Effect"

export type Kind = "secret" | "package" | "worker group" | "asset" | "process" | "assistant" | "webhook"

export interface Step {
  readonly kind: Kind
  readonly name: string
  readonly action: "create" | "change" | "delete" | "unchanged"
  /** What changes, or why nothing does; may be empty. */
  readonly detail: string
  readonly run: Effect.Effect<unknown, CallError | UploadSourceError | AssetUploadFailed, ControlRoom>
}

/** What a section of the file asks for, and what the workspace has besides. */
export interface Section {
  readonly steps: ReadonlyArray<Step>
  /** Deletes what the file does not name; carried out with `--prune` alone. */
  readonly extra: ReadonlyArray<Step>
}

/** The ids behind names: of what is there, and, while a plan is carried out, of what it made. */
export interface Ids {
  readonly packages: Map<string, TaskPackageId>
  readonly groups: Map<string, WorkerGroupId>
  readonly processes: Map<string, ProcessId>
}

export const unchanged = (kind: Kind, name: string, detail = ""): Step => ({
  kind,
  name,
  action: "unchanged",
  detail,
  run: Effect.void
})

/** The id of something that the plan has made by now, or that was there. */
export const idOf = <I>(ids: ReadonlyMap<string, I>, name: string): Effect.Effect<I> =>
  Effect.suspend(() => {
    const id = ids.get(name)
    return id === undefined ? Effect.die(new Error(`nothing is named ${name}`)) : Effect.succeed(id)
  })
