/**
 * Why something ended badly, when its errors are JSON already.
 */
import * as Cause from "effect/Cause"
import * as Predicate from "effect/Predicate"
import type { Failure } from "../../FlowEvents.ts"
import { failureOf } from "../InProcess.ts"

const textOf = (error: unknown, name: string): string | null =>
  Predicate.hasProperty(error, name) && Predicate.isString(error[name]) && error[name] !== "" ? error[name] : null

export const failureOfJson = (cause: Cause.Cause<unknown>): Failure => {
  const fail = cause.reasons.find(Cause.isFailReason)
  if (fail === undefined) return failureOf(cause)
  const tag = textOf(fail.error, "_tag")
  return { kind: "failed", tag, message: textOf(fail.error, "message")?.slice(0, 500) ?? tag ?? "failed" }
}
