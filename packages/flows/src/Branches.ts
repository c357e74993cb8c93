/**
 * Concurrent parts of a body, and time limits.
 */
import { check, timeOrForever } from "@signalbox/transport/OptionError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { FlowContext } from "./FlowContext.ts"
import { FlowTimeout } from "./FlowErrors.ts"
import { claimed, conceal, membersOf, Position } from "./internal/body/Position.ts"

export interface Concurrency {
  /** How many run concurrently; default 1. When one fails, the others are interrupted. */
  readonly concurrency?: number | "unbounded"
}

const concurrencyOf = ({ concurrency = 1 }: Concurrency): number =>
  concurrency === "unbounded" ? Infinity : concurrency

/**
 * Runs `f` for every item and returns the results in the order of the items. The steps in it get the path `name[key]/...`.
 *
 * The key identifies an item and its recorded results, so derive it from the item, not from its index.
 */
export const forEach = <A, B, E, Context extends FlowContext<unknown>>(
  name: string,
  items: Iterable<A>,
  options: Concurrency & { readonly key: (item: A, index: number) => string },
  f: (item: A, index: number) => Effect.Effect<B, E, Context>
): Effect.Effect<Array<B>, E, Context | FlowContext<never>> =>
  claimed(name, undefined, ({ path }, interpreter) =>
    Effect.flatMap(
      membersOf(
        path,
        Array.from(items, (item, index) => [options.key(item, index), Effect.suspend(() => f(item, index))] as const)
      ),
      (members) => interpreter.all(members, concurrencyOf(options))
    )
  )

type Member = Effect.Effect<unknown, unknown, FlowContext<unknown>>
type Members = ReadonlyArray<Member> | Readonly<Record<string, Member>>
type MemberOf<M extends Members> = M extends ReadonlyArray<infer One> ? One : M[keyof M]

/** The results of `all`, in the shape of its members. */
export type AllResults<M extends Members> = {
  -readonly [K in keyof M]: M[K] extends Effect.Effect<infer A, infer _E, infer _R> ? A : never
}

/**
 * Runs several effects, as an array or by name, and returns their results in the same shape. Their steps get the path
 * `name[0]/...`, or `name[a]/...`.
 *
 * ```ts
 * import type { ProcessRunId } from "@signalbox/api/contract/Ids"
 * import { collectOutputs, failedItems } from "@signalbox/flows/ControlRoomSteps"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * export const result = (run: ProcessRunId) =>
 *   Flow.all(
 *     "result",
 *     { outputs: collectOutputs({ run }), failed: failedItems({ run }) },
 *     { concurrency: 2 }
 *   )
 * ```
 */
export const all = <const M extends Members>(
  name: string,
  members: M,
  options: Concurrency = {}
): Effect.Effect<AllResults<M>, Effect.Error<MemberOf<M>>, Effect.Services<MemberOf<M>> | FlowContext<never>> => {
  const entries = Object.entries<Member>(members)
  const values = claimed(name, undefined, ({ path }, interpreter) =>
    Effect.flatMap(membersOf(path, entries), (all) => interpreter.all(all, concurrencyOf(options)))
  )
  const results: Member = Effect.map(values, (all) =>
    Array.isArray(members) ? all : Object.fromEntries(entries.map(([key], index) => [key, all[index]]))
  )
  // Results have the keys of their members, which `Object.entries` loses.
  return results as Effect.Effect<AllResults<M>, Effect.Error<MemberOf<M>>, Effect.Services<MemberOf<M>>>
}

/** The result of a race: that of one of its members. */
export type RaceResult<M extends Members> = MemberOf<M> extends Effect.Effect<infer A, infer _E, infer _R> ? A : never

/**
 * Runs several effects, as an array or by name, and returns the result or fails with the error of the first to end; the others are
 * interrupted, and their undos run (`Flow.compensate`). Their steps get the path `name[0]/...`, or `name[a]/...`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * // Listed in the `signals` of the flow.
 * const approval = Flow.approval("approval")
 *
 * export const decision = Flow.race("decision", {
 *   person: approval.receive(),
 *   timeout: Effect.as(Flow.sleep("deadline", "2 days"), {
 *     approved: false,
 *     by: "timeout",
 *     comment: null
 *   })
 * })
 * ```
 */
export const race = <const M extends Members>(
  name: string,
  members: M
): Effect.Effect<RaceResult<M>, Effect.Error<MemberOf<M>>, Effect.Services<MemberOf<M>> | FlowContext<never>> => {
  const entries = Object.entries<Member>(members)
  const first: Member = conceal(
    claimed(name, undefined, ({ path }, interpreter) =>
      Effect.flatMap(membersOf(path, entries), (all) => interpreter.race(all))
    )
  )
  // `Object.entries` loses the types of the members.
  return first as Effect.Effect<RaceResult<M>, Effect.Error<MemberOf<M>>, Effect.Services<MemberOf<M>>>
}

/** Fails with `FlowTimeout` when an effect takes longer than `duration`, which may be weeks. Its steps get the path `name/...`. */
export const timeout = <A, E, Context extends FlowContext<unknown>>(
  name: string,
  duration: Duration.Input,
  effect: Effect.Effect<A, E, Context>,
  options: { readonly key?: string } = {}
): Effect.Effect<A, E | FlowTimeout, Context | FlowContext<never>> =>
  claimed(name, options.key, ({ path }, interpreter) => {
    check(`the timeout ${name}`, { duration }, { duration: timeOrForever })
    const afterMillis = Duration.toMillis(duration)
    const over = Effect.flatMap(Position, (position) =>
      Effect.andThen(
        position.interpreter.sleep({ path, name }, afterMillis),
        Effect.fail(new FlowTimeout({ path, afterMillis }))
      )
    )
    return interpreter.race<A, E | FlowTimeout, Context>([
      [`${path}/`, effect],
      [`${path}/`, over]
    ])
  })
