/**
 * Processes as code: steps with the schemas of what goes in and out, checked by the compiler from the first payload to the
 * last output.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ProcessRunId, WorkItemId } from "./contract/Ids.ts"
import type { ProcessDefinition } from "./contract/Processes.ts"
import type {
  Chain,
  InputOf,
  OutputOf,
  PackageTask,
  PayloadSchema,
  Step,
  StepOptions,
  Steps,
  TaskLike
} from "./internal/process/Chain.ts"
import { names, refuseUnknown } from "./internal/calls/Known.ts"
import * as Codec from "./internal/process/Codec.ts"
import { namedDefinitionOf } from "./internal/process/Definition.ts"
import * as Deploy from "./internal/process/Deploy.ts"
import * as Items from "./internal/process/Items.ts"
import * as Run from "./internal/process/Run.ts"
import { type Plan, prepare } from "./internal/process/Plan.ts"
import * as Outputs from "./Outputs.ts"
import * as ProcessRuns from "./ProcessRuns.ts"
import * as WorkItems from "./WorkItems.ts"
import { type Process, TypeId } from "./internal/process/Value.ts"

export type {
  PackageTask,
  PayloadSchema,
  Step,
  StepOptions,
  Steps,
  TaskLike,
  TaskOf
} from "./internal/process/Chain.ts"
export type { Codec, Converted } from "./internal/process/Codec.ts"
export { InvalidProcess, type NamedDefinition, type NamedStep } from "./internal/process/Definition.ts"
export { type Deployed, type DeployOptions, WaitingItems } from "./internal/process/Deploy.ts"
export {
  type FailedItem,
  InvalidOutput,
  InvalidPayload,
  NotDeployed,
  type Output,
  type StoredOutput,
  type Payload,
  type Target,
  type TypedOutput
} from "./internal/process/Items.ts"
export { type Decision, type Ran, type RunOptions, RunUnresolved } from "./internal/process/Run.ts"
export type { Change, Plan, Waiting } from "./internal/process/Plan.ts"
export { isProcess, type Process, type StepName } from "./internal/process/Value.ts"

/**
 * Describes a task of a task package: a robot in Python, or a task in TypeScript that is deployed as a package. `package` is
 * the name of the package in the workspace, `task` the name under `tasks` of its `robot.yaml`.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import * as Process from "@signalbox/api/Process"
 *
 * const post = Process.packageTask({
 *   package: "invoices",
 *   task: "Post to ERP",
 *   input: Schema.Struct({ number: Schema.String, total: Schema.Finite }),
 *   output: Schema.Struct({ document: Schema.String })
 * })
 * export const invoices = Process.make("invoices", { steps: [post] })
 * ```
 */
export const packageTask = <
  const Name extends string,
  Input extends PayloadSchema,
  Output extends PayloadSchema
>(options: {
  readonly package: string
  readonly task: Name
  readonly input: Input
  readonly output: Output
}): PackageTask<Name, Input, Output> => ({
  name: options.task,
  package: options.package,
  input: options.input,
  output: options.output
})

/** The name itself, in a form that takes no part in inference: the expected type of a step would widen it to `string`. */
type Own<Name extends string> = Name extends infer N extends string ? N : never

/**
 * Returns a step for a task with the options of a step in the contract. A task used directly is a step with the name of the
 * task and without options.
 */
export const step = <T extends TaskLike, const Name extends string = T["name"]>(
  task: T,
  options: StepOptions<Name> = {}
): Step<Own<Name>, T> => {
  const { name, ...rest } = options
  return {
    // Without a name in the options, `Name` is the name of the task: its default.
    name: (name ?? task.name) as Own<Name>,
    input: task.input,
    output: task.output,
    task,
    options: rest
  }
}

/**
 * Creates a process. The output of each step must fit the input of the next: the encoded side of the output of one is assignable
 * to the encoded side of the input of the next, or the program does not compile; the error names both steps.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import * as Process from "@signalbox/api/Process"
 *
 * const Airport = Schema.Struct({ code: Schema.String })
 * const split = {
 *   name: "split",
 *   input: Schema.Struct({ file: Schema.String }),
 *   output: Airport
 * } as const
 * const summarise = {
 *   name: "summarise",
 *   input: Airport,
 *   output: Schema.Struct({ total: Schema.Finite })
 * } as const
 *
 * export const airports = Process.make("airports", {
 *   steps: [
 *     split,
 *     Process.step(summarise, {
 *       max_parallel: 4,
 *       retry: { max_attempts: 3, delay_seconds: 1 }
 *     })
 *   ],
 *   check_payloads: true
 * })
 * ```
 */
