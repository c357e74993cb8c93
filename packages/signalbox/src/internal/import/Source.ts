/**
 * Reads a room that may be anybody's. The key goes to its origin alone, nothing is followed with it, and everything that is
 * read has a bound.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import { Page } from "@signalbox/api/contract/Common"
import * as NodeHttpClient from "@signalbox/platform/NodeHttpClient"
import * as ExactJson from "@signalbox/transport/ExactJson"
import { IdleLimit } from "@signalbox/transport/IdleLimit"
import * as NodeTransport from "@signalbox/transport/node"
import { TaggedError } from "@signalbox/transport/Printed"
import * as RefusedTargets from "@signalbox/transport/RefusedTargets"
import { describe } from "@signalbox/transport/SchemaProblem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Retry from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { createHash } from "node:crypto"
import { join } from "node:path"
import { bounds, isTooDeep } from "./Bounds.ts"
import { shown } from "./Shown.ts"

/**
 * The source cannot give something. `absent`: it has no such thing, or no interface for it; `forbidden`: the key may not read
 * it; `busy`: it may give it later.
 */
export class SourceError extends TaggedError<SourceError>()("SourceError", {
  kind: Schema.Literals(["absent", "forbidden", "unauthorized", "busy", "refused"]),
  message: Schema.String
}) {}

const kinds: Readonly<Record<number, SourceError["kind"]>> = {
  401: "unauthorized",
  403: "forbidden",
  404: "absent",
  405: "absent",
  429: "busy",
  501: "absent"
}

const kindOf = (status: number): SourceError["kind"] => kinds[status] ?? (status >= 500 ? "busy" : "refused")

const fail = (kind: SourceError["kind"], message: string) => new SourceError({ kind, message: shown(message) })

export interface Options {
  /** The address of the room, with or without the version prefix. */
  readonly from: URL
  readonly workspace: WorkspaceId
  readonly key: Redacted.Redacted
  /** Whether downloads from other origins may be at private addresses. */
  readonly allowPrivate: boolean
}

/** A file that was downloaded. */
export interface Downloaded {
  readonly path: string
  readonly size: number
  /** SHA-256 in hex. */
  readonly digest: string
}

type Query = Readonly<Record<string, string>>

/** Effects of HTTP are tried again when the source is busy or did not respond. */
const patient = <A, R>(effect: Effect.Effect<A, SourceError, R>) =>
  Effect.retry(effect, { times: 3, while: ({ kind }) => kind === "busy", schedule: Retry.exponential("500 millis") })

/** What the body of an error says, in its own words. */
const said = (text: string): string => {
  const body = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(body) || !Predicate.isObject(body.success)) return ""
  const { error, message }: Readonly<Record<string, unknown>> = { ...body.success }
  const nested = Predicate.hasProperty(error, "message") ? error.message : undefined
  const found = typeof nested === "string" ? nested : typeof message === "string" ? message : ""
  return found === "" ? "" : `: ${found}`
}

/** Why no response came; a refused target is said by its own words, which stand somewhere among the causes. */
const refusalIn = (error: unknown): string | null =>
  RefusedTargets.refusalOf(error) ??
  (Predicate.hasProperty(error, "reason")
    ? refusalIn(error.reason)
    : Predicate.hasProperty(error, "cause")
      ? refusalIn(error.cause)
      : null)

const isRedirect = (status: number) => status >= 300 && status < 400

export class Source extends Context.Service<
  Source,
  {
    readonly workspace: WorkspaceId
    /** Where robots read values of secrets. */
    readonly origin: string
    readonly key: Redacted.Redacted
    /** The client of the origin, for the vault: its responses have the same bound. */
    readonly client: HttpClient.HttpClient
    /** One resource; a path below the workspace, in segments. */
    readonly get: <A, E>(
      path: ReadonlyArray<string>,
      schema: Schema.Codec<A, E>,
      query?: Query
    ) => Effect.Effect<A, SourceError>
    /** All resources of a list, at most so many: oldest first, since lists begin with the newest. */
    readonly list: <A, E>(
      path: ReadonlyArray<string>,
      schema: Schema.Codec<A, E>,
      query?: Query,
      most?: number
    ) => Effect.Effect<ReadonlyArray<A>, SourceError>
    /** Saves what is behind an address that needs no key. */
    readonly download: (url: string, most: number) => Effect.Effect<Downloaded, SourceError>
    /** Deletes a file that was downloaded. */
    readonly discard: (path: string) => Effect.Effect<void>
    /** A new path in the folder of this import, which is deleted at its end. */
    readonly newPath: Effect.Effect<string>
  }
