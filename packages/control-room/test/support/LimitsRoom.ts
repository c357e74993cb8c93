/** A workspace with workers in virtual time, whose processes have limits: commands without HTTP. */
import { assert } from "@effect/vitest"
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import type { ProcessDefinition } from "@signalbox/api/contract/Processes"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { Refused } from "../../src/internal/engine/Refused.ts"
import { LimitWaker } from "../../src/internal/runs/LimitWaker.ts"
import { type Answer, type Given, NextItems } from "../../src/internal/runs/NextItems.ts"
import { Runs } from "../../src/internal/runs/Runs.ts"
import { WorkSignal } from "../../src/internal/runs/WorkSignal.ts"
import { Workspaces } from "../../src/internal/store/access/Workspaces.ts"
import { Integrity } from "../../src/internal/store/database/Integrity.ts"
import { Processes, type StoredProcess } from "../../src/internal/store/processes/Processes.ts"
import type { Leased } from "../../src/internal/store/runs/Leases.ts"
import { Workers } from "../../src/internal/store/workers/Workers.ts"
import * as Tokens from "../../src/internal/vault/Tokens.ts"
import { adjustable } from "./Service.ts"
import { database } from "./Storage.ts"

/** The commands, and what wakes those that wait for limits. */
export const layer = Layer.mergeAll(Runs.layer, NextItems.layer, LimitWaker.layer, Integrity.layer).pipe(
  Layer.provideMerge(WorkSignal.layer),
  Layer.provideMerge(database)
)

/** A step run that a worker has, and the item in its hand. */
export interface Hand {
  readonly leased: Leased
  readonly item: Given
}

const itemOf = (given: Answer | Refused | null) => (given !== null && "item" in given ? given.item : null)

/** A failure that the step retries, if it retries any. */
export const failure = { code: "E", type: "application", message: "failed" } as const

export const make = Effect.gen(function* () {
  const runs = yield* Runs
  const nextItems = yield* NextItems
  const processes = yield* Processes
  const workers = yield* Workers
  const { look } = yield* LimitWaker
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
  const workspaceId = (yield* (yield* Workspaces).create("limits")).id
  const worker = Effect.gen(function* () {
    const { link_token } = yield* workers.createLinkToken(workspaceId, "2999-01-01T00:00:00.000Z")
    const linked = yield* workers.link(Tokens.parse(link_token) ?? assert.fail("no token"), "w", ["t"])
    return { id: (linked ?? assert.fail("not linked")).worker.id, workspaceId }
  })
  const first = yield* worker

  /** A process of steps that run the task `t`. */
  const process = Effect.fnUntraced(function* (
    name: string,
    steps: ReadonlyArray<Omit<ProcessDefinition["steps"][number], "name" | "task">>,
    limits: Pick<ProcessDefinition, "concurrency" | "rate"> = {}
  ) {
    const definition = {
      name,
      steps: steps.map((step, n) => ({ name: `s${n}`, task: { name: "t" }, ...step })),
      ...limits
    }
    return (yield* processes.create(workspaceId, definition)) ?? assert.fail("the name is taken")
  })

  const change = (of: StoredProcess, definition: ProcessDefinition) => processes.update(workspaceId, of, definition)

  const start = Effect.fnUntraced(function* (
    of: StoredProcess,
    payloads: ReadonlyArray<Schema.Json>,
    priority = 0
  ): Effect.fn.Return<ProcessRunId, Refused> {
    const run = yield* runs.start(workspaceId, of, { type: "with_payloads", payloads }, { priority })
    return run ?? assert.fail("not started")
  }, Effect.orDie)

  const lease = (limit: number, by = first) => runs.lease(by, ["t"], false, limit)

  const begin = Effect.fnUntraced(function* (leased: Leased, by = first) {
    const { leaseToken, stepRun } = leased
    yield* runs.startStepRun(stepRun)
    const ask = { stepRun: stepRun.id, leaseToken, settled: [], reserve: false, ahead: null }
    const [given = null] = (yield* nextItems.next(by, stepRun.processRunId, [ask])) ?? []
    const hand: Hand = { leased, item: itemOf(given) ?? assert.fail("no item") }
    return hand
  })

  /** The worker takes what it is given, and its first items. */
  const take = (limit: number, by = first) =>
    Effect.flatMap(lease(limit, by), (all) => Effect.forEach(all, (leased) => begin(leased, by)))

  /** Ends an item; null when the step run is given no further one. Then the step run ends, unless it is kept. */
  const next = Effect.fnUntraced(function* (
    hand: Hand,
    {
      by = first,
      exception = null,
      keep = false,
      outputs = []
    }: {
      readonly by?: typeof first
      readonly exception?: typeof failure | null
      readonly keep?: boolean
      readonly outputs?: ReadonlyArray<Schema.Json>
    } = {}
  ) {
    const { leaseToken, stepRun } = hand.leased
    const settled = { item: hand.item.id, attempt: hand.item.attempt, exception, outputs, dropOutputs: false }
    const ask = { stepRun: stepRun.id, leaseToken, settled: [settled], reserve: true, ahead: null }
    const [given = null] = (yield* nextItems.next(by, stepRun.processRunId, [ask])) ?? []
    const item = itemOf(given)
    if (item !== null) return { ...hand, item }
    if (!keep) yield* runs.finish(stepRun, null)
    return null
  })

  return { at, begin, change, lease, look, next, process, start, take, worker: first, newWorker: worker, workspaceId }
})

/** What items have in hand, in the order of the hands. */
export const payloads = (hands: ReadonlyArray<Hand>) => hands.map(({ item }) => item.payload)
