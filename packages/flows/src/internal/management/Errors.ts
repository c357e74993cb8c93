/**
 * The error responses of the routes.
 */
import {
  ConflictResponse,
  type ErrorBody,
  type ErrorCode,
  InvalidRequestResponse,
  NotFoundResponse
} from "@signalbox/api/contract/Responses"

export const body = (code: ErrorCode, message: string): ErrorBody => ({ error: { code, message }, message })

/** An error with a message for the client. */
export interface Said {
  readonly message: string
}
export const missing = ({ message }: Said) => new NotFoundResponse(body("NOT_FOUND", message))
export const invalid = ({ message }: Said) => new InvalidRequestResponse(body("INVALID_REQUEST", message))
export const conflicting = ({ message }: Said) => new ConflictResponse(body("CONFLICT", message))
