/**
 * Error responses. Each status has one class; all share one body: `{"error": {"code", "message"}, "message"}`. The
 * `status` of each class distinguishes them in types and is not sent.
 */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"

/**
 * Annotates an endpoint whose response the service builds field by field, around payloads that are stored as JSON text:
 * it is sent without being encoded again. All others are encoded, so that no undeclared field is sent.
 */
export const SentAsStored = Context.Reference<boolean>("@signalbox/api/contract/SentAsStored", {
  defaultValue: () => false
})

/** The `error.code` values of the service. */
export const ErrorCode = Schema.Literals([
  "INVALID_REQUEST",
  "UNAUTHENTICATED",
  "FORBIDDEN",
  "NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "CONFLICT",
  "LEASE_LOST",
  "IDEMPOTENCY_KEY_REUSED",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "RATE_LIMITED",
  "UNAVAILABLE",
  "UNEXPECTED_ERROR"
])
export type ErrorCode = typeof ErrorCode.Type

const body = {
  error: Schema.Struct({ code: ErrorCode, message: Schema.String }),
  message: Schema.String
}

/** The JSON body of every response with a status of 400 or more. */
export const ErrorBody = /* @__PURE__ */ Schema.Struct(body).annotate({ identifier: "Error" })
export type ErrorBody = typeof ErrorBody.Type

/** 400: the input is invalid; the message names the field and the remedy. */
export class InvalidRequestResponse extends Schema.Error<InvalidRequestResponse>("InvalidRequestResponse")(body, {
  httpApiStatus: 400
}) {
  readonly status = 400
}

/** 401: no key, or a malformed one. */
export class UnauthenticatedResponse extends Schema.Error<UnauthenticatedResponse>("UnauthenticatedResponse")(body, {
  httpApiStatus: 401
}) {
  readonly status = 401
}

/** 403: an unknown key, a key of another workspace, or a key without the permission. */
export class ForbiddenResponse extends Schema.Error<ForbiddenResponse>("ForbiddenResponse")(body, {
  httpApiStatus: 403
}) {
  readonly status = 403
}

/** 404: the resource does not exist in this workspace. */
export class NotFoundResponse extends Schema.Error<NotFoundResponse>("NotFoundResponse")(body, {
  httpApiStatus: 404
}) {
  readonly status = 404
}

/** 409: the state of the resource does not allow this; nothing was changed. */
export class ConflictResponse extends Schema.Error<ConflictResponse>("ConflictResponse")(body, {
  httpApiStatus: 409
}) {
  readonly status = 409
}

/** 413: a body or a file is larger than the limit or than declared; nothing was stored. */
export class PayloadTooLargeResponse extends Schema.Error<PayloadTooLargeResponse>("PayloadTooLargeResponse")(body, {
  httpApiStatus: 413
}) {
  readonly status = 413
}

/** 503: the service is stopping or its database is unavailable; try again later. */
export class UnavailableResponse extends Schema.Error<UnavailableResponse>("UnavailableResponse")(body, {
  httpApiStatus: 503
}) {
  readonly status = 503
}
