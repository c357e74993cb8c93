/**
 * A small file of one user: readable by its owner alone, replaced as a whole, and changed by one process at a time.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Semaphore from "effect/Semaphore"
import { uuidV4Unsafe } from "effect/crypto/SecureRandom"
import { dirname } from "node:path"
import { TokenStoreError } from "../../TokenStore.ts"
import { hold } from "./FileLock.ts"

export interface PrivateFile {
  /** None: there is no such file. */
  readonly read: Effect.Effect<Option.Option<string>, TokenStoreError>
  readonly replace: (text: string) => Effect.Effect<void, TokenStoreError>
  readonly exclusive: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TokenStoreError, R>
}

/** `name`: what errors call the file. Its folder is made when it is missing. */
export const make = Effect.fnUntraced(function* (
  name: string,
  path: string
): Effect.fn.Return<PrivateFile, never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const permit = yield* Semaphore.make(1)
  const failed = (what: string) => (error: PlatformError) =>
    new TokenStoreError({ message: `cannot ${what} ${name} (${path}): ${error.message}` })
  const folder = fs.makeDirectory(dirname(path), { recursive: true, mode: 0o700 })

  /** Written beside, on the disk, then renamed: a reader sees the old file or the new one. */
  const replace = Effect.fnUntraced(function* (text: string) {
    const temporary = `${path}.${uuidV4Unsafe()}.tmp`
    yield* folder
    yield* Effect.scoped(
      Effect.gen(function* () {
        const file = yield* fs.open(temporary, { flag: "wx", mode: 0o600 })
        yield* file.writeAll(new TextEncoder().encode(text))
        yield* file.sync
      })
    ).pipe(
      Effect.andThen(fs.rename(temporary, path)),
      Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true })))
    )
  })

  return {
    read: fs.readFileString(path).pipe(
      Effect.asSome,
      Effect.catchReason("PlatformError", "NotFound", () => Effect.succeedNone),
      Effect.mapError(failed("read"))
    ),
    replace: (text) => Effect.mapError(replace(text), failed("write")),
    exclusive: (effect) =>
      permit.withPermits(1)(
        Effect.scoped(
          Effect.andThen(
            Effect.andThen(Effect.mapError(folder, failed("make the folder of")), hold(`${path}.lock`)),
            effect
          )
        )
      )
  }
})
