/**
 * Normalises requests to the form of the contract before they are routed: one spelling of each path, the methods and
 * paths of older clients, and JSON that is safe to parse whatever its content type.
 */
import { basePath } from "@signalbox/api/contract/Api"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import type * as HttpServerError from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { isUtf8 } from "node:buffer"
import * as ExactJson from "@signalbox/transport/ExactJson"
import { limits } from "../settings/Limits.ts"
import * as Slices from "../background/Slices.ts"
import { type Refusal, refuse } from "./Failures.ts"

/** The path of a request without its query. */
export const pathOf = (url: string): string => url.split("?", 1)[0] ?? ""

const oneSlash = (path: string): string => path.replace(/\/{2,}/g, "/").replace(/(.)\/$/, "$1")

/** Lists below a resource in older generations, and their current path: a list with that resource as its filter. */
const listsBelow = [
  { path: /^(.*\/workspaces\/[^/]+)\/process-runs\/([^/]+)\/outputs$/, list: "outputs?process_run_id" },
  { path: /^(.*\/workspaces\/[^/]+)\/assistants\/([^/]+)\/assistant-runs$/, list: "assistant-runs?assistant_id" }
] as const

const oldFileForm = /^(\/(?:api\/)?v1\/workspaces\/[^/]+\/work-items\/[^/]+\/files)\/upload$/

/** Whether the request is for an upload form of the older generation, whose response is the form itself. */
export const wantsBareForm = (url: string): boolean =>
  url.includes("/upload") && oldFileForm.test(oneSlash(pathOf(url)))

/**
 * The name of an asset as one segment of the path, whatever slashes it contains: everything after `name:`, except a
 * trailing slash, and except `uploads` in a POST.
 */