>()("signalbox/import/Source") {
  static readonly layer = (options: Options) => Layer.effect(Source, make(options))
}

const baseOf = (from: URL) => {
  const path = from.pathname.replace(/\/+$/, "")
  return `${from.origin}${path.endsWith("/v1") ? path : `${path}/api/v1`}`
}

/** Follows no redirects. */
const ownClient = Effect.map(Layer.build(NodeTransport.layer), Context.get(HttpClient.HttpClient))

/** Connects only to addresses that the guard allows. */
const guardedClient = Effect.fnUntraced(function* (guard: RefusedTargets.Guard) {
  const dispatcher = yield* NodeHttpClient.makeDispatcherOptions({ connect: { lookup: guard.lookup } })
  return Context.get(yield* Layer.build(NodeTransport.layerWith({ dispatcher })), HttpClient.HttpClient)
})

const make = Effect.fnUntraced(function* ({ allowPrivate, from, key, workspace }: Options) {
  const fs = yield* FileSystem.FileSystem
  const client = yield* ownClient
  const guard = RefusedTargets.make(allowPrivate, "this command")
  const elsewhere = allowPrivate ? client : yield* guardedClient(guard)
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "signalbox-import-" })
  const base = `${baseOf(from)}/workspaces/${encodeURIComponent(workspace)}`
  let files = 0
  let downloaded = 0

  const execute = (http: HttpClient.HttpClient, request: HttpClientRequest.HttpClientRequest) =>
    http.execute(request).pipe(
      Effect.provideService(IdleLimit, 60_000),
      Effect.mapError((error) => {
        const refusal = refusalIn(error)
        const { host } = new URL(request.url)
        return refusal === null
          ? fail("busy", `${host} does not respond: ${error.message}`)
          : fail("refused", `${host}: ${refusal}; --allow-private-targets allows it`)
      })
    )

  /** The text of a body, which may be as large as that. */
  const textOf = (response: HttpClientResponse.HttpClientResponse) =>
    response.stream.pipe(
      Stream.mapError(() => fail("busy", "the response was cut off")),
      Stream.runFoldEffect(
        () => ({ size: 0, chunks: new Array<Uint8Array>() }),
        (all, chunk) => {
          all.size += chunk.length
          if (all.size > bounds.json)
            return Effect.fail(fail("refused", `a response has more than ${bounds.json} bytes`))
          all.chunks.push(chunk)
          return Effect.succeed(all)
        }
      ),
      Effect.map(({ chunks }) => Buffer.concat(chunks).toString("utf8"))
    )

  /** Reads bodies before it returns, and one that is too large as a 413 that says so, which is not tried again. */
  const bounded = HttpClient.transform(client, (responding, request) =>
    Effect.gen(function* () {
      const response = yield* responding
      const { headers, status } = response
      const text = yield* Effect.result(textOf(response))
      if (Result.isSuccess(text)) {
        // A response with one of these has no body.
        const body = [204, 205, 304].includes(status) ? null : text.success
        return HttpClientResponse.fromWeb(request, new Response(body, { headers, status }))
      }
      const { kind, message } = text.failure
      if (kind === "refused") return HttpClientResponse.fromWeb(request, Response.json({ message }, { status: 413 }))
      const reason = new HttpClientError.DecodeError({ request, response, description: message })
      return yield* new HttpClientError.HttpClientError({ reason })
    }).pipe(Effect.provideService(IdleLimit, 60_000))
  )

  const read = Effect.fnUntraced(
    function* (url: URL) {
      const request = HttpClientRequest.get(url.href, {
        headers: { authorization: `RC-WSKEY ${Redacted.value(key)}`, accept: "application/json" }
      })
      const response = yield* execute(client, request)
      const { status } = response
      if (isRedirect(status)) {
        return yield* fail(
          "refused",
          `${url.pathname}: a redirect (${status}), which is not followed with a key; give --from the address it leads to`
        )
      }
      const text = yield* textOf(response)
      if (status >= 200 && status < 300) return text
      return yield* fail(kindOf(status), `${url.pathname}: ${status}${said(text)}`)
    },
    Effect.timeoutOrElse({ duration: "60 seconds", orElse: () => fail("busy", "no response within a minute") }),
    patient
  )

  const address = Effect.fnUntraced(function* (path: ReadonlyArray<string>, query: Query) {
    // An id of the source that would change the path.
    if (path.some((segment) => /^\.{0,2}$/.test(segment) || !segment.isWellFormed())) {
      return yield* fail("refused", `${path.join("/")}: not an id`)
    }
    const url = new URL([base, ...path.map(encodeURIComponent)].join("/"))
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return url
  })

  const decoded = Effect.fnUntraced(function* <A, E>(url: URL, schema: Schema.Codec<A, E>) {
    const text = yield* read(url)
    if (isTooDeep(text)) return yield* fail("refused", `${url.pathname}: nests deeper than ${bounds.depth} levels`)
    const parsed = yield* Effect.try({
      try: (): unknown => ExactJson.parse(text),
      catch: () => fail("refused", `${url.pathname}: the response is not JSON`)
    })
    const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(schema), { reportInput: false })
    return yield* Effect.mapError(decode(parsed), (error) =>
      fail("refused", `${url.pathname}: the response has another shape than the interface (${describe(error)})`)
    )
  })

  const list = Effect.fnUntraced(function* <A, E>(
    path: ReadonlyArray<string>,
    schema: Schema.Codec<A, E>,
    query: Query = {},
    most: number = bounds.resources
  ) {
    const found: Array<A> = []
    const seen = new Set<string>()
    const url = yield* address(path, query)
    while (true) {
      if (seen.has(url.search))
        return yield* fail("refused", `${url.pathname}: a page names an earlier one as the next`)
      seen.add(url.search)
      const page = yield* decoded(url, Page(schema))
      found.push(...page.data)
      if (found.length > most || seen.size > most) {
        return yield* fail("refused", `${url.pathname}: more than ${most}, which are not read`)
      }
      if (page.next === null) {
        if (!page.has_more) return found.toReversed()
        return yield* fail("refused", `${url.pathname}: has more than it shows, and no next page`)
      }
      // Of that address only the query, so that the key goes nowhere else.
      if (!URL.canParse(page.next, url.href))
        return yield* fail("refused", `${url.pathname}: the next page has no address`)
      url.search = new URL(page.next, url.href).search
    }
  })

  /** The response of a download, over redirects that the guard allows. */
  const located = Effect.fnUntraced(function* (first: string) {
    let at = first
    for (let redirects = 0; redirects <= bounds.redirects; redirects++) {
      if (!URL.canParse(at)) return yield* fail("refused", `not an address: ${at}`)
      const url = new URL(at)
      const isOwn = url.origin === from.origin
      const refusal = isOwn ? null : guard.refuses(at)
      if (refusal !== null) {
        return yield* fail("refused", `the download at ${url.host} ${refusal}; --allow-private-targets allows it`)
      }
      const response = yield* execute(isOwn ? client : elsewhere, HttpClientRequest.get(at))
      const { location } = response.headers
      if (!isRedirect(response.status)) return { response, url }
      if (location === undefined || !URL.canParse(location, at)) break
      at = new URL(location, at).href
    }
    return yield* fail("refused", `the download at ${new URL(first).host} redirects too often`)
  })

  const newPath = Effect.sync(() => join(folder, String(++files)))

  const download = Effect.fnUntraced(function* (first: string, most: number) {
    const { response, url } = yield* located(first)
    if (response.status !== 200) {
      return yield* fail(kindOf(response.status), `the download at ${url.host} responds with ${response.status}`)
    }
    const path = yield* newPath
    const hash = createHash("sha256")
    let size = 0
    const counted = response.stream.pipe(
      Stream.mapError(() => fail("busy", `the download at ${url.host} was cut off`)),
      Stream.tap((chunk) => {
        size += chunk.length
        downloaded += chunk.length
        if (size > most) return Effect.fail(fail("refused", `the download at ${url.host} has more than ${most} bytes`))
        if (downloaded > bounds.downloads) {
          return Effect.fail(fail("refused", `all downloads have more than ${bounds.downloads} bytes`))
        }
        hash.update(chunk)
        return Effect.void
      })
    )
    yield* Stream.run(counted, fs.sink(path, { flag: "wx", mode: 0o600 })).pipe(
      Effect.catchTag("PlatformError", (error) => Effect.fail(fail("refused", `cannot be saved: ${error.message}`)))
    )
    const saved: Downloaded = { path, size, digest: hash.digest("hex") }
    return saved
  }, patient)

  return Source.of({
    workspace,
    origin: from.origin,
    key,
    client: bounded,
    get: (path, schema, query = {}) => Effect.flatMap(address(path, query), (url) => decoded(url, schema)),
    list,
    download,
    discard: (path) => Effect.ignore(fs.remove(path)),
    newPath
  })
})
