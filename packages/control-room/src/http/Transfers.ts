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
import { limits, maxFilesPerItem, tooManyFiles } from "../Limits.ts"
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
        return free
          ? undefined
          : yield* refuse("CONFLICT", `the work item is ${now.state} by now; its files can not change`)
      }
      const stepRun = yield* stepRuns.find(policy.step_run)
      const inHand = now !== null && now.state === "in_progress" && now.stepRun === policy.step_run
      const open = inHand || (yield* items.openOutput(policy.owner))?.stepRunId === policy.step_run
      if (stepRun?.state !== "in_progress" || !open) {
        return yield* refuse("LEASE_LOST", "the step run has ended or gave the work item back; stop the task")
      }
    })

    /** The blob, then its row. Not to be interrupted, or a blob could go although its row is there. */
    const keep = Effect.fnUntraced(function* (policy: UploadPolicy, file: Staged) {
      const blob = yield* file.keep
      const id = FileId.make(yield* random.uuidV7())
      const put = Effect.gen(function* () {
        yield* checkOwner(policy)
        if ((yield* files.countOthers(policy.owner, policy.name)) >= maxFilesPerItem) {
          return yield* refuse("CONFLICT", tooManyFiles)
        }
        const { name, owner, size, workspace } = policy
        return yield* files.put(workspace, { id, ownerId: owner, name, size, blob })
      })
      const replaced = yield* Effect.onError(transaction(put), () => blobs.remove(blob))
      if (replaced !== null) yield* blobs.remove(replaced)
    }, Effect.uninterruptible)

    const receive = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      if (!/^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "")) {
        return HttpServerResponse.jsonUnsafe(body("UNSUPPORTED_MEDIA_TYPE", "send the file as multipart/form-data"), {
          status: 415
        })
      }
      const fields = new Map<string, string>()
      let staged: { readonly policy: UploadPolicy; readonly file: Staged } | undefined
      yield* request.multipartStream.pipe(
        Stream.runForEach(
          Effect.fnUntraced(function* (part) {
            if (staged !== undefined) {
              return yield* refuse(
                "INVALID_REQUEST",
                "the form goes on after its file; send one file, as the last part"
              )
            }
            if (part._tag === "Field") {
              if (part.key === "file")
                return yield* refuse("INVALID_REQUEST", "file: the part has no filename; give it one")
              fields.set(part.key, part.value)
              return
            }
            // All fields come before the bytes, so nothing is written for a form that is not ours.
            const policy = yield* links.readForm(fields)
            if (policy === null) {
              return yield* refuse(
                "INVALID_REQUEST",
                "the form is not signed by this service, or it has expired; ask for a new one"
              )
            }
            if (part.key !== "file") {
              return yield* refuse("INVALID_REQUEST", `${part.key}: the part with the file is named "file"`)
            }
            let size = 0
            const counted = Stream.tap(part.content, (chunk) => {
              size += chunk.length
              return size <= policy.size
                ? Effect.void
                : refuse(
                    "PAYLOAD_TOO_LARGE",
                    `file: larger than the ${policy.size} bytes declared in file_size; nothing was kept`
                  )
            })
            staged = { policy, file: yield* blobs.stage(counted) }
          })
        ),
        Effect.provideContext(
          Multipart.limitsServices({
            maxParts: 50,
            // Whatever type a file part has, it is a file.
            fieldMimeTypes: [],
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
      yield* keep(policy, file)
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
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? "")
  const [, first = "", last = ""] = match ?? []
  if ((first === "" && last === "") || (first !== "" && last !== "" && Number(last) < Number(first))) return null
  const from = first === "" ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1)
  return from <= to ? { from, to } : undefined
}

/** A value as `filename*` takes it: nothing but letters, digits and percent signs that could end or split it. */
const encodeName = (name: string) =>
  encodeURIComponent(name).replace(/['()*!]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

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
      const workspace = yield* links.readDownload(id, params["name"] ?? "", query)
      if (workspace === null) {
        return HttpServerResponse.jsonUnsafe(
          body("FORBIDDEN", "the address is not signed by this service, or it has expired; fetch the item anew"),
          { status: 403 }
        )
      }
      const file = yield* files.find(workspace, id)
      const deleted = toResponse(new Refused({ code: "NOT_FOUND", message: "the file was deleted" }))
      if (file === null) return deleted
      const headers = {
        "accept-ranges": "bytes",
        "content-disposition": `attachment; filename*=UTF-8''${encodeName(file.name)}`,
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
      const response =
        range === null
          ? HttpServerResponse.file(path, { headers, contentType })
          : HttpServerResponse.file(path, {
              status: 206,
              contentType,
              offset: range.from,
              bytesToRead: range.to - range.from + 1,
              headers: { ...headers, "content-range": `bytes ${range.from}-${range.to}/${file.size}` }
            })
      // Bytes that are not there although their row is: replaced or deleted just now, or else lost.
      return yield* Effect.catch(response, (error) =>
        Effect.flatMap(files.find(workspace, id), (still) =>
          still === null ? Effect.succeed(deleted) : Effect.die(error)
        )
      )
    })
    yield* router.add("GET", `${transferPrefix}/files/:file_id/:name`, serve)
  })
)

export const layer = Layer.provide(Layer.mergeAll(uploads, downloads), SecureRandom.layerWebCrypto)
