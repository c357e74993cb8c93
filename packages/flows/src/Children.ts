/**
 * Child executions: separate executions that are started by another.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { FlowContext } from "./FlowContext.ts"
import { FlowDefect } from "./FlowDefect.ts"
import {
  DeadlineExceeded,
  ExecutionConflict,
  ExecutionNotFound,
  FlowCancelled,
  FlowHalted,
  type InvalidInput,
  SignalConflict
} from "./FlowErrors.ts"
import { Attempt } from "./internal/model/Identity.ts"
import { subjectOf } from "./internal/model/Awaited.ts"
import { recordChildInput } from "./internal/body/ChildInput.ts"
import { Children, Started } from "./internal/body/ChildExecutions.ts"
import type { Flow, FlowDefinition } from "./internal/body/FlowType.ts"
import { outcomeOf } from "./internal/operate/Outcome.ts"
import { endedOf } from "./internal/plain/PlainRun.ts"
import {
  at,
  type Claimed,
  claimed,
  conceal,
  type Interpreter,
  once,
  Position,
  segment
} from "./internal/body/Position.ts"
import { type Codec, record } from "./internal/model/Values.ts"
import { whenOf, type WhenOptions } from "./internal/model/When.ts"
import type { Signal } from "./Signals.ts"

interface ChildOptions {
  /** The key of the child's flow; an existing execution with it is joined. Default: a key derived from this place. */
  readonly key?: string
  /**
   * Whether the child is cancelled (the default) or left running when the execution that started it completes, fails, is cancelled
   * or terminated. A joined execution that was started elsewhere is always left running.
   */
  readonly onParentEnd?: "cancel" | "leave"
}

/** How a child is started, when, in which order, and until when; `after` and `deadline` count from the start in the body. */
export type StartOptions = ChildOptions & WhenOptions

/** The error of a child that was started with a deadline. */
type Late<O> = "deadline" extends keyof O ? DeadlineExceeded : never

/** An execution that a body has started or found. Its members are steps, for use in the body. */
export interface Child<S, E> {
  readonly id: string
  /**
   * Waits until the child has ended, without a limit, and returns its result; fails with its error, with `FlowCancelled`, or with
   * `DeadlineExceeded` when it was started with a deadline. A halted child has not ended.
   */
  readonly result: Effect.Effect<S, E | FlowCancelled, FlowContext<never>>
  /** Sends the child a signal that its flow lists. Fails when it has received another value, or has ended. */
  readonly signal: <V extends Codec>(
    signal: Signal<V>,
    value: V["Type"],
    options?: { readonly key?: string }
  ) => Effect.Effect<void, SignalConflict | ExecutionConflict, FlowContext<never>>
  /** Cancels the child and runs its undos. Changes nothing when it has ended. */
  readonly cancel: Effect.Effect<void, never, FlowContext<never>>
}

/** The current attempt, which knows the execution of this step. */
const attempt = Effect.flatMap(Attempt, (current) =>
  current === null
    ? Effect.die(new FlowDefect({ message: "a child was used outside of a step" }))
    : Effect.succeed(current)
)

const work = { retry: once, transient: null, repeatable: true } as const

/**
 * Starts another flow as a separate execution, a child with its own journal, key and commands, without waiting for it. In a plain
 * run the child runs concurrently with its parent, in memory, and has no priority.
 *
 * Fails with `InvalidInput` when the input does not fit the schema of the flow: nothing was started, and the failure is recorded like
 * that of a step. Repeated calls in one place are numbered, like steps. The execution halts when the key belongs to an execution that is no longer
 * retained.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * const invoice = Flow.make("invoice", {
 *   version: 1,
 *   input: Schema.String,
 *   success: Schema.Finite,
 *   error: Schema.Never,
 *   idempotencyKey: (order) => order,
 *   run: (order) => Effect.as(Flow.sleep("payment", "14 days"), order.length)
 * })
 *
 * export const month = Flow.make("month", {
 *   version: 1,
 *   input: Schema.Array(Schema.String),
 *   success: Schema.Array(Schema.Finite),
 *   error: Flow.errorsOf(invoice, Flow.FlowCancelled),
 *   idempotencyKey: (orders) => orders.join(),
 *   run: (orders) =>
 *     Flow.forEach(
 *       "order",
 *       orders,
 *       { key: (order) => order, concurrency: "unbounded" },
 *       (order) =>
 *         Effect.flatMap(
 *           Flow.start(invoice, order, { key: order }),
 *           (child) => child.result
 *         )
 *     )
 * })
 * ```
 */
