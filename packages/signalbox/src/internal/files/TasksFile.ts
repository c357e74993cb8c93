/**
 * The file of tasks that is given with `--tasks`, or to be packaged.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ModuleFile from "./ModuleFile.ts"

/** The file of tasks is not one. */
export class TasksError extends TaggedError<TasksError>()("TasksError", { message: Schema.String }) {}

/**
 * Imports a module and takes the tasks that it exports as `tasks`; none without a file. `suffix` as in `ModuleFile`; `given`: what
 * messages begin with.
 */
export const load = Effect.fn("loadTasks")(function* (file: string | null, suffix?: string, given = "--tasks: ") {
  if (file === null) return []
  const { tasks } = yield* Effect.mapError(
    ModuleFile.load(file, suffix),
    ({ message }) => new TasksError({ message: `${given}${message}` })
  )
  if (!Array.isArray(tasks) || !tasks.every(Task.isTask)) {
    return yield* new TasksError({
      message: `${given}${file} must export \`tasks\`, an array of tasks created with Task.make or defineTask that need no services`
    })
  }
  return tasks
})
