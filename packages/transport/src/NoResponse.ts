/** Why a request has no response, or only part of one. */
import * as Predicate from "effect/Predicate"
import type * as HttpClientError from "effect/http/HttpClientError"

/** Whether the service acted on a request that failed. */
export type Acted = "no" | "maybe"

interface Common {
  readonly message: string
  /** Whether the service acted on the request; null: a retry would fail in the same way. */
  readonly acted: Acted | null
}

/** The whole response, or the next byte, did not arrive in time. */
export interface Timeout extends Common {
  readonly _tag: "Timeout"
  readonly afterMillis: number
}

/** No connection was made, or it broke. `sent: "no"`: nothing reached the service; `"maybe"`: it may have acted. */
export interface Unreachable extends Common {
  readonly _tag: "Unreachable"
  readonly sent: Acted
}

/** The request itself cannot be sent. */
export interface Unsendable extends Common {
  readonly _tag: "Unsendable"
}

export type NoResponse = Timeout | Unreachable | Unsendable

/** Creates the timeout of `what`. */
export const timeout = (afterMillis: number, what: string): NoResponse => ({
  _tag: "Timeout",
  message: `no ${what} within ${afterMillis} ms`,
  acted: "maybe",
  afterMillis
})

/** The first code in the chain of causes. */
const codeOf = (cause: unknown, depth = 0): string =>
  !Predicate.isObjectOrArray(cause) || depth > 5
    ? ""
    : "code" in cause && typeof cause.code === "string"
      ? cause.code
      : codeOf("cause" in cause ? cause.cause : undefined, depth + 1)

const certificate = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/
const notConnected =
  /^(E(CONNREFUSED|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH)|UND_ERR_(CONNECT_TIMEOUT|PRX_CONN)|PROXY_ANSWERED_\d+)$/

/** Translates an error of the HTTP client. `idleMillis` is the limit under which the request was sent. */
export const noResponse = ({ reason }: HttpClientError.HttpClientError, idleMillis: number | null): NoResponse => {
  const tag = reason._tag
  if (tag === "EncodeError" || tag === "InvalidUrlError") {
    return { _tag: "Unsendable", message: `the request could not be sent (${tag})`, acted: null }
  }
  const code = codeOf("cause" in reason ? reason.cause : undefined)
  if (idleMillis !== null && /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(code)) {
    return timeout(idleMillis, "byte in either direction")
  }
  const distrusted = certificate.test(code)
  const sent = distrusted || (tag === "TransportError" && notConnected.test(code)) ? "no" : "maybe"
  const what = distrusted
    ? "the certificate of this address is not trusted"
    : sent === "no"
      ? "no server responds at this address"
      : "the connection broke"
  const message = code === "" ? what : `${what} (${code})`
  return { _tag: "Unreachable", message, sent, acted: distrusted ? null : sent }
}
