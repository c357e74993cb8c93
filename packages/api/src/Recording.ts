/**
 * Calls that a test has made once against a room, and that are answered from a file from then on. On Node.
 *
 * The file has the requests and responses as JSON, in their order, and is committed with the tests. The key is not in it, nor other
 * secrets: tokens, passwords, values of the vault, addresses that let their reader in.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"

/** A request and its response. A body is JSON or text; bytes are in base64. */
interface RecordedCall {
  readonly method: string
  readonly url: string
  /** Null without a body, and for uploads, which are not compared. */
  readonly body: unknown
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly response: { readonly json: unknown } | { readonly text: string } | { readonly base64: string }
}

/** What is in a file. */
interface Recorded {
  readonly version: 1
  readonly calls: ReadonlyArray<RecordedCall>
}

type Fetch = typeof globalThis.fetch

/** Options of `record`. */
export interface RecordOptions {
  /** The function that sends the requests; default: the one of the runtime. */
  readonly fetch?: Fetch | undefined
  /** Names of further members of JSON whose values are not written, such as `iban`. */
  readonly secrets?: ReadonlyArray<string> | undefined
}

/** Sends requests and remembers them. */
export interface Recorder {
  /** For `connect({ fetch })`, or `FetchHttpClient.Fetch` of effect. */
  readonly fetch: Fetch
  /** Writes the file, and its folder if that is missing. */
  readonly save: () => void
}

/** Answers requests from a file. */
export interface Replayer {
  /** For `connect({ fetch })`, or `FetchHttpClient.Fetch` of effect. */
  readonly fetch: Fetch
  /** Returns the requests of the file that were not made, such as `GET /api/v1/workspaces`. */
  readonly unused: () => ReadonlyArray<string>
}

/** What is written instead of a secret. */
const removed = "removed"

/** Members of JSON that are secrets wherever they stand. */
const secretMembers: ReadonlySet<string> = new Set([
  "access_token",
  "api_key",
  "client_secret",
  "key",
  "link_token",
  "password",
  "refresh_token",
  "run_token",
  "secret",
  "ticket",
  "token"
])

/** Members that are secrets in the calls whose path has this segment. */
const secretMembersBelow: Readonly<Record<string, ReadonlyArray<string>>> = {
  "alert-channels": ["url"],
  "console-tickets": ["url"],
  secrets: ["items"],
  triggers: ["url"]
}

/** Parameters by which an address lets its reader in. */
const signed = /(^|[-_])(sig|signature|token|tempauth|credential|code|secret|ticket)$/i

/** Members of forms by which an upload is let in. */
const signing = /(^|[-_])(sig|signature|credential|token)$/i

/** Headers that differ each time, or describe the transfer and not the body. */
const unwritten: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "date",
  "keep-alive",
  "set-cookie",
  "transfer-encoding"
])

const addresses = /https?:\/\/[^\s"'<>\\]+/g

/** Writes an address without what is secret in it, at the origin under its name in the file. */
const addressOf = (text: string, originOf: (origin: string) => string): string => {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  for (const name of Array.from(url.searchParams.keys())) if (signed.test(name)) url.searchParams.set(name, removed)
  return originOf(url.origin) + url.pathname + url.search
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Replaces all text and numbers in a value that is secret. */
const emptied = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(emptied)
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, emptied(one)]))
  return value === null || typeof value === "boolean" ? value : removed
}

/** Replaces the members that are secret, and each text by `write`. */
const cleaned = (value: unknown, isSecret: (member: string) => boolean, write: (text: string) => string): unknown => {
  if (typeof value === "string") return write(value)
  if (Array.isArray(value)) return value.map((one) => cleaned(one, isSecret, write))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, isSecret(name) ? emptied(one) : cleaned(one, isSecret, write)])
  )
}

