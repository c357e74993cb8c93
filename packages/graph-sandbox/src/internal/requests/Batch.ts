/**
 * Many requests in one.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Failure from "../model/Failure.ts"
import { type IncomingRequest, isMethod, objectOf, parseOptions, type Reply } from "./GraphRequest.ts"

const most = 20

interface Part {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly dependsOn: ReadonlyArray<string>
}

const malformed = (message: string) => Effect.fail(Failure.badRequest(message))

const parse = Effect.fnUntraced(function* (body: Readonly<Record<string, unknown>>) {
  const given = body["requests"]
  if (!Array.isArray(given) || given.length === 0) {
    return yield* malformed("Invalid batch payload format: 'requests' must be a list with at least one request.")
  }
  if (given.length > most)
    return yield* malformed(`Number of batch request steps exceeds the maximum value of ${most}.`)
  const parts: Array<Part> = []
  for (const value of given) {
    const { dependsOn, headers, id, method, url, ...rest } = objectOf(value)
    if (typeof id !== "string" || typeof method !== "string" || typeof url !== "string") {
      return yield* malformed("Each request of a batch must have 'id', 'method' and 'url'.")
    }
    if (parts.some((part) => part.id === id)) return yield* malformed(`The id '${id}' is in the batch twice.`)
    const before = Array.isArray(dependsOn) ? dependsOn.map(String) : []
    const unknown = before.find((id) => !parts.some((part) => part.id === id))
    if (unknown !== undefined) {
      return yield* malformed(`The request '${id}' depends on '${unknown}', which does not come before it.`)
    }
    const lower = Object.entries(objectOf(headers)).map(([name, value]) => [name.toLowerCase(), String(value)])
    const part: Part = {
      id,
      method: method.toUpperCase(),
      url,
      headers: Object.fromEntries(lower),
      body: rest["body"],
      dependsOn: before
    }
    if (part.body !== undefined && part.headers["content-type"] === undefined) {
      return yield* malformed(`The request '${id}' has a body, and must say its Content-Type.`)
    }
    parts.push(part)
  }
  return parts
})

/** A part as a separate request. A body that is not JSON comes in base64. */
const requestOf = (outer: IncomingRequest, part: Part) => {
  const relative = part.url.replace(/^https?:\/\/[^/]+/i, "").replace(/^\/?(?:v1\.0|beta)(?=\/)/i, "")
  const [path = "", query = ""] = relative.split(/\?(.*)/s)
  const isJson = (part.headers["content-type"] ?? "").includes("json")
  const bytes =
    isJson || typeof part.body !== "string" ? JSON.stringify(part.body ?? {}) : Buffer.from(part.body, "base64")
  const request: Omit<IncomingRequest, "method"> = {
    ...outer,
    path: path.startsWith("/") ? path : `/${path}`,
    query,
    options: parseOptions(query),
    headers: { ...part.headers, "content-length": String(Buffer.byteLength(bytes)) },
    json: Effect.succeed(objectOf(part.body)),
    body: Stream.succeed(Buffer.from(bytes))
  }
  return request
}

export interface BatchReply {
  readonly id: string
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Runs the parts in their order; `run` returns the response to one of them and never fails. */
export const handle = <R>(run: (request: IncomingRequest) => Effect.Effect<Reply, never, R>) =>
  Effect.fnUntraced(function* (outer: IncomingRequest) {
    const parts = yield* parse(yield* outer.json)
    const replies = new Map<string, BatchReply>()
    for (const part of parts) {
      const failed = part.dependsOn.some((id) => (replies.get(id)?.status ?? 500) >= 400)
      const { method } = part
      const reply: Reply = failed
        ? { status: 424, body: { error: { code: "FailedDependency", message: "A request it depends on has failed." } } }
        : isMethod(method)
          ? yield* run({ ...requestOf(outer, part), method })
          : { status: 405, body: { error: { code: "UnknownError", message: "The method is not allowed." } } }
      const { contents, headers, status } = reply
      // What is not JSON comes in base64.
      const body =
        contents === undefined
          ? reply.body
          : Buffer.from(yield* Stream.mkUint8Array(Stream.orDie(contents.stream))).toString("base64")
      const type = contents?.type ?? "application/json"
      const sent = body === undefined ? headers : { ...headers, "content-type": type }
      replies.set(part.id, {
        id: part.id,
        status,
        headers: Object.fromEntries(
          Object.entries(sent ?? {}).map(([name, value]) => [
            name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
            value
          ])
        ),
        body
      })
    }
    return { status: 200, body: { responses: [...replies.values()] } } satisfies Reply
  })
