/**
 * Built environments by their digest, in a folder that the workers of one machine share. A digest has a folder with a lock,
 * and in it numbered environments, of which the last that is ready is used:
 *
 *     <digest>/<number>/env          the environment, where it was built, read-only
 *     <digest>/<number>/ready.json   written last: without it nothing is there
 *     <digest>/<number>/users/       a file for each step run that uses it, with the process of its worker
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import * as Orphans from "../process/Orphans.ts"
import * as RunFolders from "../process/RunFolders.ts"
import * as Lock from "./Lock.ts"
import type { BuildFailure } from "./Provider.ts"
import * as Tree from "../process/Tree.ts"

/** What is known of an environment that is ready. */
export const Ready = Schema.Struct({
  recipe: Schema.Json,
  provider: Schema.String,
  installed: Schema.Array(Schema.String),
  /** How long the build took. */
  seconds: Schema.Finite,
  bytes: Schema.Finite,
  /** ISO 8601. */
  built_at: Schema.String
})
export interface Ready extends Schema.Schema.Type<typeof Ready> {}

const encode = Schema.encodeSync(Schema.fromJsonString(Ready))
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Ready))

/** Where one number of a digest is. */
export interface Place {
  readonly folder: string
  readonly prefix: string
}

interface Found extends Place {
  readonly ready: Ready
  /** In milliseconds. */
  readonly lastUsed: number
}

/** How long, in milliseconds, an environment is used whose versions are not exact. */
const maxAge = 7 * 24 * 60 * 60 * 1000

const placeOf = (folder: string): Place => ({ folder, prefix: join(folder, "env") })
const fileOf = ({ folder }: Place) => join(folder, "ready.json")
const usersOf = ({ folder }: Place) => join(folder, "users")

