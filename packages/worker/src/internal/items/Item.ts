/** A reserved work item, as task code uses it. */
import type { UploadSource } from "@signalbox/api/Upload"
import type { WorkItemId } from "@signalbox/api/contract/Ids"
import type * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { ItemFile } from "./ItemSource.ts"
import type { RobotError } from "../../RobotError.ts"
import type { ApplicationFailure, BusinessFailure, FileMissing } from "../outcome/TaskFailure.ts"

/** A reserved work item. */
export interface Item<out Payload> {
  readonly id: WorkItemId
  readonly payload: Payload
  /** The current files: attached and removed ones are reflected. */
  readonly files: ReadonlyArray<ItemFile>
  /** Emits the bytes of a file; of two files with one name, the later. */
  readonly readFile: (name: string) => Stream.Stream<Uint8Array, FileMissing | RobotError>
  /** Returns the whole content of a file as UTF-8 text. */
  readonly readText: (name: string) => Effect.Effect<string, FileMissing | RobotError>
  /** Saves a file under a local path, at which it appears when it is complete. */
  readonly saveFile: (
    name: string,
    path: string
  ) => Effect.Effect<void, FileMissing | RobotError, FileSystem.FileSystem>
  /** Attaches a file to this item; one of the same name is replaced. Files of outputs are separate. */
  readonly attachFile: (file: OutputFile) => Effect.Effect<void, RobotError>
  readonly removeFile: (name: string) => Effect.Effect<void, FileMissing | RobotError>
  /**
   * Replaces the stored payload, such as to leave a mark for the next attempt; `payload` does not change. Fails with
   * `NumberRounded` where JavaScript rounded a number that stands unchanged at its path.
   */
  readonly setPayload: (payload: Schema.Json) => Effect.Effect<void, RobotError>
}

/** An item of `Robot.inputs` or `Robot.forEachInput`. */
export interface Input<out Payload> extends Item<Payload> {
  /** Creates an output, which is passed on only if the item completes. */
  readonly createOutput: (
    payload: Schema.Json,
    options?: { readonly files: ReadonlyArray<OutputFile> }
  ) => Effect.Effect<void, RobotError>
  /** Marks the item to be released as failed; the last failure wins. */
  readonly fail: (failure: BusinessFailure | ApplicationFailure) => Effect.Effect<void>
}

/** Bytes with a name, a stream of known size, or a path (with the layers of `@signalbox/api/node`, or in a program). */
export type OutputFile = UploadSource
