/**
 * The sessions of large files that are not finished, in a file of the user: another process resumes them. Whoever has the file may
 * write to these uploads, so it is readable by its owner alone.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { uuidV4Unsafe } from "effect/crypto/SecureRandom"
import { LocalFailed, type TransferError, transferError } from "../../TransferError.ts"
import { UploadState } from "../../Uploads.ts"
import { localFailed } from "./LocalFile.ts"

const Entry = Schema.Struct({ state: UploadState, modified: Schema.NullOr(Schema.Finite) })
const File = Schema.fromJsonString(Schema.Record(Schema.String, Entry))
const decode = Schema.decodeEffect(File)
const encode = Schema.encodeEffect(File)

/** A state of a local file. */
export interface Version {
  readonly size: number
  readonly modified: number | null
}

export interface UploadStates {
  /** The session that a state of a file was sent through. `key`: where the file goes. */
  readonly find: (key: string, version: Version) => UploadState | undefined
  readonly keep: (key: string, version: Version, state: UploadState) => Effect.Effect<void>
  readonly forget: (key: string) => Effect.Effect<void>
}

export const open = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<UploadStates, TransferError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const permit = yield* Semaphore.make(1)
  const text = yield* fs.readFileString(path).pipe(
    Effect.asSome,
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeedNone),
    Effect.mapError(localFailed("read", path))
  )
  const unreadable = transferError(
    new LocalFailed({
      path,
      message: `${path} does not hold the sessions of an upload: name another file, or remove it`
    })
  )
  const stored = Option.isNone(text) ? {} : yield* Effect.mapError(decode(text.value), () => unreadable)
  const entries = new Map(Object.entries(stored))

  /** Written beside, then renamed: another process finds the old file or the new one. Without it the upload itself goes on. */
  const write = Effect.gen(function* () {
    const temporary = `${path}.${uuidV4Unsafe()}.tmp`
    const json = yield* Effect.orDie(encode(Object.fromEntries(entries)))
    yield* fs.writeFileString(temporary, `${json}\n`, { flag: "wx", mode: 0o600 }).pipe(
      Effect.andThen(fs.rename(temporary, path)),
      Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true }))),
      Effect.catch((error) => Effect.logWarning(localFailed("write", path)(error).message))
    )
  }).pipe(permit.withPermits(1), Effect.uninterruptible)

  return {
    find: (key, { modified, size }) => {
      const entry = entries.get(key)
      return entry !== undefined && entry.state.size === size && entry.modified === modified ? entry.state : undefined
    },
    keep: (key, { modified }, state) =>
      Effect.suspend(() => {
        entries.set(key, { state, modified })
        return write
      }),
    forget: (key) => Effect.suspend(() => (entries.delete(key) ? write : Effect.void))
  }
})
