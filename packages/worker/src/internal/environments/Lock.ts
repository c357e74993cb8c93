/**
 * A lock between the processes of one machine, which one that was killed loses. A holder is a file `lock.N` with the process
 * that made it. Whoever finds the last of them dead makes the next number: of two, one succeeds. Those of the dead stay, so
 * that no number is given twice.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import { join } from "node:path"
import * as Orphans from "../process/Orphans.ts"

const pause = "50 millis"

const numberOf = (name: string) => Number(/^lock\.(\d+)$/.exec(name)?.[1] ?? 0)

/** Takes the lock, unless another holds it: then null. Else the file that holds it. */
const take = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const last = Math.max(0, ...(yield* fs.readDirectory(folder)).map(numberOf))
  // One that was released since it was listed has not ended: another may take its number, and a higher one would be a
  // second lock.
  if (last > 0 && !(yield* Orphans.hasEnded(join(folder, `lock.${last}`)))) return null
  const temporary = join(folder, `.lock-${crypto.randomUUID()}`)
  const file = join(folder, `lock.${last + 1}`)
  yield* Orphans.write(temporary, process.pid)
  // Whole as soon as it is there, and never over another.
  const taken = yield* fs.link(temporary, file).pipe(
    Effect.as(true),
    Effect.catchIf(
      ({ reason }) => reason._tag === "AlreadyExists",
      () => Effect.succeed(false)
    ),
    Effect.ensuring(Effect.ignore(fs.remove(temporary, { force: true })))
  )
  return taken ? file : null
}, Effect.uninterruptible)

const release = (file: string | null) =>
  file === null
    ? Effect.void
    : Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.ignore(fs.remove(file, { force: true })))

/** Runs an effect under the lock of a folder, which exists. `onWait` is run once when it has to wait. */
export const withLock = <A, E, R, R2>(
  folder: string,
  onWait: Effect.Effect<void, never, R2>,
  use: Effect.Effect<A, E, R>
) => {
  const wait = Effect.gen(function* () {
    let waits = 0
    for (;;) {
      const file = yield* take(folder)
      if (file !== null) return file
      // Only here: a lock that was taken is always released.
      yield* Effect.interruptible(Effect.andThen(waits++ === 0 ? onWait : Effect.void, Effect.sleep(pause)))
    }
  })
  return Effect.acquireUseRelease(wait, () => use, release)
}

/** Runs an effect under the lock of a folder if the lock is free. */
export const ifFree = <E, R>(
  folder: string,
  use: Effect.Effect<void, E, R>
): Effect.Effect<void, E | PlatformError, R | Effect.Services<ReturnType<typeof take>>> =>
  Effect.acquireUseRelease(take(folder), (file) => (file === null ? Effect.void : use), release)
