/**
 * Executes commands on runs: loads what a command touches, asks the engine, and writes its outcome, each in one
 * transaction.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { repeating, steady } from "../background/BackgroundTask.ts"
import { PollInterval } from "../background/PollInterval.ts"
import * as BatchCommand from "./BatchCommand.ts"
import { Deletions } from "./Deletions.ts"
import { HandOver } from "./HandOver.ts"
import { InputSchemas } from "./InputSchemas.ts"
import { LimitWaker } from "./LimitWaker.ts"
import * as RunCommands from "./RunCommands.ts"
import { Secrecy } from "./Secrecy.ts"
import * as StepRunCommands from "./StepRunCommands.ts"
import * as Timers from "./Timers.ts"
import { Transitions } from "./Transitions.ts"
import { UnassignedStepRuns } from "./UnassignedStepRuns.ts"

export class Runs extends Context.Service<
  Runs,
  RunCommands.RunCommands & BatchCommand.BatchCommand & Omit<StepRunCommands.StepRunCommands, "end"> & Timers.Timers
>()("@signalbox/control-room/runs/Runs") {
  static readonly layer = Layer.effect(
    Runs,
    Effect.gen(function* () {
      const runCommands = yield* RunCommands.make
      const batchCommand = yield* BatchCommand.make
      const stepRunCommands = yield* StepRunCommands.make
      const timers = yield* Timers.make(stepRunCommands)
      return Runs.of({ ...runCommands, ...batchCommand, ...stepRunCommands, ...timers })
    })
  ).pipe(
    Layer.provide([
      Deletions.layer,
      HandOver.layer,
      InputSchemas.layer,
      LimitWaker.layer,
      Secrecy.layer,
      Transitions.layer,
      UnassignedStepRuns.layer
    ])
  )

  /** Calls `tick` at the poll interval. */
  static readonly layerTicking = Layer.effectDiscard(
    Effect.gen(function* () {
      const { awoke, tick } = yield* Runs
      const task = steady("checking for lost workers and delays")(tick)
      yield* Effect.forkScoped(repeating(task, { interval: yield* PollInterval, awoke }))
    })
  ).pipe(
    Layer.merge(Layer.merge(HandOver.layerListening, LimitWaker.layerListening)),
    Layer.provide([HandOver.layer, LimitWaker.layer])
  )
}
