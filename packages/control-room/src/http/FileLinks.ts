/**
 * Signed addresses and forms: a download address says which file until when; an upload form says which owner may get
 * which file of which size.
 */
import type { File, NewFile, UploadForm } from "@signalbox/api/contract/Files"
import { StepRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Signer } from "../Signer.ts"
import type { StoredFile } from "../store/Files.ts"
import { PublicUrl } from "./PublicUrl.ts"

/** Byte transfers live under a prefix of their own. */
export const transferPrefix = "/transfer/v1"

const validMillis = 60 * 60 * 1000

/** What an upload form allows. */
export const UploadPolicy = Schema.Struct({
  workspace: WorkspaceId,
  /** The work item or output that gets the file. */
  owner: Schema.String,
  /** The step run that writes it; null: the holder of a workspace key. */
  step_run: Schema.NullOr(StepRunId),
  name: Schema.String,
  size: Schema.Finite,
  expires: Schema.Finite
})
export interface UploadPolicy extends Schema.Schema.Type<typeof UploadPolicy> {}

const decodePolicy = Schema.decodeUnknownOption(Schema.fromJsonString(UploadPolicy))

export class FileLinks extends Context.Service<
  FileLinks,
  {
    readonly file: (workspace: WorkspaceId, file: StoredFile) => Effect.Effect<File>
    readonly uploadForm: (
      owner: { readonly workspace: WorkspaceId; readonly id: string; readonly stepRun: StepRunId | null },
      file: NewFile
    ) => Effect.Effect<UploadForm>
    /** The policy of a form, null when it is not ours or has expired. */
    readonly readForm: (fields: ReadonlyMap<string, string>) => Effect.Effect<UploadPolicy | null>
    /** The workspace of a download address, null when it is not ours or has expired. */
    readonly readDownload: (fileId: string, name: string, query: URLSearchParams) => Effect.Effect<WorkspaceId | null>
  }
>()("@signalbox/control-room/http/FileLinks") {
  static readonly layer = Layer.effect(
    FileLinks,
    Effect.gen(function* () {
      const signer = yield* Signer
      const publicUrl = yield* PublicUrl
      const downloadText = (id: string, name: string, workspace: string, expires: string) =>
        `download\nGET\n${id}\n${name}\n${workspace}\n${expires}`
      return FileLinks.of({
        file: Effect.fnUntraced(function* (workspace, file) {
          const expires = String((yield* Clock.currentTimeMillis) + validMillis)
          const query = new URLSearchParams({
            workspace,
            expires,
            signature: signer.sign(downloadText(file.id, file.name, workspace, expires))
          })
          return {
            id: file.id,
            name: file.name,
            size: file.size,
            download: {
              url: `${publicUrl}${transferPrefix}/files/${file.id}/${encodeURIComponent(file.name)}?${query}`
            }
          }
        }),
        uploadForm: Effect.fnUntraced(function* (owner, file) {
          const policy: UploadPolicy = {
            workspace: owner.workspace,
            owner: owner.id,
            step_run: owner.stepRun,
            name: file.file_name,
            size: file.file_size,
            expires: (yield* Clock.currentTimeMillis) + validMillis
          }
          const encoded = Buffer.from(JSON.stringify(policy)).toString("base64url")
          return {
            url: `${publicUrl}${transferPrefix}/uploads`,
            form_data: { policy: encoded, signature: signer.sign(`upload\n${encoded}`) }
          }
        }),
        readForm: Effect.fnUntraced(function* (fields) {
          const encoded = fields.get("policy") ?? ""
          if (!signer.verify(`upload\n${encoded}`, fields.get("signature") ?? "")) return null
          const policy = decodePolicy(Buffer.from(encoded, "base64url").toString())
          return policy._tag === "Some" && policy.value.expires > (yield* Clock.currentTimeMillis) ? policy.value : null
        }),
        readDownload: Effect.fnUntraced(function* (fileId, name, query) {
          const workspace = query.get("workspace") ?? ""
          const expires = query.get("expires") ?? ""
          const genuine = signer.verify(downloadText(fileId, name, workspace, expires), query.get("signature") ?? "")
          return genuine && Number(expires) > (yield* Clock.currentTimeMillis) ? WorkspaceId.make(workspace) : null
        })
      })
    })
  )
}