export const start = <I extends Codec, S extends Codec, E extends Codec, R, O extends StartOptions = {}>(
  flow: Flow<I, S, E, R>,
  input: I["Type"],
  options?: O
): Effect.Effect<Child<S["Type"], E["Type"] | Late<O>>, InvalidInput, FlowContext<R>> =>
  // Without a deadline, `childOf` returns one that does not fail with it.
  started(flow, input, options ?? {}) as Effect.Effect<
    Child<S["Type"], E["Type"] | Late<O>>,
    InvalidInput,
    FlowContext<R>
  >

const started = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"],
  { key, onParentEnd = "cancel", ...options }: StartOptions
): Effect.Effect<Child<S["Type"], E["Type"] | DeadlineExceeded>, InvalidInput, FlowContext<R>> =>
  conceal(
    claimed(
      flow.name,
      key,
      (claim, interpreter) =>
        Effect.gen(function* () {
          const { numbered, path } = claim
          const { prefix } = yield* Position
          const when = whenOf(`the start of ${flow.name}`, options)
          const given = yield* recordChildInput(flow, input, claim, interpreter)
          const started = yield* interpreter.step({
            path,
            name: flow.name,
            kind: "child",
            input: given.json,
            inputSchema: flow.input,
            numbered,
            success: Started,
            error: Schema.Never,
            ...work,
            execute: Effect.contextWith((context: Context.Context<R>) =>
              Effect.gen(function* () {
                const { executionId, scope } = yield* attempt
                const execution = yield* Context.get(context, Children).start({
                  parent: executionId,
                  onParentEnd,
                  flow: flow.name,
                  version: flow.version,
                  key: key ?? scope,
                  input: given.json,
                  tags: [...flow.tags(given.value)],
                  limits: flow.limitKeys(given.value),
                  when,
                  run: (id) => Effect.provideContext(endedOf(flow, id, given.json, when), context)
                })
                return { execution, onParentEnd }
              })
            )
          })
          const own = path.slice(prefix.length)
          return childOf(flow, started.execution, own, when.deadlineMillis !== null)
        }),
      { repeats: true }
    )
  )

/**
 * Returns the execution of another flow with this key, to send it signals and to wait for its result; nothing is started. Fails with
 * `ExecutionNotFound`, which is recorded like the failure of a step. `Flow.start` with `onParentEnd: "leave"` starts one that may be
 * missing.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * const paid = Flow.signal("paid", Schema.Finite)
 * const order = Flow.define("order", {
 *   version: 1,
 *   input: Schema.String,
 *   success: Schema.Void,
 *   error: Schema.Never,
 *   idempotencyKey: (id) => id,
 *   signals: [paid]
 * })
 *
 * export const payment = Flow.make("payment", {
 *   version: 1,
 *   input: Schema.Struct({ order: Schema.String, cents: Schema.Finite }),
 *   success: Schema.Void,
 *   error: Flow.errorsOf(
 *     Flow.ExecutionNotFound,
 *     Flow.SignalConflict,
 *     Flow.ExecutionConflict
 *   ),
 *   idempotencyKey: (payment) => payment.order,
 *   run: (payment) =>
 *     Effect.flatMap(Flow.find(order, payment.order), (found) =>
 *       found.signal(paid, payment.cents)
 *     )
 * })
 * ```
 */
