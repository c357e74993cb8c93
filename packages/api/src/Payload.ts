/**
 * Payloads: what is written may be any value that JSON can say, and what is read has the type of a schema.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Schema from "effect/Schema"
import type { AnySchema, TypeOf } from "./StandardSchema.ts"

/**
 * A payload that is written: text, a number, a boolean, null, a list, or an object of any interface. Members that are `undefined` are
 * left out, and a `Date` is its ISO text, as with `JSON.stringify`. A function, a bigint, a `Map` or a `Promise` does not compile; within
 * an interface they are refused with their path (`InvalidRequest`), before anything is sent, as `NaN` and a cycle are.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 *
 * interface Invoice {
 *   readonly number: string
 *   readonly total?: number
 * }
 *
 * export const queue = (process: ProcessId, payload: Invoice) =>
 *   WorkItems.create({ process, payload })
 * ```
 */
export type Jsonable = string | number | boolean | null | JsonableLiteral | (object & JsonableObject)

/** An object as a program writes it: the compiler looks at its members. */
export interface JsonableLiteral {
  readonly [name: string]: Jsonable | undefined
}

/** An object of any interface. Not a function, a `Promise`, a `Map`, a `Set` or bytes: each of these has one of the two symbols. */
export interface JsonableObject {
  readonly [Symbol.hasInstance]?: never
  readonly [Symbol.toStringTag]?: never
}

/**
 * A payload that was read does not fit the `schema` of the call. `id` is that of the work item or output, `path` where its payload does
 * not fit, such as `lines.0.total`; empty: as a whole. The message of a schema of effect has nothing of the payload.
 */
export class UnexpectedData extends TaggedError<UnexpectedData>()("UnexpectedData", {
  id: Schema.String,
  path: Schema.String,
  /** What was expected there. */
  expected: Schema.String
}) {
  override get message(): string {
    const at = this.path === "" ? "" : `${this.path}: `
    return `the payload of ${this.id} does not fit the schema: ${at}${this.expected}`
  }
}

/**
 * The `schema` of the payloads that a call reads: one of effect, or of a library that implements Standard Schema, such as Zod, Valibot
 * or ArkType.
 *
 * ```ts
 * import type { ProcessRunId } from "@signalbox/api/contract/Ids"
 * import * as Outputs from "@signalbox/api/Outputs"
 * import * as Schema from "effect/Schema"
 * import * as Stream from "effect/Stream"
 *
 * const schema = Schema.Struct({ total: Schema.Finite })
 *
 * export const sum = (run: ProcessRunId) =>
 *   Stream.runFold(
 *     Outputs.stream(run, { schema }),
 *     () => 0,
 *     (sum, { payload }) => sum + payload.total
 *   )
 * ```
 */
export interface WithSchema<S extends AnySchema> {
  readonly schema: S
}

/** A work item or an output whose payload has the type of a schema. */
export type Typed<Item, S extends AnySchema> = Omit<Item, "payload"> & { readonly payload: TypeOf<S> }
