/**
 * Any number of processes on one storage: each has one lease, and when it expires the others may claim its executions. A process that
 * starts on the host of one that has ended, such as the one before it, does not wait for that.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { hostname } from "node:os"
import { NewId } from "../model/Ids.ts"
import { newestProtocol, type RegisteredVersion } from "../model/Execution.ts"
import { Journal } from "../journal/Journal.ts"
import { type Holder, Ownership } from "./Ownership.ts"
import { leaseMillis, LeaseThread } from "./LeaseThread.ts"
import { hasEnded, isBeside, placeOfSelf } from "./Place.ts"

/** For drills, the ownership with another lease. */
export const makeWith = Effect.fnUntraced(function* (usualMillis: number) {
  const journal = yield* Journal
  const newId = yield* NewId
  const place = yield* placeOfSelf
  const thread = yield* LeaseThread
  const millis = () => thread?.leaseMillis() ?? usualMillis
  let self = newId()

  /** Releases the claims of processes of this host that have ended without doing so, whose leases may be valid for a while. */
  const succeed = Effect.gen(function* () {
    if (place === null) return
    const beside = (yield* journal.processes).flatMap(({ id, place: other }) =>
      other !== undefined && isBeside(place, other) ? [{ id, other }] : []
    )
    const gone = yield* Effect.filter(beside, ({ other }) => hasEnded(other))
    const ids = gone.map(({ id }) => id)
    if (ids.length > 0) yield* journal.reap(ids)
  })

  /** Returns false when the lease had expired and the claims are lost. */
  const renew = (flows: ReadonlyArray<RegisteredVersion>) =>
    journal.renew({
      id: self,
      host: hostname(),
      flows,
      protocol: newestProtocol,
      leaseMillis: millis(),
      ...defined({ place: place ?? undefined })
    })

  const announce = (flows: ReadonlyArray<RegisteredVersion>) => Effect.map(renew(flows), () => thread?.follow(self))

  /** Renews a longer lease as soon as the thread has ended. */
  const lengthen = (flows: Holder["flows"]) =>
    thread === null
      ? Effect.never
      : Effect.andThen(
          thread.ended,
          Effect.andThen(
            Effect.suspend(() => renew(flows())),
            Effect.never
          )
        )

  const keep = ({ drop, flows, freed, poke, settle }: Holder) =>
    Effect.gen(function* () {
      // Also notices that the lease is lost, which the thread cannot prevent when the loop stands still for too long.
      yield* Effect.sleep(usualMillis / 3)
      if (!(yield* renew(flows()))) {
        // Others may have claimed the executions of this process: its writes are refused from now on.
        yield* drop
        self = newId()
        yield* announce(flows())
      }
      for (const id of yield* journal.unread(self)) poke(id)
      if ((yield* journal.reap()) > 0) freed()
      yield* settle
    }).pipe(
      Effect.catchDefect((defect) => Effect.logWarning("the lease of the flows could not be renewed", defect)),
      Effect.forever,
      Effect.raceFirst(lengthen(flows))
    )

  yield* succeed
  return Ownership.of({
    self: () => self,
    isShared: true,
    // Notifications may be lost.
    longestPauseMillis: 5_000,
    isNear: () => true,
    announce,
    within: thread?.within,
    claim: (flows, limit) => Effect.flatMap(journal.now, (now) => journal.claim(self, flows, now, limit)),
    nextDue: (flows) => journal.nextDue(flows),
    keep,
    leave: Effect.suspend(() => {
      thread?.rest()
      return journal.leave(self)
    })
  })
})

export const make = makeWith(leaseMillis)

export const layer: Layer.Layer<Ownership, never, Journal> = Layer.effect(Ownership, make)
