/**
 * Brings what clients send into the form of the contract before it is routed: one spelling of each path, the methods
 * and paths of older clients, and JSON that is safe to parse whatever content type it came with.
 */
import { basePath } from "@signalbox/api/contract/Api"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import type * as HttpServerError from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { isUtf8 } from "node:buffer"
import { limits } from "../Limits.ts"
import { dieWith } from "./Failures.ts"

/** The path of a request without its query. */
export const pathOf = (url: string): string => url.split("?", 1)[0] ?? ""

/** One slash where several came, none at the end, and the paths that older clients use as those of the contract. */
const canonicalUrl = (url: string): string => {
  const given = pathOf(url)
  const query = url.slice(given.length + 1)
  const path = given
    .replace(/\/{2,}/g, "/")
    .replace(/(.)\/$/, "$1")
    .replace(/^\/v1(?=\/)/, basePath)
  const outputs = /^(.*\/workspaces\/[^/]+)\/process-runs\/([^/]+)\/outputs$/.exec(path)
  if (outputs?.[1] !== undefined && path.startsWith(basePath)) {
    return `${outputs[1]}/outputs?process_run_id=${outputs[2]}${query === "" ? "" : `&${query}`}`
  }
  return query === "" ? path : `${path}?${query}`
}

const jsonType = "application/json"

/** JSON without a content type, or as plain text, is read as JSON; of an empty body the type says nothing. */
const jsonHeaders = (headers: Headers.Headers): Headers.Headers => {
  const type = headers["content-type"]?.trim().toLowerCase() ?? ""
  const empty =
    headers["transfer-encoding"] === undefined &&
    (headers["content-length"] === undefined || headers["content-length"] === "0")
  return (empty && !type.startsWith("multipart/")) || type === "" || /^text\/plain *(;|$)/.test(type)
    ? Headers.set(headers, "content-type", jsonType)
    : headers
}

/** Whether brackets stand deeper in each other than allowed: to be known before anything walks the tree. */
const tooDeep = (json: string): boolean => {
  let depth = 0
  let quoted = false
  for (let index = 0; index < json.length; index++) {
    const char = json[index]
    if (quoted) {
      if (char === "\\") index++
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === "{" || char === "[") {
      if (++depth > limits.jsonDepth) return true
    } else if (char === "}" || char === "]") depth--
  }
  return false
}

const unreadable = (message: string) => dieWith(400, "INVALID_REQUEST", message)

const textOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<string, HttpServerError.HttpServerError> =>
  Effect.flatMap(request.arrayBuffer, (buffer) => {
    const bytes = new Uint8Array(buffer)
    if (!isUtf8(bytes)) return unreadable("the body is not valid UTF-8; send JSON in UTF-8")
    const text = new TextDecoder().decode(bytes)
    return tooDeep(text) ? unreadable(`the body nests deeper than ${limits.jsonDepth} levels`) : Effect.succeed(text)
  })

/** The request as the contract has it. Its body is read only when an endpoint asks for it. */
export const canonical = (
  request: HttpServerRequest.HttpServerRequest,
  methodFor: (path: string, method: string) => string
): HttpServerRequest.HttpServerRequest => {
  const url = canonicalUrl(request.url)
  // A view of the request: `modify` can change neither the method nor how the body is read.
  const view: HttpServerRequest.HttpServerRequest = Object.create(request, {
    url: { value: url },
    method: { value: methodFor(pathOf(url), request.method) },
    headers: { value: jsonHeaders(request.headers) },
    text: { get: () => textOf(request) }
  })
  return view
}
