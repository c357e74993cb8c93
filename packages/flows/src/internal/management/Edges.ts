/**
 * The edge of the routes: invalid input is a 400 that names the field, a bug a 500 without details.
 */
import * as SchemaProblem from "@signalbox/transport/SchemaProblem"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { unhandled } from "effect/Types"
import { HttpApiSchemaError } from "effect/http-api/HttpApiError"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpRouter from "effect/http/HttpRouter"
import { isHttpServerError } from "effect/http/HttpServerError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { InvalidRequestResponse, PayloadTooLargeResponse } from "@signalbox/api/contract/Responses"
import { CallUnanswered, KeysErased } from "../../FlowErrors.ts"
import { Edge } from "./Middleware.ts"
import { body } from "./Errors.ts"

/** Returns the invalid field and the reason, never the value. */
const refusal = ({ cause }: HttpApiSchemaError) =>
  new InvalidRequestResponse(body("INVALID_REQUEST", SchemaProblem.describe(cause)))

const isTooLarge = (error: unknown): boolean =>
  isHttpServerError(error) && error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
const tooLarge = new PayloadTooLargeResponse(
  body("PAYLOAD_TOO_LARGE", "the body is larger than 4 MB; a signal may have 1 MB of JSON")
)

/** Larger than the largest signal. */
const largestBody = ByteSize.fromInputUnsafe("4 MB")

type Answer<E> = Effect.Effect<HttpServerResponse.HttpServerResponse, unhandled | E, HttpRouter.Provided>

export const layer = Layer.succeed(Edge, (httpEffect): Answer<InvalidRequestResponse | PayloadTooLargeResponse> =>
  httpEffect.pipe(
    Effect.catch((error): Answer<InvalidRequestResponse | PayloadTooLargeResponse> => {
      if (isTooLarge(error)) return Effect.fail(tooLarge)
      if (!HttpApiSchemaError.is(error)) return Effect.fail(error)
      const ours = error.kind === "Body" || error.kind === "ResponseHeaders"
      return ours ? Effect.die(error) : Effect.fail(refusal(error))
    }),
    Effect.catchDefect((defect): Answer<PayloadTooLargeResponse> =>
      isTooLarge(defect)
        ? Effect.fail(tooLarge)
        : defect instanceof CallUnanswered
          ? Effect.succeed(HttpServerResponse.jsonUnsafe(body("UNAVAILABLE", defect.message), { status: 503 }))
          : defect instanceof KeysErased
            ? Effect.succeed(HttpServerResponse.jsonUnsafe(body("CONFLICT", defect.message), { status: 409 }))
            : Effect.as(
                Effect.logError("a request to manage flows failed", defect),
                HttpServerResponse.jsonUnsafe(
                  body("UNEXPECTED_ERROR", "an unexpected error occurred: see the log of the program"),
                  {
                    status: 500
                  }
                )
              )
    ),
    Effect.provideService(HttpIncomingMessage.MaxBodySize, largestBody)
  )
)
