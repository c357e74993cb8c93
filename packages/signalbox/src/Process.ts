/**
 * Processes as code, with a control room for them in this program: `@signalbox/api/Process`, and `layer`.
 */
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import type * as Process from "@signalbox/api/Process"
import { type TasksOf, tasksOf } from "@signalbox/worker/ProcessTasks"
import type * as Layer from "effect/Layer"
import * as Embedded from "./Embedded.ts"

export * from "@signalbox/api/Process"

/** What `layer` takes: the options of `Embedded.layer`, whose tasks are those of the process. */
export type LayerOptions = Omit<Embedded.Options<never>, "tasks" | "processes">

/**
 * Starts a control room in a folder, with workers that bring the tasks of a process, and deploys the process there. For several
 * processes use `processes` of `Embedded.layer`.
 *
 * A step that `packageTask` describes needs its package: `packages: { invoices: { folder: "robot" } }` uploads it, so that a process
 * with steps in Python is one program too.
 *
 * Fails as `Embedded.layer` and `deploy` do.
 *
 * ```ts
 * import * as Task from "@signalbox/worker/Task"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Process from "signalbox/Process"
 *
 * const greet = Task.make("greet", {
 *   input: Schema.Struct({ name: Schema.String }),
 *   output: Schema.Struct({ greeting: Schema.String }),
 *   run: ({ payload }) => Effect.succeed({ greeting: `Hello, ${payload.name}` })
 * })
 * const hello = Process.make("hello", { steps: [greet] })
 *
 * export const greetings = Process.run(hello, [
 *   { name: "Ada" },
 *   { name: "Grace" }
 * ]).pipe(
 *   Effect.map(({ outputs }) => outputs.map((output) => output.payload.greeting)),
 *   Effect.provide(Process.layer(hello, { data: ".signalbox/hello", port: 0 }))
 * )
 * ```
 */
export const layer = <P extends Process.Process>(
  process: P,
  options: LayerOptions = {}
): Layer.Layer<ControlRoom | Embedded.Embedded, Embedded.StartError, Embedded.Needed<TasksOf<P>>> =>
  Embedded.layer<TasksOf<P>>({ ...options, tasks: tasksOf(process), processes: [process] })
