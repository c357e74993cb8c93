/**
 * A command that was refused; nothing was changed.
 */
import type { ErrorCode } from "@signalbox/api/contract/Responses"
import * as Data from "effect/Data"

/** `code` decides the status of the response: `NOT_FOUND` 404, `INVALID_REQUEST` 400, `PAYLOAD_TOO_LARGE` 413, else 409. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly code: Extract<ErrorCode, "CONFLICT" | "LEASE_LOST" | "NOT_FOUND" | "INVALID_REQUEST" | "PAYLOAD_TOO_LARGE">
  readonly message: string
}> {}