export const find = <I extends Codec, S extends Codec, E extends Codec>(
  flow: FlowDefinition<I, S, E>,
  key: string
): Effect.Effect<Child<S["Type"], E["Type"]>, ExecutionNotFound, FlowContext<never>> =>
  conceal(
    claimed(
      flow.name,
      key,
      ({ numbered, path }, interpreter) =>
        Effect.gen(function* () {
          const { prefix } = yield* Position
          const id = yield* interpreter.step({
            path,
            name: flow.name,
            input: key,
            inputSchema: Schema.String,
            numbered,
            success: Schema.String,
            error: ExecutionNotFound,
            ...work,
            execute: Effect.flatMap(Children, (children) => children.find(flow.name, key)).pipe(
              Effect.filterOrFail(
                Predicate.isNotNull,
                () => new ExecutionNotFound({ execution: `${flow.name} ${key}` })
              )
            )
          })
          // Without a deadline of this body, it does not fail with one.
          return childOf(flow, id, path.slice(prefix.length), false) as Child<S["Type"], E["Type"]>
        }),
      { repeats: true }
    )
  )

/** Runs a member of a child under a path below the child's own segment, at the place of the call. */
const below = <A, E, R>(
  child: string,
  name: string,
  use: (claimed: Claimed, interpreter: Interpreter) => Effect.Effect<A, E, R>
) =>
  Effect.flatMap(Position, ({ interpreter, prefix }) =>
    at({ interpreter, prefix: `${prefix}${child}/` })(claimed(name, undefined, use))
  )

const nothing = { input: null, inputSchema: Schema.Null } as const

const childOf = <I extends Codec, S extends Codec, E extends Codec>(
  flow: FlowDefinition<I, S, E>,
  id: string,
  own: string,
  hasDeadline: boolean
): Child<S["Type"], E["Type"] | DeadlineExceeded> => {
  const error = Schema.Union([flow.error, FlowCancelled, DeadlineExceeded])
  const result = below(own, "result", (claim, interpreter) =>
    interpreter.step<S, typeof error, never>({
      ...claim,
      ...nothing,
      ...work,
      name: "result",
      success: flow.success,
      error,
      execute: Effect.flatMap(Children, ({ ended }) => ended(id)).pipe(
        Effect.flatMap((execution) => outcomeOf(flow, execution)),
        // A joined execution may have a deadline of which this body does not know: it was ended from outside.
        Effect.mapError((error) =>
          !hasDeadline && error instanceof DeadlineExceeded && error.execution === id
            ? new FlowCancelled({ execution: id })
            : error
        ),
        // In an engine a halted child can be resumed, so its parent waits; a script ends with its child.
        Effect.catch((error) => (error instanceof FlowHalted ? Effect.die(error) : Effect.fail(error)))
      ),
      awaits: Effect.map(Children, ({ awaited }) => ({
        subject: subjectOf(id),
        timeoutMillis: null,
        recorded: awaited(id)
      }))
    })
  )
  return {
    id,
    result: conceal(result),
    signal: (signal, value, { key } = {}) =>
      conceal(
        below(own, signal.name, (claim, interpreter) =>
          Effect.gen(function* () {
            if (!flow.signals.includes(signal)) {
              const message = `the flow ${flow.name} does not list ${signal.name}: list it in the \`signals\` of Flow.make`
              return yield* Effect.die(new FlowDefect({ message }))
            }
            const given = yield* record(signal.schema, value, `the signal ${signal.name}`)
            yield* interpreter.step({
              ...claim,
              ...work,
              name: signal.name,
              input: given.json,
              inputSchema: signal.schema,
              success: Schema.Void,
              error: Schema.Union([SignalConflict, ExecutionConflict]),
              execute: Effect.flatMap(attempt, ({ scope }) =>
                Effect.flatMap(Children, ({ send }) =>
                  send(id, {
                    kind: signal.kind,
                    name: segment(signal.name, key),
                    id: signal.kind === "inbox" ? scope : "",
                    value: given.json
                  })
                )
              )
            })
          })
        )
      ),
    cancel: conceal(
      below(own, "cancel", (claim, interpreter) =>
        interpreter.step({
          ...claim,
          ...nothing,
          ...work,
          name: "cancel",
          success: Schema.Void,
          error: Schema.Never,
          execute: Effect.flatMap(Children, ({ cancel }) => cancel(id))
        })
      )
    )
  }
}
