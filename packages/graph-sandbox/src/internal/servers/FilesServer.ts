/**
 * The host that contents come from and go to. Its addresses give access by themselves; who sends a token besides is
 * refused, as the service does it.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Edge from "./Edge.ts"
import * as Failure from "../model/Failure.ts"
import type { Rule } from "../../Faults.ts"
import * as Fragments from "../drive/Fragments.ts"
import * as Graph from "./Graph.ts"
import * as Ids from "../model/Ids.ts"
import { refusal } from "./Traffic.ts"
import { type Receiving, type Session, Transfers } from "../world/Transfers.ts"
import * as AttachmentSessions from "../mail/AttachmentSessions.ts"
import * as Uploads from "../drive/Uploads.ts"
import * as Views from "../drive/Views.ts"
import { World } from "../world/World.ts"

type Response = HttpServerResponse.HttpServerResponse

const json = (body: unknown, status = 200) =>
  HttpServerResponse.text(JSON.stringify(body), {
    status,
    contentType: "application/json; charset=utf-8"
  })

interface Asked {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly url: URL
  readonly now: number
  readonly rules: ReadonlyArray<Rule>
  readonly params: Readonly<Record<string, string | undefined>>
}

/** A handler whose refusals are responses. */
const handled = <R>(run: (asked: Asked) => Effect.Effect<Response, Failure.Failure, R>) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const now = yield* Clock.currentTimeMillis
    const rules = yield* Edge.Met
    const params = yield* HttpRouter.params
    const { origin, settings } = yield* Transfers
    const url = new URL(request.url, origin)
    const failure =
      refusal(rules, now) ??
      (request.headers["authorization"] === undefined || !settings.refuseTokens
        ? undefined
        : Failure.unauthenticated("This address grants access without a token. Send no Authorization header with it."))
    const requestId = Ids.random()
    return yield* (failure === undefined ? run({ request, url, now, rules, params }) : Effect.fail(failure)).pipe(
      Effect.catch((failure) => {
        const { body, headers, status } = Graph.refuse(failure, { requestId, clientRequestId: requestId }, now)
        return Effect.succeed(
          typeof body === "string"
            ? HttpServerResponse.text(body, { status, headers: headers ?? {} })
            : HttpServerResponse.setHeaders(json(body, status), headers ?? {})
        )
      }),
      Effect.map(HttpServerResponse.setHeader("request-id", requestId))
    )
  })

/** The first and the last byte that are asked for; `undefined` for all of them, `null` for none that is there. */
const rangeOf = (header: string | undefined, size: number) => {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "")
  if (match === null || (match[1] === "" && match[2] === "")) return undefined
  const [, first = "", last = ""] = match
  const from = first === "" ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1)
  return from > to ? null : { from, to }
}