export const make = <const Name extends string, const S extends Steps>(
  name: Name,
  options: {
    readonly description?: string
    /** The steps in order; the type of a step that does not fit is a line that says why. */
    readonly steps: Chain<S> extends S ? S : Chain<S>
    /** The payload of a run that is started without input; default: one empty work item. */
    readonly default_work_item?: { readonly payload: InputOf<NoInfer<S>>["Type"] }
    /** Whether the service refuses payloads that do not fit the input of the first step; default false. */
    readonly check_payloads?: boolean
    /** The process is paused after so many failures in a row, of type `application` or by the orchestrator; default: not. */
    readonly pause_after_failures?: number
    /** How many items are in hand at a time, in all steps and runs together; default: no limit. */
    readonly concurrency?: NonNullable<ProcessDefinition["concurrency"]>
    /** How many attempts begin in a time, in all steps and runs together; default: no limit. */
    readonly rate?: NonNullable<ProcessDefinition["rate"]>
    /**
     * Secret fields of payloads and outputs in all steps: JSON pointers, in which `*` is any key or index. Besides those of the input of the
     * first step that its schema marks with `.annotate({ writeOnly: true })`.
     */
    readonly sensitive?: ReadonlyArray<string>
    /** Whether files, console lines and artifacts are secret if a field is; default true. */
    readonly sensitive_files?: boolean
  }
): Process<Name, S> => {
  // The compiler has seen that the steps are a chain, or it has refused the call.
  const steps = options.steps as S
  const last = steps.at(-1) ?? steps[0]
  return {
    [TypeId]: TypeId,
    name,
    description: options.description ?? null,
    steps,
    // `S[0]` and the last one of `S`, which TypeScript cannot see of a tuple that it does not know yet.
    input: steps[0].input as InputOf<S>,
    // As above.
    output: last.output as OutputOf<S>,
    codec: Codec.make(steps[0].input, last.output),
    defaultWorkItem: options.default_work_item,
    checkPayloads: options.check_payloads ?? false,
    pauseAfterFailures: options.pause_after_failures,
    concurrency: options.concurrency,
    rate: options.rate,
    sensitive: options.sensitive,
    sensitiveFiles: options.sensitive_files
  }
}

/**
 * Returns the definition of a process with the names of packages and worker groups instead of ids: what `deploy` stores
 * in any workspace. Fails with `InvalidProcess` when two steps have one name or the default work item does not encode.
 */
export const definition = (process: Process) => namedDefinitionOf(process)

/**
 * Compares a process with what the workspace has under its name, and changes nothing. The plan says which steps are added,
 * removed, changed or in another order, how many items wait in the queue, and how many of these do not fit the new first step.
 *
 * Fails with `InvalidProcess` when a task package or worker group does not exist.
 */
export const plan = Effect.fn("Process.plan")((process: Process) => Effect.map(prepare(process), ({ plan }) => plan))

/**
 * Brings the workspace to what a process says: creates it, changes its definition, or, when that is equal, sends nothing. Safe
 * to repeat; of concurrent deployments each sees what the others did. Runs that have begun finish with the definition with
 * which they began.
 *
 * Fails with `WaitingItems` when items wait for a step that is removed, or have payloads that the new first step does not
 * accept, unless `waiting` says what happens to them; with `InvalidProcess` when a task package or worker group does not exist. Needs the
 * permissions to read and write processes and to read work items.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import { layerConfig } from "@signalbox/api/node"
 * import * as Process from "@signalbox/api/Process"
 *
 * const post = Process.packageTask({
 *   package: "invoices",
 *   task: "Post to ERP",
 *   input: Schema.Json,
 *   output: Schema.Void
 * })
 * const invoices = Process.make("invoices", {
 *   steps: [Process.step(post, { max_parallel: 4 })]
 * })
 *
 * export const id = Process.deploy(invoices).pipe(
 *   Effect.map((deployed) => deployed.id),
 *   Effect.provide(layerConfig)
 * )
 * ```
 */
export const deploy = Effect.fn("Process.deploy")((process: Process, options: Deploy.DeployOptions = {}) =>
  Deploy.deploy(process, options)
)

/** A plan as lines that people read; none when nothing changes. */
export const describePlan = ({ changes, waiting }: Plan): ReadonlyArray<string> => [
  ...changes.map((change) => {
    if (change.part !== "step") return `~ ${change.part}`
    if (change.action === "change") return `~ step ${change.name}: ${change.options.join(", ")}`
    return `${change.action === "add" ? "+" : "-"} step ${change.name}`
  }),
  ...(waiting.count === 0
    ? []
    : [
        `${waiting.hasMore ? "more than " : ""}${waiting.count === 1 ? "1 item waits" : `${waiting.count} items wait`}` +
          (waiting.isRemoved ? ` for the step ${waiting.step}, which is removed` : "") +
          (waiting.unfit === 0 ? "" : `; ${waiting.unfit} do not fit the first step`)
      ])
]

