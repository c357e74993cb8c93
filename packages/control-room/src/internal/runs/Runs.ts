/**
 * Executes commands on runs: loads what a command touches, asks the engine, and writes its outcome, each in one
 * transaction.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { steady } from "../BackgroundTask.ts"
import { PollInterval } from "../PollInterval.ts"
import * as BatchCommand from "./BatchCommand.ts"
import { Deletions } from "./Deletions.ts"
import { InputSchemas } from "./InputSchemas.ts"
import * as RunCommands from "./RunCommands.ts"
import * as StepRunCommands from "./StepRunCommands.ts"
import * as Timers from "./Timers.ts"
import { Transitions } from "./Transitions.ts"
import { UnassignedStepRuns } from "./UnassignedStepRuns.ts"

export class Runs extends Context.Service<
  Runs,
  RunCommands.RunCommands &
    BatchCommand.BatchCommand &
    Omit<StepRunCommands.StepRunCommands, "end"> & {
      /**
       * Handles everything that is due now: leases not started, lost workers, overdue step runs, delays that are over.
       */
      readonly tick: Effect.Effect<void>
    }
>()("@signalbox/control-room/runs/Runs") {
  static readonly layer = Layer.effect(
    Runs,
    Effect.gen(function* () {
      const runCommands = yield* RunCommands.make
      const batchCommand = yield* BatchCommand.make
      const stepRunCommands = yield* StepRunCommands.make
      const tick = yield* Timers.make(stepRunCommands)
      return Runs.of({ ...runCommands, ...batchCommand, ...stepRunCommands, tick })
    })
  ).pipe(Layer.provide([Deletions.layer, InputSchemas.layer, Transitions.layer, UnassignedStepRuns.layer]))

  /** Calls `tick` at the poll interval. */
  static readonly layerTicking = Layer.effectDiscard(
    Effect.gen(function* () {
      const { tick } = yield* Runs
      yield* tick.pipe(
        steady("checking for lost workers and delays"),
        Effect.repeat(Schedule.spaced(yield* PollInterval)),
        Effect.forkScoped
      )
    })
  )
}