const download = handled(
  Effect.fnUntraced(function* ({ now, params, request, url }) {
    const transfers = yield* Transfers
    const { blobs, drives } = yield* World
    if (!transfers.isValid(url, now)) return yield* Failure.unauthenticated("The link is not valid, or no longer.")
    const item = drives.get(params["drive"] ?? "")?.items.get(params["item"] ?? "")
    const version = url.searchParams.get("version") ?? ""
    const blob = version === "" ? item?.blob : item?.versions.find(({ id }) => id === version)?.blob
    if (item === undefined || blob === null || blob === undefined) return yield* Failure.itemNotFound()
    const tag = Views.eTag(item)
    const headers = {
      "accept-ranges": "bytes",
      etag: tag,
      "last-modified": new Date(item.modifiedAt).toUTCString(),
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(item.name).replaceAll("'", "%27")}`
    }
    if (request.headers["if-none-match"] === tag) return HttpServerResponse.empty({ status: 304, headers })
    const isSame = request.headers["if-range"] === undefined || request.headers["if-range"] === tag
    const range = isSame ? rangeOf(request.headers["range"], blob.size) : undefined
    if (range === null) {
      return yield* Failure.withHeaders(Failure.invalidRange(), { "content-range": `bytes */${blob.size}` })
    }
    const { from, to } = range ?? { from: 0, to: blob.size - 1 }
    return HttpServerResponse.stream(blobs.read(blob, from, to - from + 1), {
      status: range === undefined ? 200 : 206,
      contentType: Views.mimeType(item.name),
      contentLength: to - from + 1,
      headers: range === undefined ? headers : { ...headers, "content-range": `bytes ${from}-${to}/${blob.size}` }
    })
  })
)

/** A session of these, unless it is over. */
const among = Effect.fnUntraced(function* <S extends Receiving>(
  sessions: Map<string, S>,
  { now, params, rules }: Asked
) {
  const id = params["id"] ?? ""
  if (rules.some(({ fault }) => fault === "loseSession")) sessions.delete(id)
  const session = sessions.get(id)
  if (session === undefined || session.expiresAt <= now) {
    return yield* Failure.itemNotFound("The upload session was not found", "uploadSessionNotFound")
  }
  return session
})

const sessionOf = (asked: Asked) => Effect.flatMap(Transfers, ({ sessions }) => among(sessions, asked))

const partialOf = ({ rules }: Asked) => rules.find((rule) => rule.fault === "partialRange") ?? null

/** The whole file has come: it is put in its place, and shown. */
const finish = Effect.fnUntraced(function* (session: Session, now: number) {
  const { item, created } = yield* Uploads.commit(session)
  const view = yield* Views.items({ now })
  return json(view(item), created ? 201 : 200)
})

const put = handled(
  Effect.fnUntraced(function* (asked) {
    const { settings } = yield* Transfers
    const session = yield* sessionOf(asked)
    const { quota, root } = session.from.drive
    const limits = { unit: Fragments.driveUnit, room: quota - root.size }
    yield* Fragments.receive(session, asked.request, partialOf(asked), limits)
    session.expiresAt = asked.now + settings.uploadSessionSeconds * 1000
    const isWhole = session.total !== null && session.gaps.length === 0
    return isWhole && !session.deferCommit ? yield* finish(session, asked.now) : json(Uploads.status(session), 202)
  })
)

/** An empty POST ends a session that waits for it. */
const commit = handled(
  Effect.fnUntraced(function* (asked) {
    return yield* finish(yield* sessionOf(asked), asked.now)
  })
)

const status = handled((asked) => Effect.map(sessionOf(asked), (session) => json(Uploads.status(session))))

const cancel = handled(
  Effect.fnUntraced(function* (asked) {
    const { blobs } = yield* World
    const transfers = yield* Transfers
    const { id, path } = yield* sessionOf(asked)
    transfers.sessions.delete(id)
    yield* blobs.remove(path)
    return HttpServerResponse.empty({ status: 204 })
  })
)

const attachmentOf = (asked: Asked) => Effect.flatMap(Transfers, ({ attachments }) => among(attachments, asked))

const putAttachment = handled(
  Effect.fnUntraced(function* (asked) {
    const session = yield* attachmentOf(asked)
    yield* Fragments.receive(session, asked.request, partialOf(asked), { unit: 1, room: session.size })
    if (session.gaps.length > 0) return json(AttachmentSessions.status(session))
    const location = yield* AttachmentSessions.commit(session, asked.now)
    return HttpServerResponse.empty({ status: 201, headers: { location } })
  })
)

const attachmentStatus = handled((asked) =>
  Effect.map(attachmentOf(asked), (session) => json(AttachmentSessions.status(session)))
)

const cancelAttachment = handled(
  Effect.fnUntraced(function* (asked) {
    const { blobs } = yield* World
    const { attachments } = yield* Transfers
    const { id, path } = yield* attachmentOf(asked)
    attachments.delete(id)
    yield* blobs.remove(path)
    return HttpServerResponse.empty({ status: 204 })
  })
)

/** A job is under way when it is first asked about, and done at the next time. */
const monitor = handled(
  Effect.fnUntraced(function* ({ params }) {
    const { jobs } = yield* Transfers
    const job = jobs.get(params["id"] ?? "")
    if (job === undefined) return yield* Failure.itemNotFound("There is no such job.")
    if (++job.polls === 1) {
      return json({ operation: job.operation, percentageComplete: 27.8, status: "inProgress" }, 202)
    }
    return json({ percentageComplete: 100, resourceId: job.itemId, status: "completed" })
  })
)

const nothing = handled(() => Effect.fail(Failure.itemNotFound()))

export const routes = Layer.mergeAll(
  HttpRouter.add("GET", "/download/:drive/:item", download),
  HttpRouter.add("PUT", "/upload/:id", put),
  HttpRouter.add("POST", "/upload/:id", commit),
  HttpRouter.add("GET", "/upload/:id", status),
  HttpRouter.add("DELETE", "/upload/:id", cancel),
  HttpRouter.add("PUT", "/attachments/:id", putAttachment),
  HttpRouter.add("GET", "/attachments/:id", attachmentStatus),
  HttpRouter.add("DELETE", "/attachments/:id", cancelAttachment),
  HttpRouter.add("GET", "/monitor/:id", monitor),
  HttpRouter.add("*", "/*", nothing)
)