const assetByName = (path: string, method: string): string | null => {
  const [, before, rest = ""] =
    /^(\/+(?:api\/+)?v1\/+workspaces\/+[^/]+\/+assets\/+)name(?::|%3[Aa])(.*)$/s.exec(path) ?? []
  if (before === undefined) return null
  const [, name = "", uploads = ""] = (method === "POST" ? /^(.*)(\/uploads)\/*$/s : /^(.*?)()\/?$/s).exec(rest) ?? [
    "",
    rest
  ]
  return `${oneSlash(before)}/name%3A${name.replaceAll("/", "%2F")}${uploads}`
}

/** The older address of an artifact, which ends with its name, with that name as one segment, whatever slashes it has. */
const artifactByName = (path: string): string =>
  path.replace(
    /^(\/process-v1\/.*\/robotRuns\/[^/]+\/artifacts\/[^/]+\/)(.+)$/s,
    (_, before: string, name: string) => before + name.replaceAll("/", "%2F")
  )

/** Matches every path that `canonicalUrl` may have to change; hardly any request has one. */
const unusual =
  /\/\/|\/(?:\?|$)|^\/v1\/|\/name(?::|%3[Aa])|\/(?:outputs|assistant-runs|upload)(?:\?|$)|\/artifacts\/[^/]+\//

/** Collapses repeated slashes, removes a trailing one, and maps the paths of older clients to those of the contract. */
const canonicalUrl = (url: string, method: string): string => {
  if (!unusual.test(url)) return url
  const given = pathOf(url)
  const query = url.slice(given.length + 1)
  const path = (assetByName(given, method) ?? artifactByName(oneSlash(given)).replace(oldFileForm, "$1")).replace(
    /^\/v1(?=\/)/,
    basePath
  )
  for (const below of listsBelow) {
    const [, workspace, id] = (path.startsWith(basePath) ? below.path.exec(path) : null) ?? []
    if (workspace !== undefined) return `${workspace}/${below.list}=${id}${query === "" ? "" : `&${query}`}`
  }
  return query === "" ? path : `${path}?${query}`
}

const jsonType = "application/json"

/** What a content type says that a body is; null: nothing that the interface takes. JSON has many names. */
export const kindOf = (type: string | undefined): "json" | "form" | "parts" | null => {
  const [name = ""] = (type ?? "").toLowerCase().split(";", 1)
  if (/^\s*(application\/([\w.-]+\+)?json|text\/(json|plain)|)\s*$/.test(name)) return "json"
  if (name.trim() === "application/x-www-form-urlencoded") return "form"
  return name.trim() === "multipart/form-data" ? "parts" : null
}

/** JSON without a content type, or as plain text, is read as JSON; the type of an empty body is ignored. */
const jsonHeaders = (headers: Headers.Headers): Headers.Headers => {
  const kind = kindOf(headers["content-type"])
  const empty =
    headers["transfer-encoding"] === undefined &&
    (headers["content-length"] === undefined || headers["content-length"] === "0")
  return (empty && kind !== "parts") || kind === "json" ? Headers.set(headers, "content-type", jsonType) : headers
}

/** Characters that are looked at in one turn of the event loop: some milliseconds. */
const slice = 1_000_000

/** Whether brackets nest deeper than allowed, checked before anything recurses into the tree. */
function* tooDeep(json: string): Generator<void, boolean> {
  let depth = 0
  let at = 0
  for (let due = slice; at < json.length;) {
    if (at >= due) {
      yield
      due = at + slice
    }
    const char = json[at++]
    if (char === '"') at = ExactJson.endOfString(json, at)
    else if (char === "{" || char === "[") {
      if (++depth > limits.jsonDepth) return true
    } else if (char === "}" || char === "]") depth--
  }
  return false
}

const unreadable = (message: string) => Effect.fail(refuse(400, "INVALID_REQUEST", message))

const decoder = new TextDecoder()

/** Characters from which on the event loop gets its turn between the steps of reading a body: each takes up to some ten milliseconds. */
export const largeBody = 100_000

/** The JSON text of a body, or the refusal of one that is not UTF-8 or nests too deep. */
export const jsonTextOf = (bytes: Uint8Array): Effect.Effect<string, Refusal> => {
  if (!isUtf8(bytes)) return unreadable("the body is not valid UTF-8; send JSON in UTF-8")
  const text = decoder.decode(bytes)
  return Effect.flatMap(
    Slices.run(() => tooDeep(text)),
    (isTooDeep) =>
      isTooDeep
        ? unreadable(`the body nests deeper than ${limits.jsonDepth} levels`)
        : text.length < largeBody
          ? Effect.succeed(text)
          : Effect.as(Effect.yieldNow, text)
  )
}

const textOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<string, HttpServerError.HttpServerError> =>
  // The text of a request fails with an `HttpServerError` alone, so a refusal is a defect here; `Edge` responds with it.
  Effect.flatMap(request.arrayBuffer, (buffer) => Effect.orDie(jsonTextOf(new Uint8Array(buffer))))

/** The text of a body. One that cannot be read is a defect, for which `Edge` has the response. */
export const textOfBody = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<string> =>
  Effect.orDie(request.text)

/** The request with another body, and other changes. */
export const withText = (
  request: HttpServerRequest.HttpServerRequest,
  text: HttpServerRequest.HttpServerRequest["text"],
  {
    method = request.method,
    ...changes
  }: { readonly method?: string; readonly url?: string; readonly headers?: Headers.Headers } = {}
): HttpServerRequest.HttpServerRequest =>
  // `modify` can change neither of the two, and an object with the request as its prototype is slow to read.
  Object.defineProperties(request.modify(changes), { method: { value: method }, text: { value: text } })

/** The request in the form of the contract. Its body is read only when an endpoint needs it. */
export const canonical = (
  request: HttpServerRequest.HttpServerRequest,
  methodFor: (path: string, method: string) => string
): HttpServerRequest.HttpServerRequest => {
  const url = canonicalUrl(request.url, request.method)
  if (request.method === "GET" || request.method === "HEAD") {
    return url === request.url ? request : request.modify({ url })
  }
  const method = methodFor(pathOf(url), request.method)
  const text = Effect.suspend(() => textOf(request))
  return withText(request, text, { method, url, headers: jsonHeaders(request.headers) })
}
