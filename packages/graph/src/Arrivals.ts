/**
 * What arrives in a folder, handed over at least once, over restarts. A delta says what has arrived; hints, such as those of
 * `Subscriptions.keep`, only say when to look. What was handed over is stored in `ArrivalStore`, and the link of a look only after
 * everything that it found was handed over. A program that is killed hands over again what it was at: make what you make of an arrival
 * under its `key`, and there will be one of it.
 */
import { check, time, whole } from "@signalbox/transport/OptionError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { ArrivalStore, type ArrivalStoreError } from "./ArrivalStore.ts"
import * as Delta from "./Delta.ts"
import { type DriveAddress, type ItemAddress, itemPath, root } from "./Drive.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import type { DriveItem } from "./model/Drive.ts"

/** Something that has arrived. */
export interface Arrival<A> {
  /**
   * The same for the same arrival, whenever it is handed over; different for any other. At most 200 printable ASCII characters without
   * spaces, so that it may be a part of an idempotency key.
   */
  readonly key: string
  /** As it is now. */
  readonly item: A
}

/** Something that a look found. */
export interface Found<A> extends Arrival<A> {
  readonly id: string
  /** What differs when it has arrived anew. */
  readonly version: string
}

/** A page of a look. */
export interface Look<A> {
  readonly found: ReadonlyArray<Found<A>>
  /** Ids of what has gone. */
  readonly gone: ReadonlyArray<string>
  /** On the last page: what the next look begins with. */
  readonly link: string | null
  /** From this page on all that is there comes again. */
  readonly restarted: boolean
}

/** Where things arrive: `files`, or one of your own. */
export interface Source<A> {
  /** What it is, in the log and in the store: how far the looks of another source have come is of no use. */
  readonly name: string
  /** Emits what has changed since a link; null: all that is there. */
  readonly look: (from: string | null) => Stream.Stream<Look<A>, GraphError, Graph>
}

/** Which files arrive. */
export interface FilesOptions {
  /** The folder, with all below it; default the whole drive, which every kind of drive can do. */
  readonly folder?: ItemAddress | undefined
  /** A file whose contents have changed arrives again, under another key. Default: each file arrives once. */
  readonly changed?: boolean | undefined
}

/** What changes with the contents of a file. The service leaves `cTag` out of the deltas of business drives. */
const contentsOf = ({ cTag, eTag, file }: DriveItem): string => cTag ?? file?.hashes?.quickXorHash ?? eTag ?? ""

/**
 * Files that arrive in a drive or a folder of it: uploaded, copied or moved there. The key is the ids of the drive and of the file, with
 * `changed` also of its contents.
 *
 * ```ts
 * import * as Arrivals from "@signalbox/graph/Arrivals"
 * import * as Drive from "@signalbox/graph/Drive"
 *
 * export const inbox = Arrivals.files(Drive.of({ site: "contoso.example,1,2" }), {
 *   folder: { path: "/Inbox" }
 * })
 * ```
 */
export const files = (drive: DriveAddress, options: FilesOptions = {}): Source<DriveItem> => {
  const { changed = false, folder } = options
  const foundIn = (item: DriveItem): Found<DriveItem> => {
    const version = changed ? contentsOf(item) : ""
    const id = `${item.parentReference?.driveId ?? ""}/${item.id}`
    return { id: item.id, version, key: changed ? `${id}/${version}` : id, item }
  }
  return {
    name: `files in ${itemPath(drive, folder ?? root).shown}`,
    look: (from) =>
      Stream.map(
        Delta.stream(drive, { folder, from: from === null ? undefined : Delta.DeltaLink.make(from) }),
        ({ items, link, restarted }) => ({
          found: items.filter(({ deleted, file }) => isThere(file) && !isThere(deleted)).map(foundIn),
          gone: items.filter(({ deleted }) => isThere(deleted)).map(({ id }) => id),
          link,
          restarted
        })
      )
  }
}

const isThere = (facet: unknown): boolean => facet !== undefined && facet !== null

/** How arrivals are handed over. */
export interface LookOptions {
  /** What is there at the very first look: it has arrived (default), or it was there before and is left out. */
  readonly existing?: "arrive" | "skip" | undefined
  /** How many are handed over at the same time; default 4. */
  readonly concurrency?: number | undefined
}

/** What a look came to. */
export interface LookReport<A, E = unknown> {
  readonly handedOver: number
  /** What the handler failed for; it is handed over again at the next look. */
  readonly failed: ReadonlyArray<{ readonly arrival: Arrival<A>; readonly error: E }>
}

/** How many are handed over before the next look at whether to store. */
const partSize = 20

/** A killed program repeats few. The state is stored as a whole, so that of many a tenth may be repeated. */
const isTimeToStore = (unstored: number, seen: number): boolean => unstored >= Math.max(partSize, seen / 10)

const rules = { concurrency: whole(1) }

/** The first of an id comes last, as it is now. */
const newestOf = <A>(found: ReadonlyArray<Found<A>>): ReadonlyArray<Found<A>> => [
  ...new Map(found.map((one) => [one.id, one])).values()
]

const partsOf = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / partSize) }, (_, at) => all.slice(at * partSize, (at + 1) * partSize))

/**
 * Looks once, and hands over what has arrived since the last look. A handler that fails does not keep the others from being handed over;
 * the next look hands its arrival over again.
 *
 * ```ts
 * import * as Arrivals from "@signalbox/graph/Arrivals"
 * import { ArrivalStore } from "@signalbox/graph/ArrivalStore"
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Effect from "effect/Effect"
 *
 * export const once = Arrivals.look(
 *   Arrivals.files(Drive.me, { folder: { path: "/Inbox" } }),
 *   ({ item, key }) => Effect.log(item.name, key)
 * ).pipe(Effect.provide(ArrivalStore.layerFile("./inbox.json")))
 * ```
 */
