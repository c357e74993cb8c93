/** Tasks in TypeScript, which a worker runs in its process for every work item of a step. */
import * as SchemaProblem from "@signalbox/transport/SchemaProblem"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Item, OutputFile } from "./internal/items/Item.ts"
import { checkTask } from "./internal/tasks/TaskRules.ts"
import { type ApplicationFailure, BusinessFailure, InvalidOutput } from "./internal/outcome/TaskFailure.ts"
import type { Robot } from "./Robot.ts"

export type { Input, Item, OutputFile } from "./internal/items/Item.ts"
export { ApplicationFailure, BusinessFailure, FileMissing } from "./internal/outcome/TaskFailure.ts"
export type { ItemFile } from "./internal/items/ItemSource.ts"

/** A payload with files. A task without files returns the payload itself. */
export class Output<out Payload> {
  readonly payload: Payload
  readonly files: ReadonlyArray<OutputFile>
  constructor(payload: Payload, files: ReadonlyArray<OutputFile>) {
    this.payload = payload
    this.files = files
  }
}

/** Creates an output with files. */
export const output = <Payload>(
  payload: Payload,
  options: { readonly files: ReadonlyArray<OutputFile> }
): Output<Payload> => new Output(payload, options.files)

/** The constraint on input and output schemas of a task: they need no services. */
export type PayloadSchema = Schema.ConstraintCodec<unknown, unknown>

/**
 * A named task. `R`: the services that it needs, which the worker then requires. `Name`: its name as a literal, for the errors of
 * the compiler when the task does not fit into a process.
 */
export interface Task<
  out Input extends PayloadSchema,
  out Out extends PayloadSchema,
  out R = never,
  out Name extends string = string
> {
  readonly name: Name
  readonly input: Input
  readonly output: Out
  /**
   * The task over JSON: decodes the payload, runs, and encodes the result. Fails with `BusinessFailure`
   * (`INVALID_INPUT`) before anything runs, with `ApplicationFailure` (`INVALID_OUTPUT`), or as the task itself fails.
   */
  readonly outputs: (item: Item<Schema.Json>) => Effect.Effect<Outputs<R>, unknown, R>
}

/** What a task returns for an item: one output, none, or a stream, whose elements are encoded as they are emitted. */
export type Outputs<R> = Output<Schema.Json> | undefined | Stream.Stream<Output<Schema.Json>, unknown, R>

/** Any task. */
export type Any = Task<PayloadSchema, PayloadSchema, unknown>

/** The services that a task needs from the program around the worker, without `Robot`, which the worker provides. */
export type Services<T extends Any> = T extends Task<infer _Input, infer _Output, infer R> ? Exclude<R, Robot> : never

/**
 * Whether a value, such as one that a module exports, is a task. The services it needs cannot be checked at run time.
 */
export const isTask = (value: unknown): value is Task<PayloadSchema, PayloadSchema> =>
  Predicate.hasProperty(value, "name") &&
  typeof value.name === "string" &&
  Predicate.hasProperty(value, "outputs") &&
  typeof value.outputs === "function"

/** Says where and what was expected, never the value: payloads may be secret. */
const describe = (error: Schema.SchemaError): string => {
  const { field, message } = SchemaProblem.first(error)
  return `payload${field === "" ? "" : `.${field}`}: ${message}`
}

/**
 * Creates a task. `run` receives the item with its payload decoded by `input`, and returns one output, none (`void`),
 * or a stream of them; payloads are encoded by `output`. Outputs keep the order of the stream, and are passed on when
 * the step run ends.
 *
 * - `BusinessFailure` and `ApplicationFailure` fail the item with that type, code and message; what it emitted before is
 *   passed on, unless the step retries the item or says `failed_outputs: "drop"`.
 * - A payload that `input` refuses is a `BusinessFailure` with the code `INVALID_INPUT`; the task does not run.
 * - Any other failure is APPLICATION with the error's tag as its code, a defect without a tag `UNEXPECTED`; its outputs,
 *   and those of an item with an invalid output, are dropped.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Task from "@signalbox/worker/Task"
 *
 * export const greet = Task.make("greet", {
 *   input: Schema.Struct({ name: Schema.String }),
 *   output: Schema.Struct({ greeting: Schema.String }),
 *   run: (item) => Effect.succeed({ greeting: `Hello, ${item.payload.name}` })
 * })
 * ```
 */
export const make = <
  Input extends PayloadSchema,
  Out extends PayloadSchema,
  E = never,
  R = never,
  const Name extends string = string
>(
  name: Name,
  definition: {
    readonly input: Input
    readonly output: Out
    readonly run: (
      item: Item<Input["Type"]>
    ) =>
      | Effect.Effect<Out["Type"] | Output<Out["Type"]> | void, E, R>
      | Stream.Stream<Out["Type"] | Output<Out["Type"]>, E, R>
  }
): Task<Input, Out, R, Name> => {
  checkTask("Task.make", { ...definition, name })
  const options = { errors: "first", reportInput: false } as const
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(definition.input), options)
  const encode = Schema.encodeUnknownEffect(Schema.toCodecJson(definition.output), options)
  const encodeOutput = (value: unknown) => {
    const given = value instanceof Output ? value : new Output(value, [])
    return Effect.mapBoth(encode(given.payload), {
      onSuccess: (payload) => new Output(payload, given.files),
      onFailure: (error) => new InvalidOutput({ code: "INVALID_OUTPUT", message: describe(error) })
    })
  }
  const outputs = Effect.fnUntraced(function* (
    item: Item<Schema.Json>
  ): Effect.fn.Return<Outputs<R>, E | BusinessFailure | ApplicationFailure, R> {
    const payload = yield* Effect.mapError(
      decode(item.payload),
      (error) => new BusinessFailure({ code: "INVALID_INPUT", message: describe(error) })
    )
    const made = definition.run({ ...item, payload })
    if (Stream.isStream(made)) return Stream.mapEffect(made, encodeOutput)
    const value = yield* made
    return value === undefined ? undefined : yield* encodeOutput(value)
  })
  return { name, input: definition.input, output: definition.output, outputs }
}
