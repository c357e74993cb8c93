/**
 * Keeps blobs from being removed while a backup copies them. A hold has an expiry, which its backup puts off: that of a
 * killed one ends by itself.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schedule from "effect/Schedule"
import { randomUUID } from "node:crypto"
import { BlobStore } from "../../BlobStore.ts"
import { steady } from "../background/BackgroundTask.ts"
import * as BlobHoldRows from "../store/files/BlobHoldRows.ts"

/** How long a hold lasts after its backup last put it off. */
const lifetime = Duration.minutes(2)
const renewal = Duration.seconds(15)
/** How often removals that wait try again. */
const pause = Duration.seconds(10)

interface Holds {
  readonly any: Effect.Effect<boolean>
  readonly add: (id: string, lifetime: number) => Effect.Effect<void>
  /** Returns whether it had not expired. */
  readonly extend: (id: string, lifetime: number) => Effect.Effect<boolean>
  readonly remove: (id: string) => Effect.Effect<void>
}

export class BlobHolds extends Context.Service<BlobHolds, Holds>()("@signalbox/control-room/blobs/BlobHolds") {
  /**
   * As files of a folder: for SQLite, which only the service may write. They say by their time of change when they were
   * put off.
   */
  static readonly layerFolder = (folder: string) =>
    Layer.effect(
      BlobHolds,
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const isValid = Effect.fnUntraced(function* (file: string) {
          const found = yield* Effect.option(fs.stat(file))
          const changed = Option.getOrNull(Option.flatMap(found, ({ mtime }) => mtime))
          const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(lifetime)
          return changed !== null && changed.getTime() > oldest
        })
        const fileOf = (id: string) => path.join(folder, id)
        return BlobHolds.of({
          any: Effect.gen(function* () {
            const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
            for (const name of names) {
              if (yield* isValid(fileOf(name))) return true
              yield* Effect.ignore(fs.remove(fileOf(name)))
            }
            return false
          }),
          add: Effect.fnUntraced(function* (id) {
            yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
            yield* fs.writeFile(fileOf(id), new Uint8Array(), { mode: 0o600 })
          }, Effect.orDie),
          extend: Effect.fnUntraced(function* (id) {
            if (!(yield* isValid(fileOf(id)))) return false
            const at = new Date(yield* Clock.currentTimeMillis)
            yield* fs.utimes(fileOf(id), at, at)
            return true
          }, Effect.orDie),
          remove: (id) => Effect.ignore(fs.remove(fileOf(id)))
        })
      })
    )

  /** As rows, for a database that several nodes use. */
  static readonly layerRows = Layer.effect(BlobHolds, Effect.map(BlobHoldRows.make, BlobHolds.of))

  /** For a storage that has no backup. */
  static readonly layerNone = Layer.succeed(
    BlobHolds,
    BlobHolds.of({
      any: Effect.succeed(false),
      add: () => Effect.void,
      extend: () => Effect.succeed(true),
      remove: () => Effect.void
    })
  )
}

/** Holds every blob until the scope closes. Returns an effect that says whether none can have been removed since. */
export const hold = Effect.gen(function* () {
  const holds = yield* BlobHolds
  const id = randomUUID()
  const millis = Duration.toMillis(lifetime)
  let kept = true
  yield* Effect.acquireRelease(holds.add(id, millis), () => holds.remove(id))
  const extend = Effect.map(holds.extend(id, millis), (extended) => {
    kept = kept && extended
    return kept
  })
  yield* Effect.delay(extend, renewal).pipe(
    Effect.asVoid,
    steady("keeping blobs for the backup"),
    Effect.repeat(Schedule.forever),
    Effect.forkScoped
  )
  return extend
})

/** The blob store whose removals wait until nobody holds the blobs. Those of a service that ends are left to its sweep. */
export const guarded = Layer.effect(
  BlobStore,
  Effect.gen(function* () {
    const store = yield* BlobStore
    const holds = yield* BlobHolds
    const scope = yield* Effect.scope
    const waiting = new Set<string>()
    const removeAll = Effect.gen(function* () {
      if (yield* holds.any) return
      // Not what is added from here on: another backup may hold it.
      for (const blob of Array.from(waiting)) {
        yield* store.remove(blob)
        waiting.delete(blob)
      }
    }).pipe(steady("removing blobs after a backup"))
    /** Removes what waits as soon as it may, including what is added until then. */
    const removeWaiting = Effect.gen(function* () {
      while (waiting.size > 0) yield* Effect.delay(removeAll, pause)
    })
    const wait = (blob: string) =>
      Effect.suspend(() => {
        waiting.add(blob)
        return waiting.size === 1 ? Effect.asVoid(Effect.forkIn(removeWaiting, scope)) : Effect.void
      })
    return BlobStore.of({
      ...store,
      remove: (blob) => Effect.flatMap(holds.any, (held) => (held ? wait(blob) : store.remove(blob))),
      sweep: (named, room) =>
        Effect.flatMap(holds.any, (held) =>
          held
            ? Effect.as(Effect.logInfo("a backup reads the files: unfinished uploads stay until the next start"), 0)
            : store.sweep(named, room)
        )
    })
  })
)
