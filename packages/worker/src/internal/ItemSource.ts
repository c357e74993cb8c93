/**
 * Where work items come from and where what becomes of them goes: a step run of a service, or local files. Another one may
 * be written for a queue of your own.
 */
import type { FileId, WorkItemId } from "@signalbox/api/contract/Ids"
import type { Release } from "@signalbox/api/robot/StepRunSession"
import type { SizedBytes } from "@signalbox/api/Upload"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { RobotError } from "../RobotError.ts"

export type { Release } from "@signalbox/api/robot/StepRunSession"

/** A file of a work item. `size` is in bytes. */
export interface ItemFile {
  readonly id: FileId
  readonly name: string
  readonly size: number
}

/** What a task gets to see of an item. */
export interface OpenedItem {
  readonly payload: Schema.Json
  readonly files: ReadonlyArray<ItemFile>
}

/** An item that is now in hand. One that cannot be opened is failed, and the next is asked for. */
export interface ReservedItem {
  readonly id: WorkItemId
  readonly open: Effect.Effect<OpenedItem, RobotError>
}

/** An item that is done with. */
export interface SettledItem {
  readonly id: WorkItemId
  readonly release: Release
}

/** One item is in hand at a time. `E`: why there is no going on. */
export interface ItemSource<out E = RobotError> {
  /** Settles the item in hand, if there is one, and reserves the next if `more`; null when none waits. */
  readonly advance: (settled: SettledItem | null, more: boolean) => Effect.Effect<ReservedItem | null, E>
  /** Makes an output of the item in hand. It counts only if the item completes. */
  readonly createOutput: (
    item: WorkItemId,
    payload: Schema.Json,
    files: ReadonlyArray<SizedBytes>
  ) => Effect.Effect<void, RobotError>
  readonly setPayload: (item: WorkItemId, payload: Schema.Json) => Effect.Effect<void, RobotError>
  readonly files: (item: WorkItemId) => Effect.Effect<ReadonlyArray<ItemFile>, RobotError>
  readonly download: (item: WorkItemId, file: ItemFile) => Stream.Stream<Uint8Array, RobotError>
  /** A file of the same name is replaced. */
  readonly attachFile: (item: WorkItemId, file: SizedBytes) => Effect.Effect<void, RobotError>
  readonly removeFile: (item: WorkItemId, file: ItemFile) => Effect.Effect<void, RobotError>
}
