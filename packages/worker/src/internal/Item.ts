/**
 * A work item as task code has it in hand.
 */
import type { UploadSource } from "@signalbox/api/Upload"
import type { WorkItemId } from "@signalbox/api/contract/Ids"
import type * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { ItemFile } from "./ItemSource.ts"
import type { RobotError } from "../RobotError.ts"
import type { ApplicationFailure, BusinessFailure, FileMissing } from "./TaskFailure.ts"

/** The work item in hand. */
export interface Item<out Payload> {
  readonly id: WorkItemId
  readonly payload: Payload
  /** As they are now: what is attached or removed shows here. */
  readonly files: ReadonlyArray<ItemFile>
  /** The bytes of a file as they arrive; of two files with one name, the later. */
  readonly readFile: (name: string) => Stream.Stream<Uint8Array, FileMissing | RobotError>
  /** The whole of a file as UTF-8 text. */
  readonly readText: (name: string) => Effect.Effect<string, FileMissing | RobotError>
  /** Saves a file under a local path, which it has once it is whole. */
  readonly saveFile: (
    name: string,
    path: string
  ) => Effect.Effect<void, FileMissing | RobotError, FileSystem.FileSystem>
  /** Attaches a file to this item; one of the same name is replaced. Outputs get files of their own. */
  readonly attachFile: (file: OutputFile) => Effect.Effect<void, RobotError>
  readonly removeFile: (name: string) => Effect.Effect<void, FileMissing | RobotError>
  /** Replaces the payload that is stored, such as with a mark for the next attempt; `payload` stays as it is. */
  readonly setPayload: (payload: Schema.Json) => Effect.Effect<void, RobotError>
}

/** An item of `Robot.inputs` or `Robot.forEachInput`. */
export interface Input<out Payload> extends Item<Payload> {
  /** Makes an output, which counts only if the item completes. */
  readonly createOutput: (
    payload: Schema.Json,
    options?: { readonly files: ReadonlyArray<OutputFile> }
  ) => Effect.Effect<void, RobotError>
  /** The item is to be released as failed; the last failure counts. */
  readonly fail: (failure: BusinessFailure | ApplicationFailure) => Effect.Effect<void>
}

/** Bytes with a name, a stream of known size, or a path (with the layers of `@signalbox/api/node`, or in a program). */
export type OutputFile = UploadSource
