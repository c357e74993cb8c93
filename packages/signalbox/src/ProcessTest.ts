/**
 * Runs a process in a test: in memory, in virtual time, with what each step saw.
 */
import * as Process from "@signalbox/api/Process"
import type { TasksOf } from "@signalbox/worker/ProcessTasks"
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Testing from "./Testing.ts"

/** What a step of another program does in the test, in the place of its task. */
type Stub<S extends Process.TaskLike, R> = (
  payload: S["input"]["Type"]
) => Effect.Effect<S["output"]["Type"] | void, unknown, R>

/** The steps whose tasks are not in this program. */
type Elsewhere<S> = S extends Process.TaskLike ? (Process.TaskOf<S> extends Task.Any ? never : S) : never

/** One function for each step of a task package. */
export type Stubs<P extends Process.Process, R> = {
  readonly [S in Elsewhere<P["steps"][number]> as S["name"]]: Stub<S, R>
}

export interface Tested<P extends Process.Process> {
  /** Oldest first. */
  readonly outputs: ReadonlyArray<Process.Output<P>>
  /** Which items failed, where and why. They are marked as done, so that the run ends. */
  readonly failures: ReadonlyArray<Process.FailedItem<P>>
  /** The payloads of the items that each step got, as JSON, in the order in which it got them; with each retry again. */
  readonly seen: Readonly<Record<Process.StepName<P>, ReadonlyArray<Schema.Json>>>
}

type Options<P extends Process.Process, R> = keyof Stubs<P, R> extends never
  ? { readonly stubs?: Stubs<P, R> }
  : { readonly stubs: Stubs<P, R> }

type AnyStub<R> = (payload: unknown) => Effect.Effect<unknown, unknown, R>

const isStep = (step: Process.TaskLike): step is Process.Step => Predicate.hasProperty(step, "task")

/** The task of a step in the test, under the name of the step, so that each step has its own. */
const taskOf = <R>(step: Process.TaskLike, stub: AnyStub<R> | undefined, see: (payload: Schema.Json) => void) => {
  const own = isStep(step) ? step.task : step
  const task: Task.Task<Task.PayloadSchema, Task.PayloadSchema, R> | undefined = Task.isTask(own)
    ? own
    : stub === undefined
      ? undefined
      : Task.make(step.name, { input: step.input, output: step.output, run: ({ payload }) => stub(payload) })
  if (task === undefined) return undefined
  const outputs: typeof task.outputs = (item) => {
    see(item.payload)
    return task.outputs(item)
  }
  return { ...task, name: step.name, outputs }
}

/**
 * Deploys a process to a control room in memory, runs it with these payloads, and returns its outputs, what failed, and what each
 * step saw. On a `TestClock` its delays take no time. Steps of task packages need a function each, in `stubs`.
 *
 * Fails with `InvalidProcess` when a step has neither a task in this program nor a stub.
 *
 * ```ts
 * import * as Process from "@signalbox/api/Process"
 * import * as Task from "@signalbox/worker/Task"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as ProcessTest from "signalbox/ProcessTest"
 *
 * const Order = Schema.Struct({ number: Schema.Finite })
 * const read = Task.make("read", {
 *   input: Order,
 *   output: Order,
 *   run: ({ payload }) => Effect.succeed(payload)
 * })
 * const post = Process.packageTask({
 *   package: "orders",
 *   task: "Post to ERP",
 *   input: Order,
 *   output: Order
 * })
 * const orders = Process.make("orders", { steps: [read, post] })
 *
 * export const posted = ProcessTest.test(orders, [{ number: 1 }], {
 *   stubs: { "Post to ERP": (order) => Effect.succeed(order) }
 * }).pipe(Effect.map(({ seen }) => seen["Post to ERP"]))
 * ```
 */
export const test = Effect.fn("ProcessTest.test")(function* <P extends Process.Process, R = never>(
  process: P,
  payloads: ReadonlyArray<Process.Payload<P>>,
  ...[options]: keyof Stubs<P, R> extends never ? [options?: Options<P, R>] : [options: Options<P, R>]
) {
  // One function for each name, by the type of the options.
  const stubs = (options?.stubs ?? {}) as Readonly<Record<string, AnyStub<R>>>
  const seen: Record<string, Array<Schema.Json>> = {}
  const tasks: Array<Task.Task<Task.PayloadSchema, Task.PayloadSchema, R | Task.Services<TasksOf<P>>>> = []
  const steps: Array<Process.Step> = []
  for (const step of process.steps) {
    const payloadsSeen: Array<Schema.Json> = []
    seen[step.name] = payloadsSeen
    const task = taskOf(step, stubs[step.name], (payload) => payloadsSeen.push(payload))
    if (task === undefined) {
      return yield* new Process.InvalidProcess({
        message: `the step "${step.name}" runs a task of a package: add a function for the step to stubs`
      })
    }
    tasks.push(task)
    const { worker: _labels, worker_group: _group, ...given } = isStep(step) ? step.options : {}
    steps.push({ name: step.name, input: step.input, output: step.output, task, options: given })
  }
  // The same names, schemas and options, and tasks that do the same; only which worker may take a step is left out.
  const tested = { ...process, steps } as unknown as P
  const failures: Array<Process.FailedItem<P>> = []
  const program = Effect.gen(function* () {
    yield* Process.deploy(tested)
    const ran = Process.run(tested, payloads, {
      failures: (item) => Effect.sync(() => (failures.push(item), "settle" as const))
    })
    return yield* Testing.elapse(ran)
  })
  const { outputs } = yield* Effect.provide(program, Testing.layer({ tasks }))
  const result: Tested<P> = {
    outputs: outputs.map(({ payload }) => payload),
    failures,
    // One entry for each step has been made above.
    seen: seen as unknown as Readonly<Record<Process.StepName<P>, ReadonlyArray<Schema.Json>>>
  }
  return result
})
