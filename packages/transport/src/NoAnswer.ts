/**
 * Why a request has no response, or not all of it.
 */
import * as Schema from "effect/Schema"
import type * as HttpClientError from "effect/http/HttpClientError"

/** It did not come in time: the whole response, or the next byte. */
export const Timeout = Schema.TaggedStruct("Timeout", { message: Schema.String, afterMillis: Schema.Finite })

/**
 * There is no connection, or it broke. `sent: "no"`: nothing reached the service; `"maybe"`: it may have acted. `permanent`: the
 * next attempt would fail in the same way.
 */
export const Unreachable = Schema.TaggedStruct("Unreachable", {
  message: Schema.String,
  sent: Schema.Literals(["no", "maybe"]),
  permanent: Schema.Boolean
})

/** The request itself cannot be sent. */
export const Unsendable = Schema.TaggedStruct("Unsendable", { message: Schema.String })

export const NoAnswer = Schema.Union([Timeout, Unreachable, Unsendable])
export type NoAnswer = typeof NoAnswer.Type

/** A request that got no response, however often it was sent. */
export class Undelivered extends Schema.TaggedError<Undelivered>()("Undelivered", {
  reason: NoAnswer,
  /** How often it was sent. */
  attempts: Schema.Finite
}) {
  override get message(): string {
    return this.reason.message
  }
}

/** The chain of causes of an error, from the outermost one on. */
const causesOf = (error: HttpClientError.HttpClientError): ReadonlyArray<object> => {
  const causes: Array<object> = []
  let cause: unknown = "cause" in error.reason ? error.reason.cause : undefined
  while (typeof cause === "object" && cause !== null && causes.length < 6) {
    causes.push(cause)
    cause = "cause" in cause ? cause.cause : undefined
  }
  return causes
}

const codeOf = (cause: object): string | undefined =>
  "code" in cause && typeof cause.code === "string" ? cause.code : undefined

const proxyStatus = (cause: object): string | undefined =>
  "message" in cause && typeof cause.message === "string"
    ? /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(cause.message)?.[1]
    : undefined

const notConnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|UND_ERR_PRX_CONN)$/
const certificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/
const stalled = /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/

const unreachable = (sent: "no" | "maybe", permanent: boolean, message: string): NoAnswer => ({
  _tag: "Unreachable",
  sent,
  permanent,
  message
})

/** Returns what an error of the HTTP client means. `idleMillis` is the limit under which the request was sent. */
export const noAnswer = (error: HttpClientError.HttpClientError, idleMillis: number | null): NoAnswer => {
  const tag = error.reason._tag
  if (tag === "EncodeError" || tag === "InvalidUrlError") {
    return { _tag: "Unsendable", message: `the request could not be made (${tag})` }
  }
  const causes = causesOf(error)
  const refusal = causes.map(proxyStatus).find((status) => status !== undefined)
  if (refusal !== undefined) {
    return unreachable("no", refusal === "407", `the proxy refused to connect (${refusal})`)
  }
  const code = causes.map(codeOf).find((found) => found !== undefined)
  if (code === undefined) return unreachable("maybe", false, "the connection broke")
  if (stalled.test(code) && idleMillis !== null) {
    return { _tag: "Timeout", message: `no byte came or went for ${idleMillis} ms`, afterMillis: idleMillis }
  }
  if (certificate.test(code)) {
    return unreachable("no", true, `the certificate of this address is not trusted (${code})`)
  }
  return tag === "TransportError" && notConnected.test(code)
    ? unreachable("no", false, `nothing answers at this address (${code})`)
    : unreachable("maybe", false, `the connection broke (${code})`)
}
