/** Error responses, in one place: each says what is wrong and what to do. */
import {
  ConflictResponse,
  type ErrorBody,
  type ErrorCode,
  ForbiddenResponse,
  InvalidRequestResponse,
  NotFoundResponse,
  PayloadTooLargeResponse,
  UnauthenticatedResponse
} from "@signalbox/api/contract/Responses"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpServerRespondable from "effect/http/HttpServerRespondable"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { Refused } from "../engine/Refused.ts"

/** The envelope of every response with a status of 400 or more. */
export const body = (code: ErrorCode, message: string): ErrorBody => ({ error: { code, message }, message })

export const invalidRequest = (message: string) => new InvalidRequestResponse(body("INVALID_REQUEST", message))
export const unauthenticated = (message: string) => new UnauthenticatedResponse(body("UNAUTHENTICATED", message))
export const forbidden = (message: string) => new ForbiddenResponse(body("FORBIDDEN", message))
export const conflict = (message: string) => new ConflictResponse(body("CONFLICT", message))
export const tooLarge = (message: string) => new PayloadTooLargeResponse(body("PAYLOAD_TOO_LARGE", message))

/** An error that knows its response: one that an endpoint declares, or a `Refusal`. */
export interface Failure extends ErrorBody {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export const failed = ({ error, headers, message, status }: Failure) =>
  HttpServerResponse.jsonUnsafe({ error, message }, { status, headers })

/** Ends a request with a response that no endpoint declares, such as one that all endpoints share. */
export class Refusal
  extends Data.TaggedError("Refusal")<Failure>
  implements Failure, HttpServerRespondable.Respondable
{
  [HttpServerRespondable.symbol]() {
    return Effect.succeed(failed(this))
  }
}

export const refuse = (status: number, code: ErrorCode, message: string, headers: Record<string, string> = {}) =>
  new Refusal({ ...body(code, message), status, headers })

/**
 * 404 for a resource that does not exist in this workspace; `field`: where the request names it, if not in its path.
 */
export const notFound = (what: string, id: string, field?: string) =>
  new NotFoundResponse(
    body("NOT_FOUND", `${field === undefined ? "" : `${field}: `}this workspace has no ${what} ${id}`)
  )

/** Returns the resource, or fails with a 404. */
export const orNotFound = <A, R>(
  what: string,
  id: string,
  found: Effect.Effect<A | null, never, R>
): Effect.Effect<A, NotFoundResponse, R> =>
  Effect.filterOrFail(
    found,
    (value) => value !== null,
    () => notFound(what, id)
  )

const responses = {
  CONFLICT: (message: string) => new ConflictResponse(body("CONFLICT", message)),
  LEASE_LOST: (message: string) => new ConflictResponse(body("LEASE_LOST", message)),
  NOT_FOUND: (message: string) => new NotFoundResponse(body("NOT_FOUND", message)),
  INVALID_REQUEST: (message: string) => invalidRequest(message),
  PAYLOAD_TOO_LARGE: (message: string) => tooLarge(message)
}

type ResponseOf<C extends Refused["code"]> = ReturnType<(typeof responses)[C]>

/** Maps the refusals that an endpoint declares to its responses; any other is a bug. */
export const refusals =
  <const C extends Refused["code"]>(...codes: ReadonlyArray<C>) =>
  <A, R>(effect: Effect.Effect<A, Refused, R>): Effect.Effect<A, ResponseOf<C>, R> =>
    Effect.catch(effect, (refused) => {
      const code = codes.find((candidate) => candidate === refused.code)
      if (code === undefined) return Effect.die(refused)
      const respond: (message: string) => ResponseOf<Refused["code"]> = responses[code]
      // `code` is one of C, which the compiler cannot conclude from the table.
      return Effect.fail(respond(refused.message) as ResponseOf<C>)
    })
