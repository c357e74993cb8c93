/**
 * What the graph refuses, and with which words. `inner` are the codes inside of `innerError`, from the outside in.
 */
import * as Schema from "effect/Schema"
import * as NotServed from "./NotServed.ts"

export class Failure extends Schema.TaggedError<Failure>()("Failure", {
  status: Schema.Finite,
  code: Schema.String,
  message: Schema.String,
  inner: Schema.optional(Schema.Array(Schema.String)),
  /** What else stands in `innerError`. */
  details: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  headers: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  /** The body is a page, as of something in between. */
  html: Schema.optional(Schema.Boolean)
}) {}

export const make =
  (status: number, code: string, fallback: string) =>
  (message: string = fallback, ...inner: ReadonlyArray<string>) =>
    new Failure({ status, code, message, inner })

export const invalidRequest = make(400, "invalidRequest", "Invalid request")
export const badRequest = make(400, "BadRequest", "The request is malformed or incorrect.")
export const directoryRequest = make(400, "Request_BadRequest", "Invalid request")
export const unauthenticated = make(401, "unauthenticated", "The caller is not authenticated.")
export const tokenRefused = make(401, "InvalidAuthenticationToken", "Access token is empty.")
export const accessDenied = make(403, "accessDenied", "Access denied")
export const directoryDenied = make(
  403,
  "Authorization_RequestDenied",
  "Insufficient privileges to complete the operation."
)
export const itemNotFound = make(404, "itemNotFound", "The resource could not be found.")
export const resourceNotFound = make(404, "Request_ResourceNotFound", "The resource does not exist.")
export const methodNotAllowed = make(405, "UnknownError", "The method is not allowed for this resource.")
export const nameAlreadyExists = make(409, "nameAlreadyExists", "The specified item name already exists.")
export const uploadNameConflict = make(
  409,
  "upload_name_conflict",
  "Another file exists with the same name as the uploaded session."
)
export const resync = make(410, "resyncRequired", "Resync required. Replace any local items with the server's version.")
export const resourceModified = make(412, "resourceModified", "ETag does not match current item's value")
export const locked = make(423, "notAllowed", "The file is checked out to another user.")
export const lengthRequired = make(411, "invalidRequest", "A Content-Length header is required.")
export const tooLarge = make(413, "invalidRequest", "The request is too large.")
export const invalidRange = make(416, "invalidRange", "The requested range cannot be satisfied.")
export const serviceNotAvailable = make(503, "serviceNotAvailable", "The service is not available.")
export const quotaReached = make(507, "quotaLimitReached", "The owner of the drive is out of space.")

/** Refusals of subscriptions. */
export const subscriptionInvalid = make(400, "ValidationError", "The subscription is not valid.")
export const subscriptionTooLong = make(400, "ExtensionError", "The subscription would be too long.")
export const subscriptionNotFound = make(404, "ResourceNotFound", "The object was not found.")

/** What the API of workbooks refuses: the code of Excel, and inside of it the one that is documented. */
const ofWorkbook =
  (status: number, code: string, inner: string, fallback: string) =>
  (message: string = fallback) =>
    new Failure({ status, code, message, inner: [inner] })

export const unsupportedWorkbook = ofWorkbook(
  400,
  "FileCorruptTryRepair",
  "unsupportedWorkbook",
  "The workbook cannot be opened."
)
export const invalidArgument = ofWorkbook(
  400,
  "InvalidArgument",
  "invalidArgument",
  "The argument is invalid or missing or has an incorrect format."
)
export const rangeExceedsLimit = ofWorkbook(
  400,
  "RangeExceedsLimit",
  "rangeExceedsLimit",
  "The cell count in range is too large."
)
export const workbookItemNotFound = ofWorkbook(
  404,
  "ItemNotFound",
  "itemNotFound",
  "The requested resource doesn't exist."
)
export const sessionNotFound = ofWorkbook(
  404,
  "InvalidOrTimedOutSession",
  "invalidSessionReCreatable",
  "The session specified in the request does not exist or is invalid due to a transient error."
)
export const workbookItemExists = ofWorkbook(
  409,
  "ItemAlreadyExists",
  "itemAlreadyExists",
  "A resource with the same name or identifier already exists."
)
export const payloadTooLarge = ofWorkbook(
  413,
  "RequestPayloadSizeLimitExceeded",
  "payloadTooLargeUncategorized",
  "The request payload size has exceeded the limit."
)

export const notServed = make(501, "notSupported", "The sandbox does not serve this.")

/** A part of the address that leads nowhere: here, or in the service too. The latter comes without `innerError`. */
export const unknownSegment = (segment: string) =>
  NotServed.has(segment)
    ? notServed(`The sandbox does not serve '${segment}'. Its README lists what it serves.`)
    : make(400, "RequestBroker--ParseUri", "")(`Resource not found for the segment '${segment}'.`)

/** The same refusal, with headers. */
export const withHeaders = (failure: Failure, headers: Readonly<Record<string, string>>): Failure => {
  const { code, details, html, inner, message, status } = failure
  return new Failure({
    status,
    code,
    message,
    inner,
    details,
    html,
    headers: { ...headers, ...failure.headers }
  })
}

/** The body of an error, as `requestId` and its request have it. */
export const body = (
  failure: Failure,
  ids: { readonly requestId: string; readonly clientRequestId: string },
  now: number
) => {
  const { code, details, inner = [], message } = failure
  if (code.startsWith("RequestBroker--")) return { error: { code, message } }
  const nested = inner
    .slice(1)
    .reduceRight<Record<string, unknown> | undefined>((below, code) => ({ code, innerError: below }), undefined)
  return {
    error: {
      code,
      message,
      innerError: {
        code: inner[0],
        ...details,
        innerError: nested,
        date: new Date(now).toISOString().slice(0, 19),
        "request-id": ids.requestId,
        "client-request-id": ids.clientRequestId
      }
    }
  }
}
