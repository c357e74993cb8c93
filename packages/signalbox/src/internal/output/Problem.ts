/**
 * What went wrong, as a command says it: in one line, with the remedy where there is one, and an exit code.
 */
import { ControlRoomError, NotFound } from "@signalbox/api/ControlRoomError"
import { PostgresSettingsError } from "@signalbox/sql/PostgresOptions"
import * as StorageFailure from "@signalbox/sql/StorageFailure"
import * as Cause from "effect/Cause"
import * as Predicate from "effect/Predicate"
import * as CliError from "effect/cli/CliError"
import { PlatformError } from "effect/PlatformError"
import { isSqlError } from "effect/sql/SqlError"
import { ListenError } from "../../ListenError.ts"
import { exitCodes } from "../process/ExitCodes.ts"

const hasExitCode = (error: unknown): error is { readonly exitCode: number } =>
  Predicate.hasProperty(error, "exitCode") && typeof error.exitCode === "number"

/** 2 for an invalid command line; a run has its own codes; 1 for every other failure. */
export const exitCode = (error: unknown): number =>
  hasExitCode(error) ? error.exitCode : CliError.isCliError(error) ? exitCodes.usage : exitCodes.failed

const connectionRemedies: Partial<Record<ControlRoomError["reason"]["_tag"], string>> = {
  Unreachable: "start it with `signalbox up`, or check SIGNALBOX_BASE_URL or --data",
  Timeout: "check SIGNALBOX_BASE_URL, and whether the control room is overloaded",
  Unauthorized: "check SIGNALBOX_API_KEY",
  Malformed: "check that SIGNALBOX_BASE_URL is the address of a control room"
}

const remedyOf = ({ reason }: ControlRoomError): string | undefined => {
  if (reason._tag === "Forbidden") {
    const [, permission] = /lacks the permission ([\w.]+)/.exec(reason.message) ?? []
    return permission === undefined
      ? "check SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID"
      : `create a key with it: \`signalbox keys create --permission ${permission}\``
  }
  const elsewhere = reason._tag === "Unexpected" && reason.status === 404
  return connectionRemedies[elsewhere ? "Malformed" : reason._tag]
}

/** Which commands list what stands under a path of the service. */
const listedBy: Readonly<Record<string, string>> = {
  "process-runs": "runs list",
  "step-runs": "runs show RUN",
  "work-items": "items list",
  processes: "processes list",
  assistants: "assistants list",
  webhooks: "webhooks list",
  failures: "failures list",
  "bulk-operations": "bulk list"
}

const notFound = ({ message, request }: NotFound): string => {
  const segment = request.path.split("/").find((part) => part in listedBy)
  return segment === undefined ? message : `${message}: \`signalbox ${listedBy[segment]}\` lists those that exist`
}

/** What the system refuses, such as the data folder of another user, or one on a disk that is read-only. */
const ofPlatform = ({ message, reason }: PlatformError): string => {
  if (reason._tag === "BadArgument" || reason.pathOrDescriptor === undefined) return message
  return reason._tag === "PermissionDenied"
    ? `${reason.pathOrDescriptor}: permission denied (${reason.method}); give this user access to it, or choose another folder`
    : `${message}; check the path, and that this user can write to it`
}

const textOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const storage = StorageFailure.of(error)
  if (storage !== null && storage.kind !== "unavailable") return storage.message
  if (isSqlError(error)) {
    const reason = StorageFailure.reasonOf(Cause.fail(error))
    // Names the remedy itself.
    if (error.reason.cause instanceof PostgresSettingsError) return `the database: ${reason}`
    return `the database: ${reason}; check SIGNALBOX_DATABASE_URL or --database-url, and that it can be reached`
  }
  if (error instanceof PlatformError) return ofPlatform(error)
  if (error instanceof ListenError) return error.ofCommand
  if (error instanceof NotFound) return notFound(error)
  if (Predicate.isTagged(error, "UploadSourceError")) return `${error.message}; check the path and its permissions`
  const remedy = error instanceof ControlRoomError ? remedyOf(error) : undefined
  return remedy === undefined ? error.message : `${error.message}; ${remedy}`
}

export const lineOf = (error: unknown): string => textOf(error).replace(/\s*\n\s*/g, " ")

/** For the cause of an effect's end. */
export const ofCause = (cause: Cause.Cause<unknown>): string => lineOf(Cause.squash(cause))
