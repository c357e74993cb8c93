/**
 * Bytes in and out: uploads to signed forms, downloads from signed addresses. They carry no key; the signature is the
 * permission.
 */
import { FileId } from "@signalbox/api/contract/Ids"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Multipart from "effect/http/Multipart"
import { BlobStore, type Staged } from "../blobs/BlobStore.ts"
import { limits } from "../Limits.ts"
import { Refused } from "../Refused.ts"
import { Database } from "../store/Database.ts"
import { Files } from "../store/Files.ts"
import { ProcessRuns } from "../store/ProcessRuns.ts"
import { StepRuns } from "../store/StepRuns.ts"
import { WorkItems } from "../store/WorkItems.ts"
import { body } from "./Failures.ts"
import { FileLinks, transferPrefix, type UploadPolicy } from "./FileLinks.ts"

const statuses = {
  INVALID_REQUEST: 400,
  NOT_FOUND: 404,
  CONFLICT: 409,
  LEASE_LOST: 409,
  PAYLOAD_TOO_LARGE: 413
} as const

const toResponse = (refused: Refused) =>
  HttpServerResponse.jsonUnsafe(body(refused.code, refused.message), { status: statuses[refused.code] })

const refuse = (code: Refused["code"], message: string) => Effect.fail(new Refused({ code, message }))

const uploads = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const blobs = yield* BlobStore
    const files = yield* Files
    const items = yield* WorkItems
    const runs = yield* ProcessRuns
    const stepRuns = yield* StepRuns
    const links = yield* FileLinks
    const random = yield* SecureRandom.SecureRandom
    const { transaction } = yield* Database

    /** Whether the owner may still get the file: it may have moved on while the bytes were under way. */
    const checkOwner = Effect.fnUntraced(function* (policy: UploadPolicy) {
      const item = yield* items.get(policy.workspace, policy.owner)
      if (item?.processRunId != null) yield* runs.lock(item.processRunId)
      const now = yield* items.get(policy.workspace, policy.owner)
      if (policy.step_run === null) {
        if (now === null) return yield* refuse("NOT_FOUND", `there is no work item ${policy.owner} any more`)
        const free = now.state === "new" || now.state === "failed" || (now.state === "pending" && now.stepRun === null)
        return free ? undefined : yield* refuse("CONFLICT", `the work item is ${now.state} by now; its files can not change`)
      }
      const stepRun = yield* stepRuns.find(policy.step_run)
      const inHand = now !== null && now.state === "in_progress" && now.stepRun === policy.step_run
      const open = inHand || (yield* items.openOutput(policy.owner))?.stepRunId === policy.step_run
      if (stepRun?.state !== "in_progress" || !open) {
        return yield* refuse("LEASE_LOST", "the step run has ended or gave the work item back; stop the task")
      }
    })

    const receive = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const fields = new Map<string, string>()
      let staged: { readonly policy: UploadPolicy; readonly file: Staged } | undefined
      yield* request.multipartStream.pipe(
        Stream.runForEach(
          Effect.fnUntraced(function* (part) {
            if (part._tag === "Field") {
              fields.set(part.key, part.value)
              return
            }
            // All fields come before the bytes, so nothing is written for a form that is not ours.
            const policy = yield* links.readForm(fields)
            if (policy === null) {
              return yield* refuse("INVALID_REQUEST", "the form is not signed by this service, or it has expired; ask for a new one")
            }
            if (part.key !== "file" || staged !== undefined) {
              return yield* refuse("INVALID_REQUEST", "expected one file, in the last part, named `file`")
            }
            let size = 0
            const counted = Stream.tap(part.content, (chunk) => {
              size += chunk.length
              return size <= policy.size
                ? Effect.void
                : refuse("PAYLOAD_TOO_LARGE", `file: larger than the ${policy.size} bytes declared in file_size; nothing was kept`)
            })
            staged = { policy, file: yield* blobs.stage(counted) }
          })
        ),
        Effect.provideContext(
          Multipart.limitsServices({
            maxParts: 50,
            maxFieldSize: "64 KiB",
            maxFileSize: limits.file + 1,
            maxTotalSize: limits.file + 1024 * 1024
          })
        )
      )
      // Only now was the whole request read: a part that broke off ends like one that is whole.
      if (staged === undefined) {
        return yield* refuse("INVALID_REQUEST", "file: missing; send it as the last part of the form")
      }
      const { file, policy } = staged
      if (file.size !== policy.size) {
        return yield* refuse(
          "INVALID_REQUEST",
          `file: ${file.size} bytes came and file_size declared ${policy.size}; nothing was kept`
        )
      }
      const blob = yield* file.keep
      const id = FileId.make(yield* random.uuidV7())
      const replaced = yield* transaction(
        Effect.andThen(
          checkOwner(policy),
          files.put(policy.workspace, { id, ownerId: policy.owner, name: policy.name, size: policy.size, blob })
        )
      ).pipe(Effect.onError(() => blobs.remove(blob)))
      if (replaced !== null) yield* blobs.remove(replaced)
      return HttpServerResponse.empty({ status: 204 })
    }).pipe(
      Effect.scoped,
      Effect.catchTag("MultipartError", (error) =>
        Effect.fail(
          error.reason._tag === "InternalError"
            ? new Refused({ code: "INVALID_REQUEST", message: "the upload broke off; nothing was kept" })
            : new Refused({
                code: error.reason._tag === "Parse" ? "INVALID_REQUEST" : "PAYLOAD_TOO_LARGE",
                message: `the form could not be read (${error.reason._tag}); nothing was kept`
              })
        )
      ),
      Effect.catchTag("Refused", (refused) => Effect.succeed(toResponse(refused)))
    )
    yield* router.add("POST", `${transferPrefix}/uploads`, receive)
  })
)

