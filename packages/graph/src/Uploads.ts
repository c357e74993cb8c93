/**
 * Uploads: small ones in one request, others in fragments that survive lost connections, lost responses and the end of the
 * process. Paths of local files are in `Files`.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as HttpBody from "effect/http/HttpBody"
import { type DriveAddress, type ItemAddress, itemPath } from "./Drive.ts"
import * as Drives from "./Drives.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { json, refuse } from "./internal/requests/Call.ts"
import { type Difference, differenceOf, reportOrFail } from "./internal/files/Difference.ts"
import * as Reader from "./internal/files/Reader.ts"
import { sizeProblem, sourceOf, type UploadSource } from "./internal/files/Sources.ts"
import * as Session from "./internal/files/UploadSession.ts"
import { DriveItem, UploadSession } from "./model/Drive.ts"
import { SourceFailed, TransferError, transferError, UploadLost } from "./TransferError.ts"

export { Difference } from "./internal/files/Difference.ts"
export type { UploadSource } from "./internal/files/Sources.ts"
export type { Progress } from "./internal/files/UploadSession.ts"

/** An upload that is not finished: where it goes, which is a secret. Store it as JSON through this schema. */
export class UploadState extends Schema.Opaque<UploadState>()(
  Schema.Struct({
    uploadUrl: Schema.RedactedFromValue(Schema.String),
    /** Bytes of the whole. */
    size: Schema.Finite,
    /** When the service forgets it, null if it did not say; each fragment moves that on. */
    expirationDateTime: Schema.NullOr(Schema.String)
  })
) {}

export interface UploadOptions extends Drives.IfMatch {
  /** What becomes of a file that has this name. Default `replace`. */
  readonly conflict?: Drives.Conflict | undefined
  /** The times of the file as its owner sees them. */
  readonly fileSystemInfo?: Drives.Times | undefined
  /** Bytes per request of a large upload: a multiple of 327,680 below 60 MiB; one is in memory. Default 10 MiB. */
  readonly fragmentBytes?: number | undefined
  /**
   * Whether size and hash of the stored file are compared. Default true. A difference fails as `Mismatch`; in a document library of
   * a site, which rewrites Office files as it stores them, it is logged and returned in `difference`.
   */
  readonly verify?: boolean | undefined
  readonly onProgress?: ((progress: Session.Progress) => Effect.Effect<void>) | undefined
  /**
   * Called with the state of each session that is opened. With it an upload that fails or is interrupted stays open, for
   * `resume`; without it such an upload is cancelled.
   */
  readonly keep?: ((state: UploadState) => Effect.Effect<void>) | undefined
  /** The state of an upload of the same bytes to the same place that did not finish. */
  readonly resume?: UploadState | undefined
}

/** A file that was uploaded, as the service has it now. */
export interface Uploaded extends DriveItem {
  /** How it differs from what was sent, which document libraries do to Office files. Null: not, or it was not compared. */
  readonly difference: Difference | null
}

/** Up to this size one request is enough. */
const simpleBytes = 4 * 1024 * 1024
const unit = 327_680
const mostFragmentBytes = 60 * 1024 * 1024
const defaultFragmentBytes = 10 * 1024 * 1024
/** How often a lost session is replaced. */
const mostSessions = 3

const one = json(DriveItem)
const session = json(UploadSession)

/** Everything about one upload. */
interface Job {
  readonly drive: DriveAddress
  readonly item: ItemAddress
  readonly options: UploadOptions
  readonly source: Reader.Source
  readonly reader: Reader.Reader
}

const conflictOf = ({ options }: Job): Drives.Conflict => options.conflict ?? "replace"

const headersOf = ({ drive, options }: Job) => ({
  ...drive.headers,
  ...defined({ "If-Match": options.ifMatch })
})

