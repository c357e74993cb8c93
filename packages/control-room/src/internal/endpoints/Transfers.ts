/**
 * Bytes of uploads to signed forms and of downloads from signed addresses. They need no key; the signature is the
 * permission.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Multipart from "effect/http/Multipart"
import { BlobStore, type Staged } from "../../BlobStore.ts"
import { UploadCompletion } from "../transfers/UploadCompletion.ts"
import { limits } from "../settings/Limits.ts"
import { Refused } from "../engine/Refused.ts"
import { Assets, uploadEnded } from "../store/files/Assets.ts"
import { Files } from "../store/files/Files.ts"
import { body } from "../edge/Failures.ts"
import { kindOf } from "../edge/Incoming.ts"
import { blobResponse } from "./BlobResponses.ts"
import { UnauthenticatedRequests } from "../edge/UnauthenticatedRequests.ts"
import { FileLinks, needs, transferPrefix } from "../transfers/FileLinks.ts"
import type { UploadPolicy } from "../transfers/UploadPolicy.ts"

const statuses = {
  INVALID_REQUEST: 400,
  NOT_FOUND: 404,
  CONFLICT: 409,
  LEASE_LOST: 409,
  PAYLOAD_TOO_LARGE: 413
} as const

const toResponse = (refused: Refused) =>
  HttpServerResponse.jsonUnsafe(body(refused.code, refused.message), { status: statuses[refused.code] })

/** The row exists, so something other than this service deleted the bytes. */
const bytesMissing =
  "the bytes of this file are missing from the data folder or the bucket of the service: restore them from a backup; `signalbox check` lists what is missing"

const refuse = (code: Refused["code"], message: string) => Effect.fail(new Refused({ code, message }))

/** The file of a form, and what stores it once the whole request was read. */
interface Received {
  readonly policy: UploadPolicy
  readonly file: Staged
  readonly complete: Effect.Effect<void, Refused>
}

