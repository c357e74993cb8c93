/**
 * What is around every route.
 */
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import {
  ForbiddenResponse,
  InvalidRequestResponse,
  PayloadTooLargeResponse,
  UnauthenticatedResponse
} from "@signalbox/api/contract/Responses"

/** A token of the program. */
export class Authorization extends HttpApiMiddleware.Service<Authorization>()(
  "@signalbox/flows/management/Authorization",
  { security: { bearer: HttpApiSecurity.bearer }, error: [UnauthenticatedResponse, ForbiddenResponse] }
) {}

/** Turns invalid input into a 400 that names the field, and a bug into a 500 without details. */
export class Edge extends HttpApiMiddleware.Service<Edge>()("@signalbox/flows/management/Edge", {
  error: [InvalidRequestResponse, PayloadTooLargeResponse]
}) {}

/** A misspelled member of a filter must not widen a command. */
export const strict = { onExcessProperty: "error" } as const