/** The file, if it is there with exactly these bytes: an answer was lost, and the work is done. */
const alreadyThere = Effect.fnUntraced(function* ({ drive, item, reader, source }: Job) {
  const hash = reader.hash()
  const found = yield* Drives.item(drive, item).pipe(Effect.catchReason("GraphError", "NotFound", () => Effect.void))
  const same = hash !== null && found?.size === source.size && found.file?.hashes?.quickXorHash === hash
  return same ? found : undefined
})

const words = {
  size: ({ here, there }: Difference) => `the stored file has ${there} bytes, ${here} were sent`,
  hash: "the stored file has other contents",
  remedy: "check it, or upload with verify: false"
}

const verified = Effect.fnUntraced(function* ({ drive, options, reader, source }: Job, item: DriveItem) {
  const difference = options.verify === false ? null : differenceOf({ size: source.size, hash: reader.hash() }, item)
  if (difference !== null) yield* reportOrFail(drive, item, difference, words)
  const uploaded: Uploaded = { ...item, difference }
  return uploaded
})

/** The answer did not come, but the bytes may have arrived. */
const mayBeThere = ({ reason }: GraphError): boolean =>
  (reason._tag === "Unreachable" && reason.sent === "maybe") ||
  reason._tag === "Unavailable" ||
  reason._tag === "Timeout"

const simple = Effect.fnUntraced(function* (job: Job) {
  const { drive, item, reader, source } = job
  const body = source.size === 0 ? new Uint8Array() : yield* reader.read(0, source.size)
  // An upload that fails or is renamed when the name exists is not sent twice: the second would conflict with the first.
  const repeatable = conflictOf(job) === "replace" && job.options.ifMatch === undefined
  const stored = yield* one({
    method: "PUT",
    path: itemPath(drive, item, "content"),
    query: { "@microsoft.graph.conflictBehavior": conflictOf(job) },
    headers: headersOf(job),
    body: HttpBody.uint8Array(body),
    timed: false,
    repeatable
  }).pipe(
    Effect.catchIf(mayBeThere, (error) =>
      Effect.flatMap(alreadyThere(job), (found) => (found === undefined ? Effect.fail(error) : Effect.succeed(found)))
    )
  )
  const { fileSystemInfo, onProgress } = job.options
  if (onProgress !== undefined) yield* onProgress({ sent: source.size, total: source.size })
  return fileSystemInfo === undefined ? stored : yield* Drives.update(drive, stored, { fileSystemInfo })
})

const openSession = Effect.fnUntraced(function* (job: Job) {
  const { drive, item, options, source } = job
  const { expirationDateTime, uploadUrl } = yield* session({
    method: "POST",
    path: itemPath(drive, item, "createUploadSession"),
    headers: headersOf(job),
    json: {
      item: {
        "@microsoft.graph.conflictBehavior": conflictOf(job),
        fileSystemInfo: options.fileSystemInfo
      }
    },
    // The service drops an unused session.
    repeatable: true
  })
  const state: UploadState = { uploadUrl, size: source.size, expirationDateTime: expirationDateTime ?? null }
  if (options.keep !== undefined) yield* options.keep(state)
  return state
})

const whole = (size: number): ReadonlyArray<Session.Range> => [{ from: 0, to: size }]

/** Sends through one session; one that cannot be resumed is cancelled when it does not complete. */
const throughSession = Effect.fnUntraced(function* (
  job: Job,
  state: UploadState,
  left: ReadonlyArray<Session.Range>,
  fragmentBytes: number
) {
  const { options, reader, source } = job
  const { name, size } = source
  return yield* Session.transfer(
    { url: state.uploadUrl, name, size, fragmentBytes, onProgress: options.onProgress, read: Session.ofDrive },
    reader,
    left
  ).pipe(
    Effect.onError(() => (options.keep === undefined ? Effect.ignore(Session.cancel(state.uploadUrl)) : Effect.void))
  )
})

