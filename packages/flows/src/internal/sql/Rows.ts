/**
 * Values as columns. JSON is text, and how something ended is a `value` (of a success, or of a failure by the schema) or
 * a whole `cause`.
 */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { FlowChanged } from "../../FlowErrors.ts"

/** An exit whose values are JSON already; a null stands for none. */
export type JsonExit = Exit.Exit<unknown, unknown>

export interface OutcomeColumns {
  readonly value: string | null
  readonly cause: string | null
}

/** For defects as they were thrown. Of most only the name and the message are kept. */
const defects = Schema.toCodecJson(Schema.Cause(Schema.Json, Schema.Union([FlowChanged, Schema.Defect()])))
const encodeCause = Schema.encodeUnknownSync(defects)
const decodeCause = Schema.decodeUnknownSync(defects)

export const toJson = (value: unknown): string => JSON.stringify(value ?? null)

/** Null of null, and of what is not there. */
export const fromJson = (text: string | null): Schema.Json => (text === null ? null : JSON.parse(text))

const withNulls = (cause: Cause.Cause<unknown>) => Cause.map(cause, (error) => error ?? null)

/** The error of a cause that is just one. */
const onlyError = (cause: Cause.Cause<unknown>): Cause.Fail<unknown> | null => {
  const [reason, ...others] = cause.reasons
  return reason !== undefined && others.length === 0 && Cause.isFailReason(reason) ? reason : null
}

export const outcomeColumns = (exit: JsonExit): OutcomeColumns => {
  if (Exit.isSuccess(exit)) return { value: toJson(exit.value), cause: null }
  const error = onlyError(exit.cause)
  return error === null
    ? { value: null, cause: JSON.stringify(encodeCause(withNulls(exit.cause))) }
    : { value: toJson(error.error), cause: null }
}

export const causeColumn = (cause: Cause.Cause<never> | undefined): string | null =>
  cause === undefined ? null : JSON.stringify(encodeCause(cause))

export const toCause = (text: string): Cause.Cause<unknown> => decodeCause(JSON.parse(text))

export const toExit = (succeeded: boolean, { cause, value }: OutcomeColumns): JsonExit => {
  if (cause !== null) return Exit.failCause(toCause(cause))
  return succeeded ? Exit.succeed(fromJson(value)) : Exit.fail(fromJson(value))
}

/** For exits whose defects are JSON too, as those of deferreds. */
const wholes = Schema.toCodecJson(Schema.Exit(Schema.Json, Schema.Json, Schema.Json))
const encodeWhole = Schema.encodeUnknownSync(wholes)
const decodeWhole = Schema.decodeUnknownSync(wholes)

export const wholeColumn = (exit: JsonExit): string =>
  JSON.stringify(
    encodeWhole(Exit.isSuccess(exit) ? Exit.succeed(exit.value ?? null) : Exit.failCause(withNulls(exit.cause)))
  )

export const toWhole = (text: string): JsonExit => decodeWhole(JSON.parse(text))
