/** A workspace with a worker in virtual time: commands on runs without HTTP. */
import { assert } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Refused } from "../../src/internal/engine/Refused.ts"
import { type Answer, type Given, NextItems } from "../../src/internal/runs/NextItems.ts"
import { Runs } from "../../src/internal/runs/Runs.ts"
import { Workspaces } from "../../src/internal/store/access/Workspaces.ts"
import type { Leased } from "../../src/internal/store/runs/Leases.ts"
import { Workers } from "../../src/internal/store/workers/Workers.ts"
import * as Tokens from "../../src/internal/vault/Tokens.ts"
import { adjustable } from "./Service.ts"

/** A step run that the worker has, and the item in its hand. */
export interface Hand {
  readonly leased: Leased
  readonly item: Given
}

const itemOf = (given: Answer | Refused | null) => (given !== null && "item" in given ? given.item : null)

/** A failure that the step retries, if it retries any. */
export const failure = { code: "E", type: "application", message: "failed" } as const

/** What becomes of the item in hand. */
export interface Fate {
  readonly exception?: typeof failure | null
  /** Whether the step run goes on when it is given no further item. */
  readonly keep?: boolean
  readonly outputs?: ReadonlyArray<Schema.Json>
}

export const make = Effect.fnUntraced(function* (name: string) {
  const runs = yield* Runs
  const nextItems = yield* NextItems
  const workers = yield* Workers
  const clock = yield* Clock.Clock
  const [wall, monotonic] = [clock.currentTimeMillisUnsafe(), clock.monotonicTimeNanosUnsafe()]
  /** An effect at a time in milliseconds since the room was made, whatever the real clock says. */
  const at =
    (millis: number) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>) => {
      const gone = () => Number(clock.monotonicTimeNanosUnsafe() - monotonic) / 1e6
      const time = adjustable(
        clock,
        () => wall + millis - clock.currentTimeMillisUnsafe(),
        () => Math.round(millis - gone())
      )
      return Effect.provideService(effect, Clock.Clock, time)
    }
  const workspaceId = (yield* (yield* Workspaces).create(name)).id
  const { link_token } = yield* workers.createLinkToken(workspaceId, "2999-01-01T00:00:00.000Z")
  const linked = yield* workers.link(Tokens.parse(link_token) ?? assert.fail("no token"), "w", ["t"])
  const worker = { id: (linked ?? assert.fail("not linked")).worker.id, workspaceId }

  const begin = Effect.fnUntraced(function* (leased: Leased) {
    const { leaseToken, stepRun } = leased
    yield* runs.startStepRun(stepRun)
    const ask = { stepRun: stepRun.id, leaseToken, settled: [], reserve: false, ahead: null }
    const [given = null] = (yield* nextItems.next(worker, stepRun.processRunId, [ask])) ?? []
    const hand: Hand = { leased, item: itemOf(given) ?? assert.fail("no item") }
    return hand
  })

  const lease = (limit: number) => runs.lease(worker, ["t"], false, limit)

  /** The worker takes what it is given, and its first items. */
  const take = (limit: number) => Effect.flatMap(lease(limit), (leased) => Effect.forEach(leased, begin))

  /** Ends an item; null when the step run is given no further one. Then the step run ends, unless it is kept. */
  const next = Effect.fnUntraced(function* (hand: Hand, { exception = null, keep = false, outputs = [] }: Fate = {}) {
    const { leaseToken, stepRun } = hand.leased
    const settled = { item: hand.item.id, attempt: hand.item.attempt, exception, outputs, dropOutputs: false }
    const ask = { stepRun: stepRun.id, leaseToken, settled: [settled], reserve: true, ahead: null }
    const [given = null] = (yield* nextItems.next(worker, stepRun.processRunId, [ask])) ?? []
    const item = itemOf(given)
    if (item !== null) return { leased: hand.leased, item }
    if (!keep) yield* runs.finish(stepRun, null)
    return null
  })

  return { at, lease, next, take, worker, workspaceId }
})
