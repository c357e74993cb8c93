/**
 * Tasks for programs without Effect: an async function from a work item to outputs. `defineTask` creates an ordinary
 * task, for tasks files, workers and tests.
 */
import { type AnySchema, codecOf, type TypeOf } from "@signalbox/api/StandardSchema"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { checkTask } from "./internal/tasks/TaskRules.ts"
import * as Robot from "./Robot.ts"
import * as Task from "./Task.ts"

export type { AnySchema, TypeOf } from "@signalbox/api/StandardSchema"
export type { ItemFile, OutputFile } from "./Task.ts"

/**
 * Thrown when the data of the item are bad or missing: the item fails with type BUSINESS and is never retried
 * automatically. `code` is for programs, the message for people.
 */
export class BusinessError extends Error {
  override readonly name = "BusinessError"
  readonly code: string
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * Thrown when the work failed although the data may be good: the item fails with type APPLICATION and is retried by the
 * policy of the step. Any other exception does the same, with its name as the code.
 */
export class ApplicationError extends Error {
  override readonly name = "ApplicationError"
  readonly code: string
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The files of the reserved item. */
export interface Files {
  /** Returns the current files, including what was attached and without what was removed. */
  readonly list: () => ReadonlyArray<Task.ItemFile>
  /** Emits the bytes of a file as they arrive; of two files with the same name, the later. */
  readonly read: (name: string) => AsyncIterable<Uint8Array>
  /** Returns a file as UTF-8 text. Rejects with `FileMissing` when it does not exist. */
  readonly text: (name: string) => Promise<string>
  /** Attaches a file to this item and replaces one of the same name. Outputs have their own files. */
  readonly attach: (file: Task.OutputFile) => Promise<void>
  readonly remove: (name: string) => Promise<void>
}

/** The argument of the `run` of a task. */
export interface TaskTools<Payload, Out> {
  /** The id of the work item. */
  readonly id: string
  readonly payload: Payload
  readonly files: Files
  /** Creates an output, optionally with files. Resolves once it is stored; it is passed on only if the item completes. */
  readonly output: (payload: Out, options?: { readonly files: ReadonlyArray<Task.OutputFile> }) => Promise<void>
  /** Aborted when the step run is stopped or runs out of time. */
  readonly signal: AbortSignal
  /**
   * Writes a line to the console of the step run. Name no secrets.
   *
   * It cannot wait. While the service receives lines more slowly than they are written, all other tools wait before they
   * do anything, so that a loop that awaits one of them now and then, such as `sleep(0)`, loses no line. A loop that
   * awaits none loses what exceeds 2,000,000 characters, and the step run gets the event `LOG_INCOMPLETE`.
   */
  readonly log: (message: string, fields?: Readonly<Record<string, unknown>>) => void
  /** Returns an item of a secret of the vault; rejects with `SecretMissing`. */
  readonly secret: (name: string, item: string) => Promise<string>
  /** Returns an asset of the workspace as text; rejects with `AssetMissing`. */
  readonly asset: (name: string) => Promise<string>
  /** Stores a file with the step run, such as a screenshot. */
  readonly saveArtifact: (file: Task.OutputFile) => Promise<void>
  /**
   * Replaces the stored payload, such as to mark progress for the next attempt. Rejects with `NumberRounded` where
   * JavaScript rounded a number that stands unchanged at its path.
   */
  readonly setPayload: (payload: Schema.Json) => Promise<void>
  /** Returns the current time; in tests that is the virtual time, unlike `new Date()`. */
  readonly now: () => Date
  /** Waits, in tests in virtual time. Rejects when the step run is stopped. */
  readonly sleep: (duration: Duration.Input) => Promise<void>
}

/** One output, none, or an async iterable of them, such as an async generator. */
export type Outputs<Out> = Out | void | AsyncIterable<Out>

export interface TaskDefinition<I extends AnySchema, O extends AnySchema> {
  /** The name by which a step of a process refers to it. */
  readonly name: string
  /** A schema of effect, or of a library with Standard Schema (Zod, Valibot, ArkType); default: any JSON. */
  readonly input?: I
  /** The same for each output. */
  readonly output?: O
  readonly run: (tools: TaskTools<TypeOf<I>, TypeOf<O>>) => Outputs<TypeOf<O>> | PromiseLike<Outputs<TypeOf<O>>>
}

/** A task of promises. */
export type PromiseTask<I, O> = Task.Task<Schema.Codec<I, unknown>, Schema.Codec<O, unknown>, Robot.Robot>

const nameOf = (error: Error): string => (error.name === "" || error.name === "Error" ? "UNEXPECTED" : error.name)

/** A failure with the place in the code that the error came from. */
const from = <Failure extends Error>(thrown: Error, failure: Failure): Failure => {
  if (thrown.stack !== undefined) failure.stack = thrown.stack
  return failure
}

/** An error of what the tools call. */
interface Tagged extends Error {
  readonly _tag: string
}
const isTagged = (error: Error): error is Tagged => "_tag" in error && typeof error._tag === "string"

/** Returns the failure that a task of effects would have failed with. */
const failureOf = (thrown: unknown): Task.BusinessFailure | Task.ApplicationFailure | Tagged => {
  if (!(thrown instanceof Error)) return new Task.ApplicationFailure({ code: "UNEXPECTED", message: String(thrown) })
  if (isTagged(thrown)) return thrown
  const { message } = thrown
  if (thrown instanceof BusinessError) return from(thrown, new Task.BusinessFailure({ code: thrown.code, message }))
  const code = thrown instanceof ApplicationError ? thrown.code : nameOf(thrown)
  return from(thrown, new Task.ApplicationFailure({ code, message }))
}

const isAsyncIterable = <Out>(value: Outputs<Out>): value is AsyncIterable<Out> =>
  Predicate.hasProperty(value, Symbol.asyncIterator) && Predicate.isFunction(value[Symbol.asyncIterator])

/** The tools of one item. They run in the context of the task: on its clock, with its console. */
const toolsOf = <Payload, Out>(
  item: Task.Item<Payload>,
  context: Context.Context<Robot.Robot>,
  signal: AbortSignal,
  offer: (output: Task.Output<Out>) => Effect.Effect<unknown>
): TaskTools<Payload, Out> => {
  const run = Effect.runPromiseWith(context)
  const promised = <A, E>(effect: Effect.Effect<A, E, Robot.Robot>): Promise<A> => run(effect, { signal })
  const clock = Context.get(context, Clock.Clock)
  return {
    id: item.id,
    payload: item.payload,
    files: {
      list: () => item.files,
      read: (name) => Stream.toAsyncIterableWith(item.readFile(name), context),
      text: (name) => promised(item.readText(name)),
      attach: (file) => promised(item.attachFile(file)),
      remove: (name) => promised(item.removeFile(name))
    },
    output: (payload, options) => promised(Effect.asVoid(offer(new Task.Output(payload, options?.files ?? [])))),
    signal,
    log: (message, fields = {}) => Effect.runSyncWith(context)(Effect.annotateLogs(Effect.logInfo(message), fields)),
    secret: (name, key) => promised(Effect.map(Robot.secretItem(name, key), Redacted.value)),
    asset: (name) => promised(Robot.assetText(name)),
    saveArtifact: (file) => promised(Robot.saveArtifact(file)),
    setPayload: (payload) => promised(item.setPayload(payload)),
    now: () => new Date(clock.currentTimeMillisUnsafe()),
    sleep: (duration) => promised(Effect.sleep(duration))
  }
}

/**
 * Defines a task by an async function. Its outputs are what it returns, what it yields as an async generator, and what it
 * passes to `output`; they are passed on only if the item completes.
 *
 * - A `BusinessError` or `ApplicationError` that it throws fails the item with that type, code and message.
 * - A payload that `input` refuses fails with BUSINESS and the code `INVALID_INPUT`; the function does not run.
 * - Any other exception is APPLICATION, with the name of the error as its code.
 * - A definition that cannot be, such as one without `run`, throws an `OptionError`.
 *
 * ```ts
 * import { BusinessError, defineTask } from "@signalbox/worker/Promises"
 *
 * export const tasks = [
 *   defineTask({
 *     name: "greet",
 *     async run({ log, output, payload }) {
 *       if (typeof payload !== "string")
 *         throw new BusinessError("NO_NAME", "the payload must be a name")
 *       log("greeting", { length: payload.length })
 *       await output({ greeting: `Hello, ${payload}` })
 *     }
 *   })
 * ]
 * ```
 */
export const defineTask = <I extends AnySchema = typeof Schema.Json, O extends AnySchema = typeof Schema.Json>(
  definition: TaskDefinition<I, O>
): PromiseTask<TypeOf<I>, TypeOf<O>> => {
  checkTask("defineTask", definition)
  const { name, run } = definition
  // Without a schema the default of the type parameter applies.
  const { input = Schema.Json as AnySchema as I, output = Schema.Json as AnySchema as O } = definition
  return Task.make(name, {
    input: codecOf(input),
    output: codecOf(output),
    run: (item) =>
      Stream.callback<Task.Output<TypeOf<O>>, ReturnType<typeof failureOf>, Robot.Robot>(
        Effect.fnUntraced(function* (queue) {
          const context = yield* Effect.context<Robot.Robot>()
          const offer = (given: Task.Output<TypeOf<O>>) => Queue.offer(queue, given)
          yield* Effect.tryPromise({
            try: async (signal) => {
              const tools = toolsOf(item, context, signal, offer)
              const made = await run(tools)
              if (!isAsyncIterable(made)) return made === undefined ? undefined : await tools.output(made)
              for await (const payload of made) {
                await tools.output(payload)
                if (signal.aborted) return
              }
            },
            catch: failureOf
          })
          yield* Queue.end(queue)
        }),
        { bufferSize: 1, strategy: "suspend" }
      )
  })
}
