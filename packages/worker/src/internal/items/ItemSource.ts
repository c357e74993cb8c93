/**
 * Where work items come from and their results go: a step run of a service, or local files. Implement it for a queue of
 * your own.
 */
import type { FileId, WorkItemId } from "@signalbox/api/contract/Ids"
import type { Release } from "@signalbox/api/robot/StepRunSession"
import type { RoundedPath } from "@signalbox/api/robot/WorkerProtocol"
import type { SizedBytes } from "@signalbox/api/Upload"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { RobotError } from "../../RobotError.ts"

export type { Release } from "@signalbox/api/robot/StepRunSession"

/** A file of a work item. `size` is in bytes. */
export interface ItemFile {
  readonly id: FileId
  readonly name: string
  readonly size: number
}

/** What a task sees of an item. */
export interface OpenedItem {
  readonly payload: Schema.Json
  readonly files: ReadonlyArray<ItemFile>
  /** The paths of numbers in the payload that were rounded when it was read; absent: none. */
  readonly rounded?: ReadonlyArray<RoundedPath>
}

/** An item that was reserved. One that cannot be opened is failed, and the next is reserved. */
export interface ReservedItem {
  readonly id: WorkItemId
  readonly open: Effect.Effect<OpenedItem, RobotError>
}

/** An item to settle. */
export interface SettledItem {
  readonly id: WorkItemId
  readonly release: Release
}

/** One item is reserved at a time. `E`: the failures that end the loop. */
export interface ItemSource<out E = RobotError> {
  /** Settles the reserved item, if any, and reserves the next if `more`; null when none waits. */
  readonly advance: (settled: SettledItem | null, more: boolean) => Effect.Effect<ReservedItem | null, E>
  /** Creates an output of the reserved item. It is passed on unless the item is released without its outputs. */
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
