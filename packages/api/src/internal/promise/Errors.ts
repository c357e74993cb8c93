/**
 * The errors of the client with promises: one class for each kind, all of them `ControlRoomError`. The Effect form has tagged errors in
 * a union instead, which needs no hierarchy; they are the `cause` of these.
 */
import type * as Tagged from "../../ControlRoomError.ts"

/** What an error says; what is left out is null, and 0 attempts. */
export interface ErrorFields {
  readonly message: string
  readonly status?: number | null | undefined
  readonly code?: string | null | undefined
  readonly requestId?: string | null | undefined
  readonly attempts?: number | undefined
  readonly retryAfterMillis?: number | null | undefined
  readonly operation?: string | undefined
  /** The error of the Effect form. */
  readonly cause?: unknown
}

/** What a program of before reads: the tagged reason of a `ControlRoomError`, else the tagged error itself. */
export type OlderReason = Tagged.Reason | Tagged.NotFound | Tagged.Conflict | Tagged.InvalidRequest | ControlRoomError

const isTagged = (error: unknown): error is Tagged.CallError =>
  error instanceof Error && "_tag" in error && "request" in error

/** A call failed. Each kind is a class of its own, which is thrown. */
export class ControlRoomError extends Error {
  override readonly name: string = "ControlRoomError"
  /** The name of the class. */
  readonly _tag: string = "ControlRoomError"
  /** The status of the response; null where there was none, or none that counts. */
  readonly status: number | null
  /** What the service calls the failure, such as `NOT_FOUND`; null where it said nothing. */
  readonly code: string | null
  /** The id of the request in the logs of the service; null where there was no response. */
  readonly requestId: string | null
  /** How often the request was sent; 0: not at all. */
  readonly attempts: number
  /** When the service will accept the call again, in milliseconds; null where it did not say. */
  readonly retryAfterMillis: number | null
  /** The function that was called, such as `workItems.create`. */
  readonly operation: string

  constructor(fields: ErrorFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.status = fields.status ?? null
    this.code = fields.code ?? null
    this.requestId = fields.requestId ?? null
    this.attempts = fields.attempts ?? 0
    this.retryAfterMillis = fields.retryAfterMillis ?? null
    this.operation = fields.operation ?? ""
  }

  /** @deprecated Ask for the class, or `_tag`, of the error itself. */
  get reason(): OlderReason {
    const { cause } = this
    if (!isTagged(cause)) return this
    return cause._tag === "ControlRoomError" ? cause.reason : cause
  }
}

/** 404: the resource does not exist in the workspace. */
export class NotFound extends ControlRoomError {
  override readonly name = "NotFound"
  override readonly _tag = "NotFound"
}

/** 409: the state of the resource does not allow this. Nothing was changed. */
export class Conflict extends ControlRoomError {
  override readonly name = "Conflict"
  override readonly _tag = "Conflict"
}

/** 400, 413, 415 or 422, or refused before it was sent: the message names the field. */
export class InvalidRequest extends ControlRoomError {
  override readonly name = "InvalidRequest"
  override readonly _tag = "InvalidRequest"
}

/** 401: the key is malformed. */
export class Unauthorized extends ControlRoomError {
  override readonly name = "Unauthorized"
  override readonly _tag = "Unauthorized"
}

/** 403: the key is unknown, belongs to another workspace or lacks the permission. */
export class Forbidden extends ControlRoomError {
  override readonly name = "Forbidden"
  override readonly _tag = "Forbidden"
}

/** 429 after the last attempt. */
export class RateLimited extends ControlRoomError {
  override readonly name = "RateLimited"
  override readonly _tag = "RateLimited"
}

/** 502, 503, 504 or 507 after the last attempt. */
export class Unavailable extends ControlRoomError {
  override readonly name = "Unavailable"
  override readonly _tag = "Unavailable"
}

/** A time limit was exceeded: that of an attempt, of a request, of the call, or of a wait such as `awaitEnd`. */
export class Timeout extends ControlRoomError {
  override readonly name = "Timeout"
  override readonly _tag = "Timeout"
}

/** No response. `attempts` is how often the request was sent, or was to be sent. */
export class Unreachable extends ControlRoomError {
  override readonly name = "Unreachable"
  override readonly _tag = "Unreachable"
}

/** The response does not match the contract: not JSON, or another shape. */
export class Malformed extends ControlRoomError {
  override readonly name = "Malformed"
  override readonly _tag = "Malformed"
}

/** Any other status. */
export class Unexpected extends ControlRoomError {
  override readonly name = "Unexpected"
  override readonly _tag = "Unexpected"
}

/** The client was closed before the call, or while it was active. */
export class Closed extends ControlRoomError {
  override readonly name = "Closed"
  override readonly _tag = "Closed"
}

/**
 * Of many work items, some were created before a request failed. To continue, create those from index `ids.length` on, or repeat the
 * whole with the same `idempotencyKey`. `status`, `code` and `requestId` are those of `cause`.
 */
export class PartlyCreated extends ControlRoomError {
  override readonly name = "PartlyCreated"
  override readonly _tag = "PartlyCreated"
  /** Of what exists, in the order of their payloads. */
  readonly ids: ReadonlyArray<string>
  /** How many were to be created. */
  readonly total: number
  /** Why no more were created. */
  declare readonly cause: ControlRoomError

  constructor(
    fields: ErrorFields & {
      readonly ids: ReadonlyArray<string>
      readonly total: number
      readonly cause: ControlRoomError
    }
  ) {
    super(fields)
    this.ids = fields.ids
    this.total = fields.total
  }
}
