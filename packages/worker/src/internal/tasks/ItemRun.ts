/**
 * Runs a task over work items: one item to its release, and the items of a step run one after the other.
 */
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { StepRunSession } from "@signalbox/api/robot/StepRunSession"
import type { SizedBytes } from "@signalbox/api/Upload"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ItemSource } from "../items/ItemSource.ts"
import { Robot } from "../../Robot.ts"
import type { RobotError } from "../../RobotError.ts"
import type { Output, PayloadSchema, Task } from "../../Task.ts"
import type { Input } from "../items/Item.ts"
import * as ItemLoop from "../items/ItemLoop.ts"
import type { LeaseLost } from "../outcome/LeaseLost.ts"
import * as OfService from "../robot/OfService.ts"

export type { Counts } from "../items/ItemLoop.ts"

type TaskOf<R> = Pick<Task<PayloadSchema, PayloadSchema, R>, "outputs">

/** What the worker provides to the tasks of a step run, besides the calls of the session. */
export interface Tools {
  readonly saveArtifact: (file: SizedBytes) => Effect.Effect<void, RobotError>
}

/** A task created with `Task.make` receives its items as arguments. */
const noItems: ItemSource["advance"] = () =>
  Effect.die(new Error("a task gets its item as the argument of `run`; Robot.inputs is for programs without tasks"))

/** Runs the task for each item of the source, with this robot. Outputs are created as the task emits them. */
export const runTask = <E, R>(
  task: TaskOf<R>,
  source: ItemSource<E>,
  robot: Omit<Robot["Service"], "items">,
  mayReserve: Effect.Effect<boolean>
): Effect.Effect<ItemLoop.Counts, E | LeaseLost, Exclude<R, Robot>> => {
  const inTask = Robot.of({ ...robot, items: { ...source, advance: noItems } })
  const work = Effect.fnUntraced(function* (input: Input<Schema.Json>) {
    const save = ({ files, payload }: Output<Schema.Json>) => input.createOutput(payload, { files })
    const made = yield* task.outputs(input)
    if (made === undefined) return
    yield* Stream.isStream(made) ? Stream.runForEach(made, save) : save(made)
  })
  return ItemLoop.runEach(source, mayReserve, (input) => Effect.provideService(work(input), Robot, inTask))
}

/**
 * Runs the task for the first item and for all waiting items of the step, while `mayReserve` allows it. The task gets
 * the `Robot` of this step run.
 */
export const runItems = <R>(
  task: TaskOf<R>,
  session: StepRunSession,
  source: ItemSource<CallError | LeaseLost>,
  mayReserve: Effect.Effect<boolean>,
  tools: Tools
): Effect.Effect<ItemLoop.Counts, CallError | LeaseLost, Exclude<R, Robot>> => {
  const robot = {
    ...OfService.secrets(session.vault),
    ...OfService.assets(session.assets),
    saveArtifact: tools.saveArtifact
  }
  return runTask(task, source, robot, mayReserve)
}
