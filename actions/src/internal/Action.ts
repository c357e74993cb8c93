/** Runs an action as a process: what fails is an error of the job, in one line. */
import * as NodeRuntime from "@signalbox/platform/NodeRuntime"
import * as NodeServices from "@signalbox/platform/NodeServices"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as core from "@actions/core"
import * as Room from "./Room.ts"

/** The job failed, and why. */
export const fail = (message: string) => Effect.sync(() => core.setFailed(message))

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** A job that is cancelled interrupts the program: GitHub sends SIGINT, and kills what is left some seconds later. */
export const run = <E>(program: Effect.Effect<void, E, ControlRoom | Layer.Success<typeof NodeServices.layer>>) =>
  program.pipe(
    Effect.provide(Layer.merge(Room.layer, NodeServices.layer)),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.interrupt : fail(messageOf(Cause.squash(cause)))
    ),
    NodeRuntime.runMain({ disableErrorReporting: true })
  )
