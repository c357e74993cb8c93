/**
 * The steps of a process as values, and what the compiler says of two that do not fit.
 */
import type * as Schema from "effect/Schema"
import type { StepDefinition } from "../../contract/Processes.ts"

/** What input and output schemas must be: any that need no services. */
export type PayloadSchema = Schema.ConstraintCodec<unknown, unknown>

/** What a step can run: anything with a name and the schemas of its input and output, such as a task of a worker. */
export interface TaskLike<
  out Name extends string = string,
  out Input extends PayloadSchema = PayloadSchema,
  out Output extends PayloadSchema = PayloadSchema
> {
  readonly name: Name
  readonly input: Input
  readonly output: Output
}

/** A task of a task package, which is known by its name until the process is deployed. */
export interface PackageTask<
  out Name extends string = string,
  out Input extends PayloadSchema = PayloadSchema,
  out Output extends PayloadSchema = PayloadSchema
> extends TaskLike<Name, Input, Output> {
  readonly package: string
}

type Contract = typeof StepDefinition.Type

/** How a step runs its task: the options of a step in the contract, with a worker group by name or id. */
export interface StepOptions<Name extends string = string> extends Pick<
  Contract,
  | "worker"
  | "task_package_version"
  | "max_parallel"
  | "timeout_seconds"
  | "retry"
  | "start_after"
  | "failed_outputs"
  | "forward_done_items"
  | "env"
  | "environment"
  | "pause_after_failures"
  | "concurrency"
  | "rate"
> {
  /** Unique in the process; default: the name of the task. */
  readonly name?: Name
  /** Name or id of the worker group that alone may take the step; default: any worker. */
  readonly worker_group?: string
}

/** A task as a step of a process, with options. */
export interface Step<out Name extends string = string, out T extends TaskLike = TaskLike> extends TaskLike<
  Name,
  T["input"],
  T["output"]
> {
  readonly task: T
  readonly options: StepOptions
}

/** The steps of a process: one at least, each a task or a `Step`. */
export type Steps = readonly [TaskLike, ...ReadonlyArray<TaskLike>]

/** The task that a step runs. */
export type TaskOf<S> = S extends { readonly task: infer T extends TaskLike } ? T : S

/** The schema of the payloads that a process takes: that of its first step. */
export type InputOf<S extends Steps> = S[0]["input"]

/** The schema of the outputs of a process: that of its last step. */
export type OutputOf<S extends Steps> = S extends readonly [...ReadonlyArray<TaskLike>, infer Last extends TaskLike]
  ? Last["output"]
  : S[number]["output"]

/** The members because of which one object type is not assignable to the other. */
type Members<Given, Wanted> = {
  readonly [K in keyof Wanted & string]: Given extends { readonly [_ in K]?: unknown }
    ? Pick<Given, K & keyof Given> extends Pick<Wanted, K>
      ? never
      : K
    : Record<never, never> extends Pick<Wanted, K>
      ? never
      : K
}[keyof Wanted & string]

/** Names these members, if payloads are objects. */
type Where<Given, Wanted> = [Wanted] extends [Readonly<Record<string, unknown>>]
  ? [Members<Given, Wanted>] extends [never]
    ? ""
    : `: member '${Members<Given, Wanted>}'`
  : ""

/** The second of two steps, or, when the output of the first does not fit its input, a line that says so. */
type Fitting<First extends TaskLike, Second extends TaskLike> = [First["output"]["Encoded"]] extends [
  Second["input"]["Encoded"]
]
  ? Second
  : `the output of step '${First["name"]}' does not fit the input of step '${Second["name"]}'${Where<First["output"]["Encoded"], Second["input"]["Encoded"]>}`

/** The step, or, when an earlier one has the same name, a line that says so. Names of type `string` are checked at deployment. */
type Named<Names extends string, S extends TaskLike, Else> = string extends S["name"]
  ? Else
  : S["name"] extends Names
    ? `two steps have the name '${S["name"]}': name one of them with Process.step(task, { name })`
    : Else

/** A name that the compiler knows; never: one that it does not. */
type Literal<Name extends string> = string extends Name ? never : Name

/** The steps, each that does not fit those before it replaced by a line of text. */
export type Chain<S extends Steps> = S extends readonly [
  infer First extends TaskLike,
  ...infer Rest extends ReadonlyArray<TaskLike>
]
  ? readonly [First, ...ChainAfter<First, Literal<First["name"]>, Rest>]
  : S

type ChainAfter<Before extends TaskLike, Names extends string, S extends ReadonlyArray<TaskLike>> = S extends readonly [
  infer First extends TaskLike,
  ...infer Rest extends ReadonlyArray<TaskLike>
]
  ? readonly [Named<Names, First, Fitting<Before, First>>, ...ChainAfter<First, Names | Literal<First["name"]>, Rest>]
  : readonly []