const uploads = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const blobs = yield* BlobStore
    const links = yield* FileLinks
    const uploadCompletion = yield* UploadCompletion
    const limiter = yield* UnauthenticatedRequests

    const stage = Effect.fnUntraced(function* <E, R>(policy: UploadPolicy, bytes: Stream.Stream<Uint8Array, E, R>) {
      if (policy.kind === "package") {
        const file = yield* blobs.stageFile(bytes)
        return { policy, file, complete: uploadCompletion.taskPackage(policy, file) } satisfies Received
      }
      const file = yield* blobs.stage(bytes)
      return { policy, file, complete: uploadCompletion.file(policy, file) } satisfies Received
    })

    const receive = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      if (kindOf(request.headers["content-type"]) !== "parts") {
        return HttpServerResponse.jsonUnsafe(body("UNSUPPORTED_MEDIA_TYPE", "send the file as multipart/form-data"), {
          status: 415
        })
      }
      const fields = new Map<string, string>()
      let fieldBytes = 0
      let staged: Received | undefined
      yield* request.multipartStream.pipe(
        Stream.runForEach(
          Effect.fnUntraced(function* (part) {
            if (staged !== undefined) {
              return yield* refuse(
                "INVALID_REQUEST",
                "the form has parts after its file; send one file, as the last part"
              )
            }
            if (part._tag === "Field") {
              if (part.key === "file")
                return yield* refuse("INVALID_REQUEST", "file: the part has no filename; give it one")
              fieldBytes += Buffer.byteLength(part.key) + Buffer.byteLength(part.value)
              if (fieldBytes > limits.unauthenticatedBody) {
                yield* limiter.charge(request)
                return yield* refuse(
                  "PAYLOAD_TOO_LARGE",
                  `the fields of the form exceed ${limits.unauthenticatedBody} bytes; send only those of the form, and the file`
                )
              }
              fields.set(part.key, part.value)
              return
            }
            // All fields arrive before the bytes, so nothing is written for a form that is not signed.
            const policy = yield* links.readForm(fields)
            if (policy === null) {
              yield* limiter.charge(request)
              return yield* refuse(
                "INVALID_REQUEST",
                "the form is not signed by this service, or it has expired; request a new one"
              )
            }
            if (part.key !== "file") {
              return yield* refuse("INVALID_REQUEST", `${part.key}: the part with the file must be named "file"`)
            }
            let size = 0
            const counted = Stream.tap(part.content, (chunk) => {
              size += chunk.length
              return size <= policy.size
                ? Effect.void
                : refuse(
                    "PAYLOAD_TOO_LARGE",
                    `file: larger than the ${policy.size} bytes ${policy.kind === "package" ? "allowed" : "declared in file_size"}; nothing was stored`
                  )
            })
            staged = yield* stage(policy, counted)
          })
        ),
        Effect.provideContext(
          Multipart.limitsServices({
            maxParts: 50,
            // A file part may have any content type.
            fieldMimeTypes: [],
            maxFieldSize: "64 KiB",
            maxFileSize: limits.file + 1,
            maxTotalSize: limits.file + limits.uploadForm
          })
        )
      )
      // Only now is it known that the whole request was read: a part that was cut off ends like a complete one.
      if (staged === undefined) {
        return yield* refuse("INVALID_REQUEST", "file: missing; send it as the last part of the form")
      }
      const { complete, file, policy } = staged
      if (policy.kind !== "package" && file.size !== policy.size) {
        return yield* refuse(
          "INVALID_REQUEST",
          `file: ${file.size} bytes were received, but file_size declared ${policy.size}; nothing was stored`
        )
      }
      yield* complete
      return HttpServerResponse.empty({ status: 204 })
    }).pipe(
      Effect.scoped,
      Effect.catchTag("MultipartError", (error) =>
        Effect.fail(
          error.reason._tag === "InternalError"
            ? new Refused({ code: "INVALID_REQUEST", message: "the upload was cut off; nothing was stored" })
            : new Refused({
                code: error.reason._tag === "Parse" ? "INVALID_REQUEST" : "PAYLOAD_TOO_LARGE",
                message: `the form could not be read (${error.reason._tag}); nothing was stored`
              })
        )
      ),
      Effect.catchTag("Refused", (refused) => Effect.succeed(toResponse(refused)))
    )
    yield* router.add("POST", `${transferPrefix}/uploads`, receive)
  })
)

/** One range of `Range`: `bytes=0-4`, `bytes=5-`, `bytes=-5`. Null: no known form; undefined: outside the file. */
const parseRange = (header: string | undefined, size: number) => {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? "")
  const [, first = "", last = ""] = match ?? []
  if ((first === "" && last === "") || (first !== "" && last !== "" && Number(last) < Number(first))) return null
  const from = first === "" ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1)
  return from <= to ? { from, to } : undefined
}

