/**
 * Form bodies: `application/x-www-form-urlencoded` with brackets, as the interface describes requests, decoded by the
 * payload's own schema. A form is converted to the JSON that it represents before the payload is decoded.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as Headers from "effect/http/Headers"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as ExactJson from "@signalbox/transport/ExactJson"
import { limits } from "../settings/Limits.ts"
import { type Refusal, refuse } from "./Failures.ts"
import { kindOf, textOfBody, withText } from "./Incoming.ts"

/** A form as a tree: scalars are strings. */
type Tree = string | null | Array<Tree> | { [key: string]: Tree }

/** Fields that hold any JSON: a single value is parsed as JSON, with brackets the leaves remain strings. */
const freeJson = new Set(["payload", "items"])

/** `a[b][]` as `["a", "b", ""]`; null when the brackets do not match. */
const segmentsOf = (name: string): ReadonlyArray<string> | null => {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name)
  if (match?.[1] === undefined) return null
  return [match[1], ...[...(match[2] ?? "").matchAll(/\[([^[\]]*)\]/g)].map(([, key = ""]) => key)]
}

/** Parses a form; fails with a message that says what is wrong with it. */
export const parse = (form: string): Result.Result<Tree, string> => {
  // No prototype, so that `__proto__` is a name like any other.
  const root: { [key: string]: Tree } = Object.create(null)
  const parameters = form === "" ? [] : form.split("&")
  if (parameters.length > limits.formParameters) {
    return Result.fail(`the form has ${parameters.length} parameters; the limit is ${limits.formParameters}`)
  }
  for (const parameter of parameters) {
    const [rawName = "", ...rest] = parameter.split("=")
    const name = unescape(rawName)
    const value = unescape(rest.join("="))
    if (name === null || value === null) return Result.fail("the form is not valid percent-encoded UTF-8")
    const segments = segmentsOf(name)
    if (segments === null) return Result.fail(`${name}: the brackets do not match; write a[b] or a[]`)
    if (segments.length > limits.jsonDepth) return Result.fail(`the form nests deeper than ${limits.jsonDepth} levels`)
    const clash = put(root, segments, value)
    if (clash) return Result.fail(`${name}: given twice, or both as a value and with brackets`)
  }
  return Result.succeed(listed(root))
}

/** `a[0]`, `a[1]` and so on form a list, like a repeated `a[]`. */
const listed = (tree: Tree): Tree => {
  if (typeof tree === "string" || tree === null) return tree
  if (Array.isArray(tree)) return tree.map(listed)
  const entries = Object.entries(tree).map(([key, value]) => [key, listed(value)] as const)
  if (entries.length > 0 && entries.every(([key], index) => key === String(index)))
    return entries.map(([, value]) => value)
  const plain: { [key: string]: Tree } = Object.create(null)
  for (const [key, value] of entries) plain[key] = value
  return plain
}

const unescape = (text: string): string | null =>
  Result.getOrElse(
    Result.try(() => decodeURIComponent(text.replaceAll("+", " "))),
    () => null
  )

/** Whether the value conflicts with an earlier one. */
const put = (root: { [key: string]: Tree }, segments: ReadonlyArray<string>, value: string): boolean => {
  let at: Array<Tree> | { [key: string]: Tree } = root
  for (const [index, key] of segments.entries()) {
    const last = index === segments.length - 1
    const next = last ? value : segments[index + 1] === "" ? [] : Object.create(null)
    if (Array.isArray(at)) {
      if (key !== "") return true
      at.push(next)
      if (!last) at = next
      continue
    }
    if (key === "") return true
    const known: Tree | undefined = at[key]
    if (known === undefined) {
      at[key] = next
      if (!last) at = next
      continue
    }
    if (last || typeof known === "string" || known === null || Array.isArray(known) !== Array.isArray(next)) return true
    at = known
  }
  return false
}

/** Parses free JSON given as one value, in place; returns the name of a field that is not JSON. */
const parseFreeJson = (tree: Tree): string | null => {
  if (typeof tree === "string" || tree === null) return null
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === "string" && freeJson.has(key)) {
      const parsed = Result.try(() => ExactJson.parse(value))
      if (Result.isFailure(parsed) || !ExactJson.isFinite(parsed.success)) return key
      Object.assign(tree, { [key]: parsed.success })
    } else {
      const bad = parseFreeJson(value)
      if (bad !== null) return `${key}.${bad}`
    }
  }
  return null
}

type Decoder = (tree: unknown) => Effect.Effect<unknown, Schema.SchemaError>

/** Converts strings to the types of the payload: `true`, numbers, null. Created once per endpoint. */
const decoders = new WeakMap<HttpApiEndpoint.Top, Decoder>()

const decoderOf = (endpoint: HttpApiEndpoint.Top): Decoder | undefined => {
  const json = endpoint.payload.get("application/json")
  if (json === undefined) return undefined
  const known = decoders.get(endpoint)
  if (known !== undefined) return known
  const schema = Schema.toCodecStringTree(Schema.toEncoded(Schema.Union(json.schemas)))
  // The encoded side of a payload is JSON, whose string tree needs no services.
  const decoder: Decoder = Schema.decodeUnknownEffect(schema as unknown as Schema.Codec<unknown>)
  decoders.set(endpoint, decoder)
  return decoder
}

export const isForm = (request: HttpServerRequest.HttpServerRequest): boolean =>
  request.method === "POST" && kindOf(request.headers["content-type"]) === "form"

const read = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  decode: Decoder,
  body: "of fields" | "any JSON"
) {
  const form = yield* textOfBody(request)
  // `curl --data` sends JSON with this type. The names in a form begin otherwise: clients percent-encode braces.
  if (/^\s*[[{]/.test(form)) {
    const message = `content-type: the body is JSON, not a form; send it with application/json (curl: --json)`
    return yield* refuse(400, "INVALID_REQUEST", message)
  }
  if (Buffer.byteLength(form) > limits.formBody) {
    return yield* refuse(413, "PAYLOAD_TOO_LARGE", `the form is larger than ${limits.formBody} bytes; send JSON`)
  }
  const parsed = parse(form)
  if (Result.isFailure(parsed)) return yield* refuse(400, "INVALID_REQUEST", parsed.failure)
  const tree = parsed.success
  const bad = body === "any JSON" ? null : parseFreeJson(tree)
  if (bad !== null) {
    return yield* refuse(400, "INVALID_REQUEST", `${bad}: Expected JSON; put text in quotes`)
  }
  // What does not decode, or has unknown fields only, is passed on as text: the payload's own decoder then names the field.
  const decoded = body === "any JSON" ? tree : yield* Effect.orElseSucceed(decode(tree), () => tree)
  const json = JSON.stringify(decoded)
  const text = form === "" ? "" : json === "{}" ? JSON.stringify(tree) : json
  return withText(request, Effect.succeed(text), {
    headers: Headers.set(request.headers, "content-type", "application/json")
  })
})

/**
 * Replaces the form of a request by a JSON body; other requests are returned unchanged. Where the body as a whole is
 * any JSON, no field is known to hold JSON: all values remain strings.
 */
export const asJson = (
  request: HttpServerRequest.HttpServerRequest,
  endpoint: HttpApiEndpoint.Top,
  body: "of fields" | "any JSON" = "of fields"
): Effect.Effect<HttpServerRequest.HttpServerRequest, Refusal> => {
  const decode = isForm(request) ? decoderOf(endpoint) : undefined
  return decode === undefined ? Effect.succeed(request) : read(request, decode, body)
}
