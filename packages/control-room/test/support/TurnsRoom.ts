/** A workspace with one worker in virtual time, whose slots are given by turns: commands without HTTP. */
import { assert } from "@effect/vitest"
import type { ProcessId, WorkerGroupId } from "@signalbox/api/contract/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Refused } from "../../src/internal/engine/Refused.ts"
import { HandOver } from "../../src/internal/runs/HandOver.ts"
import { type Answer, type Given, NextItems } from "../../src/internal/runs/NextItems.ts"
import { Runs } from "../../src/internal/runs/Runs.ts"
import { WorkSignal } from "../../src/internal/runs/WorkSignal.ts"
import { Workspaces } from "../../src/internal/store/access/Workspaces.ts"
import { Processes, type StoredProcess } from "../../src/internal/store/processes/Processes.ts"
import type { Leased } from "../../src/internal/store/runs/Leases.ts"
import { Workers } from "../../src/internal/store/workers/Workers.ts"
import * as Tokens from "../../src/internal/vault/Tokens.ts"
import { adjustable } from "./Service.ts"
import { database } from "./Storage.ts"

/** The commands, and what says who hands over. */
export const layer = Layer.mergeAll(Runs.layer, NextItems.layer, HandOver.layer).pipe(
  Layer.provideMerge(WorkSignal.layer),
  Layer.provideMerge(database)
)

/** A step run that the worker has, and the item in its hand. */
export interface Hand {
  readonly process: ProcessId
  readonly leased: Leased
  readonly item: Given
}

const itemOf = (given: Answer | Refused | null) => (given !== null && "item" in given ? given.item : null)

export const make = Effect.gen(function* () {
  const runs = yield* Runs
  const nextItems = yield* NextItems
  const processes = yield* Processes
  const workers = yield* Workers
  const { look } = yield* HandOver
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
  const workspaceId = (yield* (yield* Workspaces).create("turns")).id
  const { link_token } = yield* workers.createLinkToken(workspaceId, "2999-01-01T00:00:00.000Z")
  const linked = yield* workers.link(Tokens.parse(link_token) ?? assert.fail("no token"), "w", ["t"])
  const worker = { id: (linked ?? assert.fail("not linked")).worker.id, workspaceId }

  const process = Effect.fnUntraced(function* (
    name: string,
    { group, parallel = 1, task = "t" }: { group?: WorkerGroupId; parallel?: number; task?: string } = {}
  ) {
    const bound = group === undefined ? {} : { worker_group: { id: group } }
    const steps = [{ name: "s", task: { name: task }, max_parallel: parallel, ...bound }]
    return (yield* processes.create(workspaceId, { name, steps })) ?? assert.fail("the name is taken")
  })

  /** Starts a run with so many items; then the service looks, as it does when work becomes available. */
  const start = Effect.fnUntraced(function* (of: StoredProcess, items = 1, priority = 0) {
    const payloads = Array.from({ length: items }, (_, item) => item)
    yield* runs.start(workspaceId, of, { type: "with_payloads", payloads }, { priority })
    yield* look
  }, Effect.orDie)

  /** The worker takes what it is given, and its first items. */
  const take = Effect.fnUntraced(function* (limit: number) {
    const hands: Array<Hand> = []
    for (const leased of yield* runs.lease(worker, ["t"], false, limit)) {
      const { leaseToken, stepRun } = leased
      yield* runs.startStepRun(stepRun)
      const ask = { stepRun: stepRun.id, leaseToken, settled: [], reserve: false, ahead: null }
      const [given = null] = (yield* nextItems.next(worker, stepRun.processRunId, [ask])) ?? []
      hands.push({ process: stepRun.processId, leased, item: itemOf(given) ?? assert.fail("no item") })
    }
    return hands
  }, Effect.orDie)

  /** Ends an item; null when the step run is given no further one, and ends. */
  const next = Effect.fnUntraced(function* (hand: Hand) {
    // The service looks once a second.
    yield* look
    const { leaseToken, stepRun } = hand.leased
    const settled = {
      item: hand.item.id,
      attempt: hand.item.attempt,
      exception: null,
      outputs: [],
      dropOutputs: false
    }
    const ask = { stepRun: stepRun.id, leaseToken, settled: [settled], reserve: true, ahead: null }
    const [given = null] = (yield* nextItems.next(worker, stepRun.processRunId, [ask])) ?? []
    const item = itemOf(given)
    if (item !== null) return { ...hand, item }
    yield* runs.finish(stepRun, null)
    yield* look
    return null
  }, Effect.orDie)

  return { at, process, start, take, next, worker, workspaceId }
})