/** Encodes a value for `filename*`: only letters, digits and percent signs, so that it can neither end nor split it. */
const encodeName = (name: string) =>
  encodeURIComponent(name).replace(/['()*!]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** The headers of bytes that a browser stores under this name and never shows. */
export const attachmentHeaders = (name: string) => ({
  "cache-control": "private, no-cache",
  "content-disposition": `attachment; filename*=UTF-8''${encodeName(name)}`,
  "content-security-policy": "sandbox",
  "x-content-type-options": "nosniff"
})

/** Text without a charset is UTF-8: clients that follow old rules of HTTP would read it as Latin-1. */
const withCharset = (type: string) => (/^text\/[^;]+$/i.test(type.trim()) ? `${type.trim()}; charset=utf-8` : type)

const downloads = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const blobs = yield* BlobStore
    const files = yield* Files
    const links = yield* FileLinks
    const limiter = yield* UnauthenticatedRequests
    const serve = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { params } = yield* HttpRouter.RouteContext
      const id = params["file_id"] ?? ""
      const query = new URL(request.url, "http://localhost").searchParams
      const name = params["name"] ?? ""
      const link = yield* links.readDownload(id, name, query)
      if (link === null) {
        yield* limiter.charge(request)
        const why = query.has(needs)
          ? "the process of this file has secret fields, and its files need the permission Processes.read_sensitive; get the item with a key or role that has it"
          : "the address is not signed by this service, or it has expired; get the item again for a new one"
        return HttpServerResponse.jsonUnsafe(body("FORBIDDEN", why), { status: 403 })
      }
      const file = yield* files.find(link.workspace, id)
      const deleted = toResponse(new Refused({ code: "NOT_FOUND", message: "the file was deleted" }))
      if (file === null) return deleted
      const headers = { "accept-ranges": "bytes", ...attachmentHeaders(name) }
      const range = parseRange(request.headers["range"], file.size)
      if (range === undefined) {
        return HttpServerResponse.jsonUnsafe(body("INVALID_REQUEST", `Range: the file has ${file.size} bytes`), {
          status: 416,
          headers: { "content-range": `bytes */${file.size}` }
        })
      }
      const contentType = withCharset(link.type)
      const response =
        range === null
          ? blobResponse(blobs, file, { headers, contentType })
          : blobResponse(blobs, file, {
              contentType,
              range: { offset: range.from, length: range.to - range.from + 1 },
              headers: { ...headers, "content-range": `bytes ${range.from}-${range.to}/${file.size}` }
            })
      // The bytes are missing although their row exists: replaced or deleted just now, or else lost.
      return yield* Effect.catch(response, (error) =>
        Effect.flatMap(files.find(link.workspace, id), (still) => {
          if (still === null) return Effect.succeed(deleted)
          if (still.blob !== file.blob) return Effect.die(error)
          return Effect.as(
            Effect.annotateLogs(Effect.logError(bytesMissing), { file: id, blob: file.blob }),
            toResponse(new Refused({ code: "NOT_FOUND", message: bytesMissing }))
          )
        })
      )
    })
    yield* router.add("GET", `${transferPrefix}/files/:file_id/:name`, serve)
  })
)

/** The content of assets: raw bytes, any number of times until the address expires. */
const assets = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const blobs = yield* BlobStore
    const links = yield* FileLinks
    const uploadCompletion = yield* UploadCompletion
    const store = yield* Assets
    const limiter = yield* UnauthenticatedRequests
    const receive = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { params } = yield* HttpRouter.RouteContext
      const upload = params["upload_id"] ?? ""
      const workspace = yield* links.readAssetUpload(upload, new URL(request.url, "http://localhost").searchParams)
      if (workspace === null) {
        yield* limiter.charge(request)
        return HttpServerResponse.jsonUnsafe(
          body("FORBIDDEN", "the address is not signed by this service, or it has expired; request a new upload"),
          { status: 403 }
        )
      }
      if ((yield* store.ofUpload(workspace, upload)) === null) {
        return yield* refuse("NOT_FOUND", uploadEnded)
      }
      const tooLarge = Effect.suspend(() => {
        const reason = `the content is larger than the ${limits.asset} bytes that an asset may have`
        return Effect.andThen(store.fail(upload, reason), refuse("PAYLOAD_TOO_LARGE", `${reason}; nothing was stored`))
      })
      const declared = request.headers["content-length"]
      if (declared !== undefined && Number(declared) > limits.asset) return yield* tooLarge
      let size = 0
      const counted = Stream.tap(request.stream, (chunk) => {
        size += chunk.length
        return size <= limits.asset ? Effect.void : tooLarge
      })
      const staged = yield* blobs.stage(counted)
      if (declared !== undefined && Number(declared) !== staged.size) {
        return yield* refuse(
          "INVALID_REQUEST",
          `${staged.size} bytes were received, but content-length declared ${declared}; nothing was stored`
        )
      }
      yield* uploadCompletion.asset(workspace, upload, staged)
      return HttpServerResponse.empty({ status: 204 })
    }).pipe(
      Effect.scoped,
      Effect.catchTag("HttpServerError", () =>
        Effect.fail(
          new Refused({ code: "INVALID_REQUEST", message: "the upload was cut off; nothing was stored, send it again" })
        )
      ),
      Effect.catchTag("Refused", (refused) => Effect.succeed(toResponse(refused)))
    )
    yield* router.add("PUT", `${transferPrefix}/assets/:upload_id`, receive)
  })
)

export const layer = Layer.mergeAll(uploads, assets, downloads)
