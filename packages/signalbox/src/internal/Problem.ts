/** Formats the failure of a command: one line, with the remedy if there is one, and an exit code. */
import { ControlRoomError } from "@signalbox/api/ControlRoomError"
import * as StorageFailure from "@signalbox/sql/StorageFailure"
import * as Cause from "effect/Cause"
import * as CliError from "effect/cli/CliError"
import { isSqlError } from "effect/sql/SqlError"
import { ListenError } from "../ListenError.ts"

const hasExitCode = (error: unknown): error is { readonly exitCode: number } =>
  typeof error === "object" && error !== null && "exitCode" in error && typeof error.exitCode === "number"

/** 2 for an invalid command line; a run has its own codes; 1 for every other failure. */
export const exitCode = (error: unknown): number =>
  hasExitCode(error) ? error.exitCode : CliError.isCliError(error) ? 2 : 1

const remedies: Partial<Record<ControlRoomError["reason"]["_tag"], string>> = {
  Unreachable: "start it with `signalbox up`, or check SIGNALBOX_BASE_URL or --data",
  Timeout: "check SIGNALBOX_BASE_URL, and whether the control room is busy",
  Unauthorized: "check SIGNALBOX_API_KEY",
  Malformed: "check that SIGNALBOX_BASE_URL leads to a control room"
}

const textOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const storage = StorageFailure.of(error)
  if (storage !== null && storage.kind !== "unavailable") return storage.message
  if (isSqlError(error)) {
    return `the database: ${error.message}; check SIGNALBOX_DATABASE_URL or --database-url, and that it can be reached`
  }
  if (error instanceof ListenError) return error.ofCommand
  const remedy = error instanceof ControlRoomError ? remedies[error.reason._tag] : undefined
  return remedy === undefined ? error.message : `${error.message}; ${remedy}`
}

export const lineOf = (error: unknown): string => textOf(error).replace(/\s*\n\s*/g, " ")

/** For the cause of an effect's end. */
export const ofCause = (cause: Cause.Cause<unknown>): string => lineOf(Cause.squash(cause))
