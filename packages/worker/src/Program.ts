/** Tasks as a program of Node: started by a task package, or run on local files during development. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as NodeHttpClient from "@signalbox/platform/NodeHttpClient"
import * as NodeRuntime from "@signalbox/platform/NodeRuntime"
import * as NodeServices from "@signalbox/platform/NodeServices"
import { layerUploads } from "@signalbox/api/node"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import { isLeaseLost, messageOf } from "./internal/outcome/Failures.ts"
import { runTask } from "./internal/tasks/ItemRun.ts"
import { LeaseLost } from "./internal/outcome/LeaseLost.ts"
import * as Robot from "./Robot.ts"
import type { RobotError, RobotNotConfigured } from "./RobotError.ts"
import type * as Task from "./Task.ts"

/** The arguments of the program are invalid, or items failed in a way that no task declares. */
export class ProgramFailed extends TaggedError<ProgramFailed>()("ProgramFailed", { message: Schema.String }) {}

const usage = (names: ReadonlyArray<string>) =>
  [
    `Usage: <program> ${names.length === 1 ? "[task]" : "<task>"}`,
    "",
    "Runs one task on work items. The items come from the step run whose worker started this program, or",
    "from the JSON file in RC_WORKITEM_INPUT_PATH; without both, the task gets one empty item.",
    "",
    "Tasks:",
    ...names.map((name) => `  ${name}`)
  ].join("\n")

const runOne = Effect.fnUntraced(function* <R>(
  task: Task.Task<Task.PayloadSchema, Task.PayloadSchema, R>
): Effect.fn.Return<void, ProgramFailed | RobotError, Robot.Robot | Exclude<R, Robot.Robot>> {
  const { items, ...robot } = yield* Robot.Robot
  const { completed, failed, unexpected } = yield* runTask(task, items, robot, Effect.succeed(true))
  yield* Effect.logInfo(`${task.name}: ${completed} completed, ${failed} failed`)
  if (unexpected === 0) return
  const message = `${unexpected} of ${completed + failed} items failed with an error that is not a declared failure of the task`
  return yield* new ProgramFailed({ message })
})

/** What `main` provides: Node, and an HTTP client. */
export type Platform = NodeServices.NodeServices | HttpClient.HttpClient

/**
 * Runs the task that the first argument names, or the only one, over all its work items, with the robot that the
 * environment selects (`Robot.layer`). Items that fail with `BusinessFailure` or `ApplicationFailure` are failed and
 * the program continues; after any other error it continues too, but fails at the end. `--help` prints the usage.
 */
export const run = Effect.fnUntraced(function* <T extends Task.Any>(
  tasks: ReadonlyArray<T>
): Effect.fn.Return<void, ProgramFailed | RobotError | RobotNotConfigured, Platform | Task.Services<T>> {
  const args = yield* (yield* Stdio.Stdio).args
  const names = tasks.map((task) => task.name)
  if (args.includes("--help") || args.includes("-h")) return yield* Console.log(usage(names))
  const [name = names.length === 1 ? names[0] : undefined, ...rest] = args
  const task = tasks.find((task) => task.name === name)
  if (task === undefined || rest.length > 0) {
    const wrong =
      name === undefined
        ? "name a task"
        : task === undefined
          ? `the task "${name}" does not exist`
          : "name only one task"
    return yield* new ProgramFailed({ message: `${wrong}\n\n${usage(names)}` })
  }
  // `T` is a union of tasks that require different services; `Services<T>` is the union of those without `Robot`, which
  // TypeScript cannot conclude for an abstract `T`.
  const chosen = task as unknown as Task.Task<Task.PayloadSchema, Task.PayloadSchema, Task.Services<T>>
  yield* Effect.provide(runOne(chosen), Robot.layer)
})

/** One line per message, because a worker sends standard output line by line. */
const logger = Logger.layer([Logger.consoleLogFmt])

const platform = Layer.mergeAll(NodeServices.layer, NodeHttpClient.layerUndici, layerUploads, logger)

/**
 * Runs a program on Node. Provide `Robot.layer` first if it uses `Robot.inputs` instead of tasks. Exit code 0 when it
 * succeeds; 1 when it fails, after a line that says why. Logs go to standard output.
 *
 * ```ts
 * import * as Program from "@signalbox/worker/Program"
 * import * as Task from "@signalbox/worker/Task"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 *
 * const greet = Task.make("greet", {
 *   input: Schema.Struct({ name: Schema.String }),
 *   output: Schema.Struct({ greeting: Schema.String }),
 *   run: (item) => Effect.succeed({ greeting: `Hello, ${item.payload.name}` })
 * })
 *
 * Program.run([greet]).pipe(Program.main)
 * ```
 */
export const main = <E>(program: Effect.Effect<void, E, Platform>): void =>
  NodeRuntime.runMain(
    program.pipe(
      Effect.provide(platform),
      Effect.tapCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.void : Console.error(describe(Cause.squash(cause)))
      )
    ),
    {
      disableErrorReporting: true,
      teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? 0 : Cause.hasInterruptsOnly(exit.cause) ? 130 : 1)
    }
  )

/** Our own errors contain the remedy; for any other, the place in the code helps. */
const describe = (error: unknown): string => {
  if (error instanceof ProgramFailed) return error.message
  if (error instanceof LeaseLost || isLeaseLost(error))
    return "the step run has ended: results of this program are discarded"
  if (!(error instanceof Error) || "_tag" in error) return messageOf(error)
  return error.stack ?? error.message
}
