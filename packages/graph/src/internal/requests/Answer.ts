/**
 * What an answer of 400 and more means.
 */
import { type Headers, retryAfterMillis } from "@signalbox/transport/RetryAfter"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Reasons from "../../GraphError.ts"

export const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/** The codes of an error object from the outermost to the deepest one; mere numbers say nothing. */
const codesOf = (error: unknown): ReadonlyArray<string> => {
  const codes: Array<string> = []
  for (let current = error, depth = 0; Predicate.isObject(current) && depth < 10; depth++) {
    const code = "code" in current ? text(current.code) : undefined
    if (code !== undefined && !/^\d+$/.test(code) && code !== codes.at(-1)) codes.push(code)
    current = "innerError" in current ? current.innerError : "innererror" in current ? current.innererror : undefined
  }
  return codes
}

/** Understands the error body of the service, and bodies that are none. */
export const readError = (
  status: number,
  body: unknown
): { readonly codes: ReadonlyArray<string>; readonly message: string } => {
  const error = Predicate.isObject(body) && "error" in body ? body.error : undefined
  const message = Predicate.isObject(error) && "message" in error ? text(error.message) : undefined
  return { codes: codesOf(error), message: (message ?? `the service answered ${status}`).slice(0, 1000) }
}

type Details = { readonly codes: ReadonlyArray<string>; readonly message: string }
type Plain = (details: Details) => Reasons.Reason

const invalid: Plain = (details) => new Reasons.InvalidRequest(details)

const byStatus: Readonly<Record<number, Plain>> = {
  400: invalid,
  401: (details) => new Reasons.Unauthenticated(details),
  403: (details) => new Reasons.Forbidden(details),
  404: (details) => new Reasons.NotFound(details),
  405: invalid,
  406: invalid,
  409: (details) => new Reasons.Conflict(details),
  410: (details) => new Reasons.Gone(details),
  411: invalid,
  412: (details) => new Reasons.PreconditionFailed(details),
  413: invalid,
  415: invalid,
  416: (details) => new Reasons.InvalidRange(details),
  422: invalid,
  423: (details) => new Reasons.Locked(details),
  507: (details) => new Reasons.QuotaExceeded(details)
}

const sessionLost: Plain = (details) => new Reasons.SessionLost(details)

/**
 * Codes that say more than their status, in lower case: those of workbooks may be written either way ("Error handling for Excel APIs in
 * Microsoft Graph", which has the first of the two for a session that has ended).
 */
const byCode: Readonly<Record<string, Plain>> = {
  namealreadyexists: (details) => new Reasons.NameAlreadyExists(details),
  errorfolderexists: (details) => new Reasons.NameAlreadyExists(details),
  syncstatenotfound: (details) => new Reasons.Gone(details),
  upload_name_conflict: (details) => new Reasons.NameAlreadyExists(details),
  quotalimitreached: (details) => new Reasons.QuotaExceeded(details),
  invalidsessionrecreatable: sessionLost,
  invalidortimedoutsession: sessionLost
}

/** The meaning of a status, its headers and its body (already parsed, whatever it is). */
export const reasonOf = (status: number, headers: Headers, body: unknown, now: number): Reasons.Reason => {
  const details = readError(status, body)
  const special = details.codes.map((code) => code.toLowerCase()).findLast((code) => Object.hasOwn(byCode, code))
  const plain = (special === undefined ? undefined : byCode[special]) ?? byStatus[status]
  if (plain !== undefined) return plain(details)
  const hinted = { ...details, retryAfterMillis: retryAfterMillis(headers, now) }
  if (status === 429 || status === 509) return new Reasons.Throttled(hinted)
  return status >= 500 && status <= 504 ? new Reasons.Unavailable(hinted) : new Reasons.Unexpected(details)
}

/** A body that should be JSON, as text. */
export const bodyOf = (body: string): unknown => Option.getOrNull(parseJson(body))
