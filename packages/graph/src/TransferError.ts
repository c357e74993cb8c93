/**
 * What uploads, downloads and jobs can fail with besides `GraphError`. No error holds an address that gives access.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Schema from "effect/Schema"

const message = { message: Schema.String }

/** The item has no contents to download: a folder, a notebook (`package`), or something that was deleted. */
export class NotAFile extends TaggedError<NotAFile>()("NotAFile", {
  ...message,
  is: Schema.Literals(["folder", "package", "deleted", "other"])
}) {}

/** The item is no folder. */
export class NotAFolder extends TaggedError<NotAFolder>()("NotAFolder", message) {}

/** What arrived differs from what was sent. `of`: which of the two differs. */
export class Mismatch extends TaggedError<Mismatch>()("Mismatch", {
  ...message,
  of: Schema.Literals(["size", "hash"])
}) {}

/** The file changed while it was being downloaded, or the local one while it was being uploaded. */
export class Changed extends TaggedError<Changed>()("Changed", message) {}

/** The file is as `ifNoneMatch` says: there is nothing new to download. */
export class NotModified extends TaggedError<NotModified>()("NotModified", message) {}

/** The source of an upload failed, or is not as long as was said. */
export class SourceFailed extends TaggedError<SourceFailed>()("SourceFailed", message) {}

/** A local file or folder could not be read or written. */
export class LocalFailed extends TaggedError<LocalFailed>()("LocalFailed", {
  ...message,
  path: Schema.String
}) {}

/** The service lost the upload more often than it is worth to start again, or never acknowledges what is sent. */
export class UploadLost extends TaggedError<UploadLost>()("UploadLost", message) {}

/** A job of the service (a copy) failed. */
export class JobFailed extends TaggedError<JobFailed>()("JobFailed", message) {}

export const Reason = Schema.Union([
  NotAFile,
  NotAFolder,
  Mismatch,
  Changed,
  NotModified,
  SourceFailed,
  LocalFailed,
  UploadLost,
  JobFailed
])
export type Reason = typeof Reason.Type

/**
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Downloads from "@signalbox/graph/Downloads"
 * import * as Effect from "effect/Effect"
 *
 * export const text = Downloads.bytes(Drive.me, { path: "/Notes" }).pipe(
 *   Effect.catchReason("TransferError", "NotAFile", () =>
 *     Effect.succeed(new Uint8Array())
 *   )
 * )
 * ```
 */
export class TransferError extends TaggedError<TransferError>()("TransferError", {
  reason: Reason,
  /** The name of the file or folder, as far as it is known. */
  item: Schema.NullOr(Schema.String)
}) {
  override get message(): string {
    return `${this.reason._tag}: ${this.reason.message}${this.item === null ? "" : ` (${this.item})`}`
  }
}

/** An error about something of this name. */
export const transferError = (reason: Reason, name: string | null | undefined = null): TransferError =>
  new TransferError({ reason, item: name ?? null })