/** The offset at which an upload continues; undefined: its session has ended. */
const resumed = Effect.fnUntraced(function* ({ source }: Job, state: UploadState | undefined) {
  if (state === undefined) return undefined
  if (state.size !== source.size) {
    const message = `the upload to resume has ${state.size} bytes, the source has ${source.size}: upload it without resume`
    return yield* transferError(new SourceFailed({ message }), source.name)
  }
  return yield* Session.missing(state.uploadUrl, source.size).pipe(
    Effect.map((left) => ({ state, left })),
    Effect.catchIf(Session.isGone, () => Effect.void)
  )
})

const inFragments = Effect.fnUntraced(function* (
  job: Job,
  fragmentBytes: number
): Effect.fn.Return<DriveItem, GraphError | TransferError, Graph> {
  let begun = yield* resumed(job, job.options.resume)
  for (let sessions = 1; ; sessions++) {
    const { left, state } = begun ?? { state: yield* openSession(job), left: whole(job.source.size) }
    begun = undefined
    const outcome = yield* throughSession(job, state, left, fragmentBytes)
    if (outcome._tag === "Done") return outcome.item
    const found = outcome.complete ? yield* alreadyThere(job) : undefined
    if (found !== undefined) return found
    const maybeThere = outcome.complete && conflictOf(job) === "rename"
    if (sessions >= mostSessions || maybeThere) {
      const message = maybeThere
        ? "the last answer was lost: the file may be there under another name"
        : `the service lost ${sessions} sessions of this upload; nothing was stored`
      return yield* transferError(new UploadLost({ message }), job.source.name)
    }
  }
})

const fragmentProblem = (bytes: number): string | null =>
  Number.isInteger(bytes) && bytes > 0 && bytes % unit === 0 && bytes < mostFragmentBytes
    ? null
    : `fragmentBytes: ${bytes} is no multiple of ${unit} below ${mostFragmentBytes}; leave it out or give such a number`

const nameOf = (item: ItemAddress): string | null => item.path?.split(/[/\\]/).findLast((name) => name !== "") ?? null

/**
 * Puts bytes where a file is or will be: `{ path }`, or `{ id, path }` below a folder; folders that are missing are made. `{ id }`
 * replaces the contents of that file. Up to 4 MiB go in one request, more in fragments; memory holds one of them.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Uploads from "@signalbox/graph/Uploads"
 * import * as Effect from "effect/Effect"
 * import type * as Stream from "effect/Stream"
 *
 * export const backup = (size: number, stream: Stream.Stream<Uint8Array>) =>
 *   Uploads.upload(
 *     Drive.me,
 *     { path: "/Backups/today.tar" },
 *     { size, stream },
 *     {
 *       conflict: "fail",
 *       onProgress: ({ sent, total }) =>
 *         Effect.log(`${Math.floor((100 * sent) / total)} %`)
 *     }
 *   )
 * ```
 */
export const upload = Effect.fn("Uploads.upload")(function* (
  drive: DriveAddress,
  item: ItemAddress,
  bytes: UploadSource,
  options: UploadOptions = {}
): Effect.fn.Return<Uploaded, GraphError | TransferError, Graph> {
  const fragmentBytes = options.fragmentBytes ?? defaultFragmentBytes
  const source = sourceOf(bytes, nameOf(item))
  const problem = fragmentProblem(fragmentBytes) ?? sizeProblem(source)
  if (problem !== null) return yield* refuse("PUT", itemPath(drive, item).shown, problem)
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const job: Job = { drive, item, options, source, reader: yield* Reader.make(source) }
      const needsSession =
        source.size > simpleBytes ||
        options.fileSystemInfo !== undefined ||
        options.keep !== undefined ||
        options.resume !== undefined
      // A session takes no empty file.
      const stored = source.size === 0 || !needsSession ? simple(job) : inFragments(job, fragmentBytes)
      return yield* verified(job, yield* stored)
    })
  )
})

/** Ends an upload that is not to be resumed; what was sent of it is thrown away. */
export const cancel = Effect.fn("Uploads.cancel")((state: UploadState) => Session.cancel(state.uploadUrl))
