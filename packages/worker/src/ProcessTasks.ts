/**
 * The tasks of a process that run in this program.
 */
import type * as Process from "@signalbox/api/Process"
import * as Predicate from "effect/Predicate"
import * as Task from "./Task.ts"

/** The tasks among the steps of a process: not those of task packages. */
export type TasksOf<P extends Process.Process> = Extract<Process.TaskOf<P["steps"][number]>, Task.Any>

/**
 * Returns the tasks of a process that are made with `Task.make`, each once, for the worker that is to bring them.
 *
 * ```ts
 * import * as Process from "@signalbox/api/Process"
 * import { tasksOf } from "@signalbox/worker/ProcessTasks"
 * import * as Task from "@signalbox/worker/Task"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 *
 * const Text = Schema.Struct({ text: Schema.String })
 * const shout = Task.make("shout", {
 *   input: Text,
 *   output: Text,
 *   run: ({ payload }) => Effect.succeed({ text: payload.text.toUpperCase() })
 * })
 *
 * export const tasks = tasksOf(Process.make("shouting", { steps: [shout] }))
 * ```
 */
export const tasksOf = <P extends Process.Process>(process: P): ReadonlyArray<TasksOf<P>> => {
  const tasks = process.steps
    .map((step) => (Predicate.hasProperty(step, "task") ? step.task : step))
    // What `isTask` sees is the part of the union that `Extract` takes.
    .filter((task): task is TasksOf<P> => Task.isTask(task))
  return [...new Set(tasks)]
}