export const make = Effect.fnUntraced(function* (options: { readonly folder: string; readonly limit: number }) {
  const { folder: root, limit } = options
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(root, { recursive: true, mode: 0o700 })

  const gone = () => join(root, `.gone-${crypto.randomUUID()}`)
  const list = (folder: string) => Effect.orElseSucceed(fs.readDirectory(folder), (): ReadonlyArray<string> => [])
  const numbersOf = (folder: string) =>
    Effect.map(list(folder), (names) =>
      names
        .filter((name) => /^[1-9]\d*$/.test(name))
        .map(Number)
        .toSorted((a, b) => b - a)
    )

  const inspect = Effect.fnUntraced(function* (folder: string) {
    const place = placeOf(folder)
    const ready = Option.flatMap(yield* Effect.option(fs.readFileString(fileOf(place))), decode)
    const info = yield* Effect.option(fs.stat(fileOf(place)))
    if (Option.isNone(ready) || Option.isNone(info)) return null
    const lastUsed = Option.match(info.value.mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
    const found: Found = { ...place, ready: ready.value, lastUsed }
    return found
  })

  const isUsed = Effect.fnUntraced(function* (place: Place) {
    for (const name of yield* list(usersOf(place))) {
      if ((yield* Orphans.running(join(usersOf(place), name))) !== null) return true
    }
    return false
  })

  const remove = (place: Place) => Tree.remove(place.folder, gone())

  /** Under the lock: ends and removes what a killed builder left behind, and removes what is not needed any more. */
  const tidy = Effect.fnUntraced(function* (folder: string) {
    let newest: Found | null = null
    for (const number of yield* numbersOf(folder)) {
      const path = join(folder, String(number))
      const found = yield* inspect(path)
      if (found === null) {
        yield* RunFolders.endLeftovers(path)
        yield* remove(placeOf(path))
      } else if (newest === null) newest = found
      else if (!(yield* isUsed(found))) yield* remove(found)
    }
    return newest
  })

  const use = Effect.fnUntraced(function* (place: Place) {
    const now = new Date(yield* Clock.currentTimeMillis)
    yield* fs.utimes(fileOf(place), now, now)
    const mark = join(usersOf(place), crypto.randomUUID())
    yield* Effect.acquireRelease(Orphans.write(mark, process.pid), () =>
      Effect.ignore(fs.remove(mark, { force: true }))
    )
  })

  /** What is ready, of all digests. */
  const all = Effect.gen(function* () {
    const found: Array<Found & { readonly digest: string }> = []
    for (const digest of (yield* list(root)).filter((name) => !name.startsWith("."))) {
      for (const number of yield* numbersOf(join(root, digest))) {
        const one = yield* inspect(join(root, digest, String(number)))
        if (one !== null) found.push({ ...one, digest })
      }
    }
    return found
  })

  /** Removes what was not used for longest until the rest has room; never what is in use. */
  const evict = Effect.gen(function* () {
    const found = yield* all
    let total = found.reduce((sum, { ready }) => sum + ready.bytes, 0)
    for (const one of found.toSorted((a, b) => a.lastUsed - b.lastUsed)) {
      if (total <= limit) return
      const removal = Effect.gen(function* () {
        if (yield* isUsed(one)) return
        yield* remove(one)
        total -= one.ready.bytes
      })
      yield* Lock.ifFree(join(one.folder, ".."), removal)
    }
  }).pipe(Effect.ignore)

  /** What was renamed to be removed by one that was killed. */
  yield* Effect.forEach(
    (yield* list(root)).filter((name) => name.startsWith(".gone-")),
    (name) => Tree.removeGone(join(root, name)),
    { discard: true }
  )

  return {
    caches: join(root, ".caches"),
    /** What is ready, and whether a step run is in it. */
    list: Effect.flatMap(all, (found) =>
      Effect.forEach(found, (one) => Effect.map(isUsed(one), (inUse) => ({ ...one, inUse })))
    ),
    /** Removes what is there of a digest, and resolves to true; false when it is in use or built, and nothing is removed. */
    remove: Effect.fnUntraced(function* (digest: string) {
      const folder = join(root, digest)
      let removed = false
      const removal = Effect.gen(function* () {
        const places = (yield* numbersOf(folder)).map((number) => placeOf(join(folder, String(number))))
        for (const place of places) if (yield* isUsed(place)) return
        yield* Effect.forEach(places, remove, { discard: true })
        removed = true
      })
      yield* Lock.ifFree(folder, removal)
      return removed
    }),
    /**
     * Resolves to the environment of a digest, in use until the scope closes. `build` is run for one that is not there, or
     * too old; several that want the same one wait for one build.
     */
    acquire: Effect.fnUntraced(function* <R>(
      digest: string,
      {
        fresh,
        isPinned
      }: {
        readonly isPinned: boolean
        /** Build it anew beside the one that is there, which those that run in it keep. */
        readonly fresh: boolean
      },
      on: {
        /** Another one builds it; run once. */
        readonly wait: Effect.Effect<void>
        readonly build: (
          place: Place
        ) => Effect.Effect<Pick<Ready, "recipe" | "provider">, BuildFailure | PlatformError, R>
        /** A new one could not be built, so that the old one is used. */
        readonly stale: (error: BuildFailure | PlatformError) => Effect.Effect<void>
      }
    ) {
      const folder = join(root, digest)
      yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })

      const build = Effect.fnUntraced(function* () {
        const begin = yield* Clock.currentTimeMillis
        const [last = 0] = yield* numbersOf(folder)
        const place = placeOf(join(folder, String(last + 1)))
        const ready = yield* Effect.gen(function* () {
          yield* fs.makeDirectory(usersOf(place), { recursive: true, mode: 0o700 })
          const built = yield* on.build(place)
          const installed = yield* Tree.installed(place.prefix)
          const bytes = yield* Tree.seal(place.prefix)
          const end = yield* Clock.currentTimeMillis
          const ready: Ready = {
            ...built,
            installed,
            bytes,
            seconds: (end - begin) / 1000,
            built_at: new Date(end).toISOString()
          }
          yield* fs.writeFileString(`${fileOf(place)}.new`, encode(ready), { mode: 0o600 })
          yield* fs.rename(`${fileOf(place)}.new`, fileOf(place))
          return ready
        }).pipe(Effect.onError(() => remove(place)))
        return { ...place, ready }
      })

      const find = Effect.gen(function* () {
        const newest = yield* tidy(folder)
        const now = yield* Clock.currentTimeMillis
        if (newest !== null && !fresh && (isPinned || now - Date.parse(newest.ready.built_at) <= maxAge)) {
          return { place: newest, cached: true }
        }
        if (newest === null || fresh) return { place: yield* build(), cached: false }
        // Better an old one than none where an index is away.
        return yield* build().pipe(
          Effect.map((place) => ({ place, cached: false })),
          Effect.catch((error) => Effect.as(on.stale(error), { place: newest, cached: true }))
        )
      })
      const inUse = Effect.tap(find, ({ place }) => use(place))
      const found = yield* Lock.withLock(folder, on.wait, inUse)
      if (!found.cached) yield* evict
      return found
    })
  }
})

export type Store = Effect.Success<ReturnType<typeof make>>