export const look = Effect.fn("Arrivals.look")(function* <A, E, R>(
  source: Source<A>,
  handle: (arrival: Arrival<A>) => Effect.Effect<unknown, E, R>,
  options: LookOptions = {}
): Effect.fn.Return<LookReport<A, E>, GraphError | ArrivalStoreError, R | Graph | ArrivalStore> {
  check("Arrivals.look", options, rules)
  const { concurrency = 4, existing = "arrive" } = options
  const store = yield* ArrivalStore
  const stored = Option.filter(yield* store.load, ({ source: of }) => of === source.name)
  const { link, seen: before } = Option.getOrElse(stored, () => ({ link: null, seen: {} }))
  const seen = new Map(Object.entries(before))
  const failed = new Map<string, { readonly arrival: Arrival<A>; readonly error: E }>()
  const last: { link: string | null; restarted: boolean } = { link: null, restarted: false }
  let there = new Set<string>()
  let handedOver = 0
  let unstored = 0
  const save = (at: string | null) => {
    unstored = 0
    return store.save({ source: source.name, link: at, seen: Object.fromEntries(seen) })
  }

  const handOver = Effect.fnUntraced(function* ({ id, item, key, version }: Found<A>) {
    const arrival = { key, item }
    const result = yield* Effect.result(handle(arrival))
    if (Result.isFailure(result)) {
      failed.set(id, { arrival, error: result.failure })
    } else {
      seen.set(id, version)
      failed.delete(id)
      handedOver++
      unstored++
    }
  })

  yield* Stream.runForEach(source.look(link), (page) =>
    Effect.gen(function* () {
      if (page.restarted) there = new Set()
      last.restarted ||= page.restarted
      last.link = page.link ?? last.link
      for (const id of page.gone) {
        seen.delete(id)
        failed.delete(id)
      }
      for (const { id } of page.found) there.add(id)
      const fresh = newestOf(page.found).filter(({ id, version }) => seen.get(id) !== version)
      if (link === null && existing === "skip") {
        for (const { id, version } of fresh) seen.set(id, version)
        return
      }
      for (const part of partsOf(fresh)) {
        yield* Effect.forEach(part, handOver, { concurrency, discard: true })
        if (isTimeToStore(unstored, seen.size)) yield* save(link)
      }
    })
  ).pipe(Effect.onError(() => (unstored > 0 ? Effect.ignore(save(link)) : Effect.void)))
  // All that is there came: what was seen and did not come has gone.
  if (last.restarted) for (const id of seen.keys()) if (!there.has(id)) seen.delete(id)
  if (failed.size === 0) yield* save(last.link)
  else if (unstored > 0) yield* save(link)
  return { handedOver, failed: [...failed.values()] }
})

/** How looks follow one another. */
export interface FollowOptions extends LookOptions {
  /** The pause between looks when no hint comes; default 30 seconds. */
  readonly every?: Duration.Input | undefined
  /** When to look without waiting: anything that it emits is a hint. */
  readonly hints?: Stream.Stream<unknown> | undefined
}

const messageOf = (error: unknown): string =>
  Predicate.hasProperty(error, "message") ? String(error.message) : String(error)

/**
 * Looks again and again: when a hint comes, and after a pause in any case. A look that fails, and an arrival that its handler failed for,
 * are warnings in the log and tried again at the next look. Ends only when the sign-in is lost (`Unauthenticated`), or the state cannot
 * be stored.
 *
 * ```ts
 * import * as Arrivals from "@signalbox/graph/Arrivals"
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Subscriptions from "@signalbox/graph/Subscriptions"
 * import * as Effect from "effect/Effect"
 *
 * export const watch = Effect.fn(function* (kept: Subscriptions.Kept) {
 *   const inbox = Arrivals.files(Drive.me, { folder: { path: "/Inbox" } })
 *   return yield* Arrivals.follow(inbox, ({ item }) => Effect.log(item.name), {
 *     every: "15 minutes",
 *     hints: kept.hints
 *   })
 * })
 * ```
 */
export const follow = Effect.fn("Arrivals.follow")(function* <A, E, R>(
  source: Source<A>,
  handle: (arrival: Arrival<A>) => Effect.Effect<unknown, E, R>,
  options: FollowOptions = {}
): Effect.fn.Return<never, GraphError | ArrivalStoreError, R | Graph | ArrivalStore> {
  const { every = "30 seconds", hints = Stream.never, ...looking } = options
  check("Arrivals.follow", options, { ...rules, every: time })
  const round = look(source, handle, looking).pipe(
    Effect.tap(({ failed }) =>
      Effect.forEach(failed, ({ arrival, error }) =>
        Effect.logWarning(`${source.name}: ${arrival.key}: ${messageOf(error)}; tried again at the next look`)
      )
    ),
    Effect.catchIf(
      (error) => error._tag === "GraphError" && error.reason._tag !== "Unauthenticated",
      (error) => Effect.logWarning(`${source.name}: ${error.message}; tried again at the next look`)
    )
  )
  // A hint that comes during a look means another one.
  const hinted = yield* Queue.sliding<null>(1)
  return yield* Effect.scoped(
    Effect.gen(function* () {
      yield* Effect.forkScoped(Stream.runForEach(hints, () => Queue.offer(hinted, null)))
      return yield* Effect.forever(Effect.andThen(round, Effect.timeoutOption(Queue.take(hinted), every)))
    })
  )
})
