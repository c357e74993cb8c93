/**
 * Runs a task over work items: one item to its release, and the items of a step run one after the other.
 */
import type { WorkItemId } from "@signalbox/api/contract/Ids"
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { StepRunSession } from "@signalbox/api/robot/StepRunSession"
import type { SizedBytes } from "@signalbox/api/Upload"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ItemSource } from "../ItemSource.ts"
import { Robot } from "../Robot.ts"
import type { PayloadSchema, Task } from "../Task.ts"
import type { LeaseLost } from "./Failures.ts"
import * as ItemLoop from "./ItemLoop.ts"
import * as RemoteParts from "./RemoteParts.ts"
import * as SessionSource from "./SessionSource.ts"

export type { Counts } from "./ItemLoop.ts"

type TaskOf<R> = Pick<Task<PayloadSchema, PayloadSchema, R>, "outputs">

/** What the worker does for the tasks of a step run, besides the calls of the session. */
export interface Tools {
  readonly saveArtifact: (file: SizedBytes) => Effect.Effect<void, CallError>
}

/** A task made with `Task.make` is given its items: it does not ask for them. */
const noItems: ItemSource["advance"] = () =>
  Effect.die(new Error("a task gets its item as the argument of `run`; Robot.inputs is for programs of their own"))

/** Makes the outputs of one item as the task gives them. */
export const work =
  <R>(task: TaskOf<R>) =>
  (input: Parameters<Parameters<typeof ItemLoop.runItem>[2]>[0]) =>
    Stream.runForEach(task.outputs(input), ({ files, payload }) => input.createOutput(payload, { files }))

/**
 * Runs the task for the first item and for all that the step has waiting, while `mayReserve` says so. The task gets the
 * `Robot` of this step run.
 */
export const runItems = <R>(
  task: TaskOf<R>,
  session: StepRunSession,
  first: WorkItemId,
  mayReserve: Effect.Effect<boolean>,
  tools: Tools
): Effect.Effect<ItemLoop.Counts, CallError | LeaseLost, R> => {
  const source = SessionSource.make(session, first)
  const robot = Robot.of({
    items: { ...source, advance: noItems },
    ...RemoteParts.secrets(session.vault),
    ...RemoteParts.assets(session.assets),
    saveArtifact: tools.saveArtifact
  })
  const provided = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideService(effect, Robot, robot)
  return ItemLoop.runEach(source, mayReserve, (input) => provided(work(task)(input)))
}
