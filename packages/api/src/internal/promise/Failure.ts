/** What a call rejects with: the error of the Effect form, as a class of its own that stands where the program called. */
import { OptionError } from "@signalbox/transport/OptionError"
import { type Place, standAt } from "@signalbox/transport/Promised"
import * as Cause from "effect/Cause"
import * as Result from "effect/Result"
import * as Tagged from "../../ControlRoomError.ts"
import { PartlyCreated } from "../items/Create.ts"
import type { Seen } from "../calls/CurrentCall.ts"
import * as Errors from "./Errors.ts"

/** A call: what was called, where, and what has been received for it. */
export interface Call {
  /** Such as `workItems.create`. */
  readonly operation: string
  readonly place: Place
  readonly seen: Seen
}

type Kind = Tagged.Reason["_tag"] | "NotFound" | "Conflict" | "InvalidRequest"

const classes: Readonly<Record<Kind, new (fields: Errors.ErrorFields) => Errors.ControlRoomError>> = {
  NotFound: Errors.NotFound,
  Conflict: Errors.Conflict,
  InvalidRequest: Errors.InvalidRequest,
  Unauthorized: Errors.Unauthorized,
  Forbidden: Errors.Forbidden,
  RateLimited: Errors.RateLimited,
  Unavailable: Errors.Unavailable,
  Timeout: Errors.Timeout,
  Unreachable: Errors.Unreachable,
  Malformed: Errors.Malformed,
  Unexpected: Errors.Unexpected
}

/** The status of a response with this error, if it does not say it itself; null: the one that was received. */
const statuses: Readonly<Partial<Record<Kind, number>>> = {
  NotFound: 404,
  Conflict: 409,
  Unauthorized: 401,
  Forbidden: 403,
  RateLimited: 429
}

const withoutResponse: ReadonlySet<Kind> = new Set(["Timeout", "Unreachable"])

const statusOf = (reason: Errors.OlderReason & { readonly _tag: Kind }, attempts: number, seen: Seen) => {
  if (attempts === 0 || withoutResponse.has(reason._tag)) return null
  return "status" in reason ? reason.status : (statuses[reason._tag] ?? seen.status)
}

/** The message of the service, and the facts that a person asks for next. */
const messageOf = (
  message: string,
  { attempts, code, operation, requestId, status }: Omit<Errors.ErrorFields, "message">
) => {
  const facts = [
    ...(status == null ? [] : [code == null ? `${status}` : `${status} ${code}`]),
    ...(attempts === undefined || attempts < 2 ? [] : [`${attempts} attempts`]),
    ...(requestId == null ? [] : [`request ${requestId}`])
  ]
  return `${message}, on ${operation}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`
}

const isCallError = (error: unknown): error is Tagged.CallError =>
  error instanceof Tagged.ControlRoomError ||
  error instanceof Tagged.NotFound ||
  error instanceof Tagged.Conflict ||
  error instanceof Tagged.InvalidRequest

/** An error of the Effect form, as one of the classes. */
const classOf = (cause: Tagged.CallError, { operation, place, seen }: Call): Errors.ControlRoomError => {
  const { attempts, requestId } = cause.request
  const reason = cause._tag === "ControlRoomError" ? cause.reason : cause
  const fields = {
    status: statusOf(reason, attempts, seen),
    code: "code" in reason ? reason.code : null,
    requestId,
    attempts,
    retryAfterMillis: "retryAfterMillis" in reason ? reason.retryAfterMillis : null,
    operation,
    cause
  }
  const error = new classes[reason._tag]({ ...fields, message: messageOf(reason.message, fields) })
  return standAt(error, place)
}

/** What exists of many work items, and the class of what has ended the call. */
const partly = ({ cause, ids, total }: PartlyCreated, call: Call): Errors.PartlyCreated => {
  const flat = classOf(cause, call)
  const message = `${ids.length} of ${total} work items were created; continue from index ${ids.length}: ${flat.message}`
  const { attempts, code, operation, requestId, retryAfterMillis, status } = flat
  const fields = { status, code, requestId, attempts, retryAfterMillis, operation, cause: flat, ids, total }
  return standAt(new Errors.PartlyCreated({ ...fields, message }), call.place)
}

/** An error of the client itself, such as `Closed`. */
export const failure = (
  Class: new (fields: Errors.ErrorFields) => Errors.ControlRoomError,
  message: string,
  { operation, place }: Call
): Errors.ControlRoomError => {
  const fields = { code: null, operation }
  return standAt(new Class({ ...fields, message: messageOf(message, fields) }), place)
}

/** What a call rejects with for a failure. What the program's own functions have thrown stays as it is. */
const rejected = (error: unknown, call: Call, isOfProgram: boolean): unknown => {
  if (isCallError(error)) return classOf(error, call)
  if (error instanceof PartlyCreated) return partly(error, call)
  const isOurs = error instanceof Error && "_tag" in error && !isOfProgram
  return isOurs || error instanceof OptionError ? standAt(error, call.place) : error
}

/**
 * What a call rejects with. `isOfProgram`: the effect was the program's own, and so are its errors that are not those of calls.
 */
export const rejection = (cause: Cause.Cause<unknown>, call: Call, isOfProgram = false): unknown => {
  const failed = Cause.findError(cause)
  return Result.isSuccess(failed)
    ? rejected(failed.success, call, isOfProgram)
    : rejected(Cause.squash(cause), call, true)
}