const parsed = (text: string): { readonly json: unknown } | undefined => {
  try {
    return { json: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const textTypes = /^(text\/|application\/(json|xml|problem\+json))/

/** What calls of a file are compared by. */
const keyOf = ({ body, method, url }: Pick<RecordedCall, "body" | "method" | "url">) =>
  `${method} ${url} ${body === null ? "" : JSON.stringify(body)}`

/** Reads requests as they are written, with the origins that were met. */
const makeWriter = (secrets: ReadonlyArray<string>) => {
  const origins = new Map<string, string>()
  const credentials = new Set<string>()
  const further = new Set(secrets.map((name) => name.toLowerCase()))
  const originOf = (origin: string) => {
    if (origin.endsWith(".recorded")) return origin
    const known = origins.get(origin) ?? `http://origin-${origins.size + 1}.recorded`
    origins.set(origin, known)
    return known
  }
  const write = (text: string) => {
    const known = [...credentials].reduce((left, secret) => left.replaceAll(secret, removed), text)
    return known.replaceAll(addresses, (found) => addressOf(found, originOf))
  }
  const writeJson = (value: unknown, path: string) => {
    const segments = path.split("/")
    const below = Object.entries(secretMembersBelow).flatMap(([segment, names]) =>
      segments.includes(segment) ? names : []
    )
    const isSecret = (member: string) => {
      const name = member.toLowerCase()
      return secretMembers.has(name) || signing.test(name) || further.has(name) || below.includes(name)
    }
    return cleaned(value, isSecret, write)
  }
  return {
    origins,
    writeJson,
    write,
    /** Returns what a request is compared by. */
    request: async (request: Request): Promise<Pick<RecordedCall, "body" | "method" | "url">> => {
      const credential = request.headers.get("authorization")?.split(" ").at(-1)
      if (credential !== undefined && credential !== "") credentials.add(credential)
      const { pathname } = new URL(request.url)
      const isJson = textTypes.test(request.headers.get("content-type") ?? "")
      const text = isJson ? await request.clone().text() : ""
      const body = text === "" ? null : writeJson(parsed(text)?.json ?? text, pathname)
      return { method: request.method, url: write(request.url), body }
    }
  }
}

/**
 * Records what a client sends and gets, for `replay`. The responses of polls are recorded too.
 *
 * ```ts
 * import { connect } from "@signalbox/api/promise"
 * import { record } from "@signalbox/api/recording"
 *
 * const recorder = record("test/recorded/items.json")
 * const room = connect({
 *   baseUrl: "http://127.0.0.1:4700",
 *   apiKey: "…",
 *   workspaceId: "…",
 *   fetch: recorder.fetch
 * })
 * export const run = async () => {
 *   await room.workItems.list()
 *   recorder.save()
 * }
 * ```
 */
export const record = (file: string, { fetch = globalThis.fetch, secrets = [] }: RecordOptions = {}): Recorder => {
  const calls: Array<RecordedCall> = []
  const writer = makeWriter(secrets)
  return {
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const call = await writer.request(request)
      // Its place is that of the request, although others may be answered first.
      const place = calls.push({ ...call, status: 0, headers: {}, response: { text: "" } }) - 1
      const response = await fetch(request)
      const bytes = new Uint8Array(await response.clone().arrayBuffer())
      const { pathname } = new URL(request.url)
      const text = textTypes.test(response.headers.get("content-type") ?? "") ? new TextDecoder().decode(bytes) : null
      const json = text === null ? undefined : parsed(text)
      calls[place] = {
        ...call,
        status: response.status,
        headers: Object.fromEntries(
          [...response.headers]
            .filter(([name]) => !unwritten.has(name))
            .map(([name, value]) => [name, writer.write(value)])
        ),
        response:
          json !== undefined
            ? { json: writer.writeJson(json.json, pathname) }
            : text !== null
              ? { text: writer.write(text) }
              : { base64: Buffer.from(bytes).toString("base64") }
      }
      return response
    },
    save: () => {
      mkdirSync(dirname(file), { recursive: true })
      // Without a status there was no response.
      const answered = calls.filter(({ status }) => status !== 0)
      const recorded: Recorded = { version: 1, calls: answered }
      writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`)
    }
  }
}

/** Has no body, or the runtime refuses to make it. */
const bodiless: ReadonlySet<number> = new Set([101, 103, 204, 205, 304])

/**
 * Answers requests with what `record` has written: a request by the response to the same one, with the same method, address and
 * JSON. One that was made several times gets its responses in their order, and after the last one that again. One that is not in
 * the file gets a 501, which says so and is not repeated. The origin of the room does not matter.
 *
 * ```ts
 * import { connect } from "@signalbox/api/promise"
 * import { replay } from "@signalbox/api/recording"
 *
 * export const run = async () => {
 *   const replayer = replay("test/recorded/items.json")
 *   const room = connect({
 *     baseUrl: "http://room.example",
 *     apiKey: "any",
 *     workspaceId: "…",
 *     fetch: replayer.fetch
 *   })
 *   return room.workItems.list()
 * }
 * ```
 */
export const replay = (file: string): Replayer => {
  const { calls, version }: Recorded = JSON.parse(readFileSync(file, "utf8"))
  if (version !== 1) throw new Error(`${file} is no recording of this version: record it again`)
  const responses = Map.groupBy(calls, keyOf)
  const used = new Map<string, number>()
  const writer = makeWriter([])
  /** The addresses of the file at the origins of this program. */
  const revived = (text: string) =>
    [...writer.origins].reduce((left, [origin, name]) => left.replaceAll(name, origin), text)
  const responseTo = (call: RecordedCall) => {
    const headers = Object.entries(call.headers).map(([name, value]): [string, string] => [name, revived(value)])
    const { response, status } = call
    if (bodiless.has(status)) return new Response(null, { status, headers })
    if ("json" in response) return new Response(revived(JSON.stringify(response.json)), { status, headers })
    if ("text" in response) return new Response(revived(response.text), { status, headers })
    return new Response(Buffer.from(response.base64, "base64"), { status, headers })
  }
  return {
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const asked = await writer.request(request)
      const key = keyOf(asked)
      const known = responses.get(key)
      const times = used.get(key) ?? 0
      used.set(key, times + 1)
      const call = known?.[Math.min(times, known.length - 1)]
      if (call !== undefined) return responseTo(call)
      const message = `${request.method} ${new URL(request.url).pathname} with this query and body is not in ${file}: record it`
      return Response.json({ error: { code: "NOT_RECORDED", message } }, { status: 501 })
    },
    unused: () =>
      [...responses].flatMap(([key, [first]]) =>
        used.has(key) || first === undefined ? [] : [`${first.method} ${new URL(first.url).pathname}`]
      )
  }
}
