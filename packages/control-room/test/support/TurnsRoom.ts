/** A workspace in virtual time whose slots are given by turns. */
import { assert } from "@effect/vitest"
import type { ProcessId, WorkerGroupId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { HandOver } from "../../src/internal/runs/HandOver.ts"
import { NextItems } from "../../src/internal/runs/NextItems.ts"
import { Runs } from "../../src/internal/runs/Runs.ts"
import { WorkSignal } from "../../src/internal/runs/WorkSignal.ts"
import { Processes, type StoredProcess } from "../../src/internal/store/processes/Processes.ts"
import * as CommandsRoom from "./CommandsRoom.ts"
import { database } from "./Storage.ts"

/** The commands, and what says who hands over. */
export const layer = Layer.mergeAll(Runs.layer, NextItems.layer, HandOver.layer).pipe(
  Layer.provideMerge(WorkSignal.layer),
  Layer.provideMerge(database)
)

/** A step run that the worker has, of this process, and the item in its hand. */
export interface Hand extends CommandsRoom.Hand {
  readonly process: ProcessId
}

const handOf = (hand: CommandsRoom.Hand): Hand => ({ ...hand, process: hand.leased.stepRun.processId })

export const make = Effect.gen(function* () {
  const runs = yield* Runs
  const processes = yield* Processes
  const { look } = yield* HandOver
  const commands = yield* CommandsRoom.make("turns")
  const { at, worker, workspaceId } = commands

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
  const take = (limit: number) => Effect.orDie(Effect.map(commands.take(limit), (hands) => hands.map(handOf)))

  /** Ends an item; null when the step run is given no further one, and ends. */
  const next = Effect.fnUntraced(function* (hand: Hand) {
    // The service looks once a second.
    yield* look
    const then = yield* commands.next(hand)
    if (then !== null) return handOf(then)
    yield* look
    return null
  }, Effect.orDie)

  return { at, process, start, take, next, worker, workspaceId }
})
