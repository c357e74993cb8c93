/** A workspace in virtual time whose processes have limits. */
import { assert } from "@effect/vitest"
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import type { ProcessDefinition } from "@signalbox/api/contract/Processes"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { Refused } from "../../src/internal/engine/Refused.ts"
import { LimitWaker } from "../../src/internal/runs/LimitWaker.ts"
import { NextItems } from "../../src/internal/runs/NextItems.ts"
import { Runs } from "../../src/internal/runs/Runs.ts"
import { WorkSignal } from "../../src/internal/runs/WorkSignal.ts"
import { Integrity } from "../../src/internal/store/database/Integrity.ts"
import { Processes, type StoredProcess } from "../../src/internal/store/processes/Processes.ts"
import * as CommandsRoom from "./CommandsRoom.ts"
import { database } from "./Storage.ts"

/** The commands, and what wakes those that wait for limits. */
export const layer = Layer.mergeAll(Runs.layer, NextItems.layer, LimitWaker.layer, Integrity.layer).pipe(
  Layer.provideMerge(WorkSignal.layer),
  Layer.provideMerge(database)
)

export { failure, type Hand } from "./CommandsRoom.ts"

export const make = Effect.gen(function* () {
  const runs = yield* Runs
  const processes = yield* Processes
  const { look } = yield* LimitWaker
  const { workspaceId, ...commands } = yield* CommandsRoom.make("limits")

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

  return { ...commands, change, look, process, start, workspaceId }
})

/** What items have in hand, in the order of the hands. */
export const payloads = (hands: ReadonlyArray<CommandsRoom.Hand>) => hands.map(({ item }) => item.payload)