/** One range of `Range`: `bytes=0-4`, `bytes=5-`, `bytes=-5`. Null: none that we know; undefined: not within the file. */
const parseRange = (header: string | undefined, size: number) => {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "")
  if (match === null || (match[1] === "" && match[2] === "")) return null
  const from = match[1] === "" ? Math.max(0, size - Number(match[2])) : Number(match[1])
  const to = match[1] === "" || match[2] === "" ? size - 1 : Math.min(Number(match[2]), size - 1)
  return from <= to && from < size ? { from, to } : undefined
}

const downloads = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const blobs = yield* BlobStore
    const files = yield* Files
    const links = yield* FileLinks
    const serve = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { params } = yield* HttpRouter.RouteContext
      const id = params["file_id"] ?? ""
      const query = new URL(request.url, "http://localhost").searchParams
      const workspace = yield* links.readDownload(id, query)
      if (workspace === null) {
        return HttpServerResponse.jsonUnsafe(
          body("FORBIDDEN", "the address is not signed by this service, or it has expired; fetch the item anew"),
          { status: 403 }
        )
      }
      const file = yield* files.find(workspace, id)
      if (file === null) return toResponse(new Refused({ code: "NOT_FOUND", message: "the file was deleted" }))
      const headers = {
        "accept-ranges": "bytes",
        "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
        "content-security-policy": "sandbox",
        "x-content-type-options": "nosniff"
      }
      const range = parseRange(request.headers["range"], file.size)
      if (range === undefined) {
        return HttpServerResponse.jsonUnsafe(body("INVALID_REQUEST", `Range: the file has ${file.size} bytes`), {
          status: 416,
          headers: { "content-range": `bytes */${file.size}` }
        })
      }
      const path = blobs.pathOf(file.blob)
      const contentType = "application/octet-stream"
      if (range === null) return yield* HttpServerResponse.file(path, { headers, contentType })
      return yield* HttpServerResponse.file(path, {
        status: 206,
        contentType,
        offset: range.from,
        bytesToRead: range.to - range.from + 1,
        headers: { ...headers, "content-range": `bytes ${range.from}-${range.to}/${file.size}` }
      })
    })
    yield* router.add("GET", `${transferPrefix}/files/:file_id/:name`, serve)
  })
)

export const layer = Layer.provide(Layer.mergeAll(uploads, downloads), SecureRandom.layerWebCrypto)
