/**
 * Signed addresses and forms: a download address allows one file until a time; an upload form allows one owner one file
 * of a given size.
 */
import { CurrentPrincipal, type Principal } from "@signalbox/api/contract/Authorization"
import type { File, NewFile, UploadForm } from "@signalbox/api/contract/Files"
import { type AssetUploadId, type StepRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { PackageAuthor } from "@signalbox/api/contract/TaskPackageVersions"
import { defined } from "@signalbox/transport/Defined"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Signer } from "./Signer.ts"
import * as UploadPolicy from "./UploadPolicy.ts"
import { clockTolerance, Database } from "../store/database/Database.ts"
import type { StoredFile } from "../store/files/Files.ts"
import { ClientUrl } from "../settings/PublicUrl.ts"

/** Byte transfers have a separate prefix. */
export const transferPrefix = "/transfer/v1"

/** The parameter of an address that its caller may not read. */
export const needs = "needs"

/** How long addresses and forms are valid: they outlive the permission by which they were made. */
const validMillis = 60 * 60 * 1000
/** The same of those made in a session of the console, which uses them at once. */
const ofSessionMillis = 5 * 60 * 1000

const isOfSession = (principal: Principal) => "sessionId" in principal && principal.sessionId !== null

/** How long what is made in the current request is valid, in milliseconds. */
export const validFor: Effect.Effect<number> = Effect.map(Effect.serviceOption(CurrentPrincipal), (principal) =>
  Option.isSome(principal) && isOfSession(principal.value) ? ofSessionMillis : validMillis
)

/** The last segment of a name that may contain slashes, encoded for a path. */
const lastPart = (name: string) => {
  const last = name.slice(name.lastIndexOf("/") + 1)
  return last === "" || last === "." || last === ".." ? "content" : last
}

export class FileLinks extends Context.Service<
  FileLinks,
  {
    readonly file: (workspace: WorkspaceId, file: StoredFile) => Effect.Effect<File>
    /** A file with an address that says which permission it needs. */
    readonly hidden: (workspace: WorkspaceId, file: StoredFile) => Effect.Effect<File>
    /** The address from which a file is downloaded, under this name and with this content type. */
    readonly download: (
      workspace: WorkspaceId,
      file: { readonly id: string; readonly name: string; readonly type: string }
    ) => Effect.Effect<string>
    readonly uploadForm: (
      owner: {
        readonly workspace: WorkspaceId
        readonly id: string
        readonly stepRun: StepRunId | null
        /** Default `file`. */
        readonly kind?: UploadPolicy.UploadPolicy["kind"]
        /** Of a package. */
        readonly by?: PackageAuthor
        readonly note?: string | undefined
      },
      file: NewFile
    ) => Effect.Effect<UploadForm>
    /** The address to which the content of an asset is uploaded until `expires` (milliseconds since 1970). */
    readonly assetUpload: (workspace: WorkspaceId, upload: AssetUploadId, expires: number) => Effect.Effect<string>
    /** The workspace of such an address, null when its signature is invalid or it has expired. */
    readonly readAssetUpload: (upload: string, query: URLSearchParams) => Effect.Effect<WorkspaceId | null>
    /** The policy of a form, null when its signature is invalid or it has expired. */
    readonly readForm: (fields: ReadonlyMap<string, string>) => Effect.Effect<UploadPolicy.UploadPolicy | null>
    /** The workspace and content type of a download address, null when its signature is invalid or it has expired. */
    readonly readDownload: (
      fileId: string,
      name: string,
      query: URLSearchParams
    ) => Effect.Effect<{ readonly workspace: WorkspaceId; readonly type: string } | null>
  }
>()("@signalbox/control-room/transfers/FileLinks") {
  static readonly layer = Layer.effect(
    FileLinks,
    Effect.gen(function* () {
      const signer = yield* Signer
      const { millis } = yield* Database
      const clientUrl = yield* ClientUrl
      // As JSON, so that no name can contain the fields after it.
      const downloadText = (id: string, name: string, type: string, workspace: string, expires: string) =>
        `download\n${JSON.stringify(["GET", id, name, type, workspace, expires])}`
      const assetText = (upload: string, workspace: string, expires: string) =>
        `asset\n${JSON.stringify(["PUT", upload, workspace, expires])}`
      const download = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        file: { readonly id: string; readonly name: string; readonly type: string }
      ) {
        const expires = String((yield* millis) + (yield* validFor))
        const name = lastPart(file.name)
        const signature = signer.sign(downloadText(file.id, name, file.type, workspace, expires))
        const query = new URLSearchParams({ type: file.type, workspace, expires, signature })
        return `${yield* clientUrl}${transferPrefix}/files/${file.id}/${encodeURIComponent(name)}?${query}`
      })
      return FileLinks.of({
        file: (workspace, { id, name, size }) =>
          Effect.map(download(workspace, { id, name, type: "application/octet-stream" }), (url) => ({
            id,
            name,
            size,
            download: { url }
          })),
        hidden: (_, { id, name, size }) =>
          Effect.map(clientUrl, (origin) => {
            const path = `${transferPrefix}/files/${id}/${encodeURIComponent(lastPart(name))}`
            return { id, name, size, download: { url: `${origin}${path}?${needs}=Processes.read_sensitive` } }
          }),
        download,
        uploadForm: Effect.fnUntraced(function* (owner, file) {
          const policy: UploadPolicy.UploadPolicy = {
            kind: owner.kind ?? "file",
            workspace: owner.workspace,
            owner: owner.id,
            step_run: owner.stepRun,
            name: file.file_name,
            size: file.file_size,
            ...defined({ by: owner.by, note: owner.note }),
            expires: (yield* millis) + (yield* validFor)
          }
          const encoded = Buffer.from(JSON.stringify(policy)).toString("base64url")
          return {
            url: `${yield* clientUrl}${transferPrefix}/uploads`,
            form_data: { policy: encoded, signature: signer.sign(`upload\n${encoded}`) }
          }
        }),
        readForm: Effect.fnUntraced(function* (fields) {
          const encoded = fields.get("policy") ?? ""
          if (!signer.verify(`upload\n${encoded}`, fields.get("signature") ?? "")) return null
          const policy = UploadPolicy.parse(Buffer.from(encoded, "base64url").toString())
          return policy._tag === "Some" && policy.value.expires + clockTolerance > (yield* millis) ? policy.value : null
        }),
        assetUpload: (workspace, upload, expires) => {
          const signature = signer.sign(assetText(upload, workspace, String(expires)))
          const query = new URLSearchParams({ workspace, expires: String(expires), signature })
          return Effect.map(clientUrl, (origin) => `${origin}${transferPrefix}/assets/${upload}?${query}`)
        },
        readAssetUpload: Effect.fnUntraced(function* (upload, query) {
          const workspace = query.get("workspace") ?? ""
          const expires = query.get("expires") ?? ""
          const genuine = signer.verify(assetText(upload, workspace, expires), query.get("signature") ?? "")
          return genuine && Number(expires) + clockTolerance > (yield* millis) ? WorkspaceId.make(workspace) : null
        }),
        readDownload: Effect.fnUntraced(function* (fileId, name, query) {
          const [type = "", workspace = "", expires = "", signature = ""] = [
            "type",
            "workspace",
            "expires",
            "signature"
          ].map((field) => query.get(field) ?? "")
          const genuine = signer.verify(downloadText(fileId, name, type, workspace, expires), signature)
          return genuine && Number(expires) > (yield* millis) ? { workspace: WorkspaceId.make(workspace), type } : null
        })
      })
    })
  )
}