/** The id of the process of a name, such as one that a flow has recorded; fails with `NotDeployed` when there is none. */
export const idByName = Effect.fn("Process.idByName")(Items.idByName)

/** The id that a process has in the workspace; fails with `NotDeployed` when it has none. */
export const id = Effect.fn("Process.id")((process: Process) => Items.idOf(process))

/**
 * Creates work items in the queue of a process, 1,000 in one request, and returns their ids in the order of the payloads. Fails
 * with `InvalidPayload` before anything is sent. The items of one request are created all or none.
 */
export const createWorkItems = Effect.fn("Process.createWorkItems")(function* <T extends Items.Target>(
  process: T,
  payloads: ReadonlyArray<Items.Payload<T>>
) {
  const encoded = yield* Items.encodePayloads(process, payloads)
  return yield* WorkItems.createMany({ process: yield* Items.idOf(process), payloads: encoded })
})

/** Returns payloads as the JSON that is sent; fails with `InvalidPayload` at the first that does not fit the input of the first step. */
export const encodePayloads = <T extends Items.Target>(process: T, payloads: ReadonlyArray<Items.Payload<T>>) =>
  Items.encodePayloads(process, payloads)

/** Returns outputs with their payloads decoded; fails with `InvalidOutput` at the first that does not fit the output of the last step. */
export const decodeOutputs = <T extends Items.Target>(process: T, outputs: ReadonlyArray<Items.StoredOutput>) =>
  Effect.forEach(outputs, Items.decoderOf(process))

/** What a run starts with: work items of the queue of its process, or payloads. */
export type RunInput<T extends Items.Target> =
  | { readonly workItems: ReadonlyArray<WorkItemId> }
  | { readonly payloads: ReadonlyArray<Items.Payload<T>> }

const runInput = names<RunInput<Items.Target>>("member", { workItems: 1, payloads: 1 })

/** Starts a run of a process with work items of its queue, with payloads, or, without either, with its default work item. */
export const startRun = Effect.fn("Process.startRun")(function* <T extends Items.Target>(
  process: T,
  input?: RunInput<T>
) {
  yield* refuseUnknown("Process.startRun", runInput, input)
  const id = yield* Items.idOf(process)
  if (input === undefined || "workItems" in input) return yield* ProcessRuns.start(id, input)
  return yield* ProcessRuns.start(id, { payloads: yield* Items.encodePayloads(process, input.payloads) })
})

/** The outputs of a run, decoded, oldest first, a page at a time. Fails with `InvalidOutput` at one that does not decode. */
export const outputs = <T extends Items.Target>(process: T, options: { readonly run: ProcessRunId }) =>
  Stream.mapEffect(Outputs.stream(options.run), Items.decoderOf(process))

/** All outputs of a run, decoded, oldest first. */
export const collectOutputs = <T extends Items.Target>(process: T, options: { readonly run: ProcessRunId }) =>
  Stream.runCollect(outputs(process, options))

/** The failed work items of a run, newest first: at which step, and why. */
export const failedItems = Effect.fn("Process.failedItems")(
  <T extends Items.Target>(process: T, options: { readonly run: ProcessRunId }) => Items.failedOf(process, options.run)
)

/**
 * Runs a process from its payloads to its outputs: creates the items, attaches their files, starts a run, waits for its end,
 * handles failed items, and collects the outputs.
 *
 * Fails with `RunUnresolved` when items fail and `failures` does not say otherwise. Interrupted, it leaves the run alone.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Process from "@signalbox/api/Process"
 *
 * const Order = Schema.Struct({ number: Schema.Finite })
 * const order = Process.packageTask({
 *   package: "orders",
 *   task: "order",
 *   input: Order,
 *   output: Order
 * })
 * const orders = Process.make("orders", { steps: [order] })
 *
 * export const numbers = Process.run(orders, [{ number: 1 }, { number: 2 }], {
 *   failures: (item, round) =>
 *     Effect.succeed(
 *       item.exception?.type === "business"
 *         ? "settle"
 *         : round < 3
 *           ? "retry"
 *           : "fail"
 *     )
 * }).pipe(
 *   Effect.map(({ outputs }) => outputs.map((output) => output.payload.number))
 * )
 * ```
 */
export const run = Effect.fn("Process.run")(
  <T extends Items.Target, E = never, R = never>(
    process: T,
    payloads: ReadonlyArray<Items.Payload<T>>,
    options: Run.RunOptions<T, E, R> = {}
  ) => Run.run(process, payloads, options)
)
