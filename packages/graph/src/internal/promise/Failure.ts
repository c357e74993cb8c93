/**
 * What a call with promises rejects with: the error of the Effect form, as a class that stands where the program called.
 */
import { OptionError } from "@signalbox/transport/OptionError"
import { type Place, standAt } from "@signalbox/transport/Promised"
import * as Cause from "effect/Cause"
import * as Result from "effect/Result"
import { GraphError, type Reason } from "../../GraphError.ts"
import { TransferError, type Reason as TransferReason } from "../../TransferError.ts"
import { FolderIncomplete } from "../files/FolderDownload.ts"
import { NamesRefused, UploadFolderIncomplete } from "../files/FolderUpload.ts"
import { RowsPartlyAdded, UnexpectedRow } from "../workbooks/Rows.ts"
import { UnexpectedFields } from "../lists/FieldSchema.ts"
import * as Errors from "./Errors.ts"

/** A call: what was called, such as `drives.item`, and where. */
export interface Call {
  readonly operation: string
  readonly place: Place
}

type Class = new (fields: Errors.ErrorFields) => Errors.GraphRequestError

const classes: Readonly<Record<Reason["_tag"] | TransferReason["_tag"], Class>> = {
  NotFound: Errors.NotFound,
  Gone: Errors.Gone,
  NameAlreadyExists: Errors.NameAlreadyExists,
  Conflict: Errors.Conflict,
  PreconditionFailed: Errors.PreconditionFailed,
  Locked: Errors.Locked,
  InvalidRange: Errors.InvalidRange,
  QuotaExceeded: Errors.QuotaExceeded,
  InvalidRequest: Errors.InvalidRequest,
  Unauthenticated: Errors.Unauthenticated,
  Forbidden: Errors.Forbidden,
  Throttled: Errors.Throttled,
  Unavailable: Errors.Unavailable,
  Timeout: Errors.Timeout,
  Unreachable: Errors.Unreachable,
  Malformed: Errors.Malformed,
  SessionLost: Errors.SessionLost,
  OutcomeUnknown: Errors.OutcomeUnknown,
  NotSent: Errors.NotSent,
  Unexpected: Errors.Unexpected,
  NotAFile: Errors.NotAFile,
  NotAFolder: Errors.NotAFolder,
  Mismatch: Errors.Mismatch,
  Changed: Errors.Changed,
  NotModified: Errors.NotModified,
  SourceFailed: Errors.SourceFailed,
  LocalFailed: Errors.LocalFailed,
  UploadLost: Errors.UploadLost,
  JobFailed: Errors.JobFailed
}

/** The message of the service, and the facts that a person asks for next. */
const messageOf = (message: string, fields: Omit<Errors.ErrorFields, "message">): string => {
  const { attempts, code, operation, requestId, status } = fields
  const facts = [
    ...(status == null ? [] : [code == null ? `${status}` : `${status} ${code}`]),
    ...(attempts === undefined || attempts < 2 ? [] : [`${attempts} attempts`]),
    ...(requestId == null ? [] : [`request ${requestId}`])
  ]
  return `${message}, on ${operation}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`
}

/** An error of a call, as one of the classes. */
export const classOf = (cause: GraphError | TransferError, { operation, place }: Call): Errors.GraphRequestError => {
  const { reason } = cause
  const request = cause._tag === "GraphError" ? cause.request : undefined
  const fields = {
    operation,
    cause,
    status: request?.status,
    code: cause._tag === "GraphError" ? cause.code : null,
    requestId: request?.requestId,
    clientRequestId: request?.clientRequestId,
    attempts: request?.attempts,
    retryAfterMillis: "retryAfterMillis" in reason ? reason.retryAfterMillis : null
  }
  const of = cause._tag === "TransferError" && cause.item !== null ? ` (${cause.item})` : ""
  return standAt(new classes[reason._tag]({ ...fields, message: messageOf(`${reason.message}${of}`, fields) }), place)
}

/** An error of the client itself, such as `Closed`. */
export const failure = (Class: Class, message: string, { operation, place }: Call): Errors.GraphRequestError =>
  standAt(new Class({ operation, message: messageOf(message, { operation }) }), place)

/** An error that says more than others, with that; undefined: it is none. */
const ofOwn = (cause: unknown, { operation, place }: Call): Errors.GraphRequestError | undefined => {
  const fields = (message: string) => ({ operation, message: messageOf(message, { operation }), cause })
  const made =
    cause instanceof FolderIncomplete
      ? new Errors.FolderIncomplete({ ...fields(cause.message), report: cause.report })
      : cause instanceof UploadFolderIncomplete
        ? new Errors.UploadFolderIncomplete({ ...fields(cause.message), report: cause.report })
        : cause instanceof NamesRefused
          ? new Errors.NamesRefused({ ...fields(cause.message), names: cause.names })
          : cause instanceof RowsPartlyAdded
            ? new Errors.RowsPartlyAdded({ ...fields(cause.message), added: cause.added, unknown: cause.unknown })
            : cause instanceof UnexpectedRow
              ? new Errors.UnexpectedRow({
                  ...fields(cause.message),
                  index: cause.index,
                  path: cause.path,
                  expected: cause.expected
                })
              : cause instanceof UnexpectedFields
                ? new Errors.UnexpectedFields({
                    ...fields(cause.message),
                    id: cause.id,
                    path: cause.path,
                    expected: cause.expected
                  })
                : undefined
  return made === undefined ? undefined : standAt(made, place)
}

/** `isOfProgram`: an error that the program's own effects and functions have made stays as it is. */
export const rejection = (cause: Cause.Cause<unknown>, call: Call, isOfProgram = false): unknown => {
  const failed = Cause.findError(cause)
  const isDefect = Result.isFailure(failed)
  const error = isDefect ? Cause.squash(cause) : failed.success
  if (error instanceof GraphError || error instanceof TransferError) return classOf(error, call)
  const own = ofOwn(error, call)
  if (own !== undefined) return own
  const isOurs = error instanceof Error && "_tag" in error && !isOfProgram && !isDefect
  return isOurs || error instanceof OptionError ? standAt(error, call.place) : error
}
