/** Assets and the uploads of their content. The content is a file whose owner is the asset. */
import type { Asset, AssetUpload } from "@signalbox/api/contract/Assets"
import { AssetId, AssetUploadId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import { Refused } from "../../engine/Refused.ts"
import { clockTolerance, Database, type PageRequest, type Rows } from "../database/Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, nullable, queryOne, Table, text, word } from "@signalbox/sql/Table"
import { Files } from "./Files.ts"

const assetTable = Table("asset", {
  id: id(AssetId),
  workspace_id: id(WorkspaceId),
  name: text,
  content_type: nullable(text),
  created_at: text
})
const assetRow = assetTable.pick("id", "workspace_id", "name", "content_type")

const uploadTable = Table("asset_upload", {
  id: id(AssetUploadId),
  asset_id: id(AssetId),
  content_type: text,
  status: word<"pending" | "completed" | "failed">(),
  reason: nullable(text),
  expires_at: text
})
const uploadRow = uploadTable.pick("id", "content_type", "status", "reason")

export interface StoredAsset {
  readonly id: AssetId
  readonly workspaceId: WorkspaceId
  readonly name: string
  /** Null while it has no content. */
  readonly contentType: string | null
}

/** Bytes that are already on disk. */
export interface NewContent {
  readonly size: number
  readonly blob: string
}

/** The refusal of an upload that no longer accepts content. */
export const uploadEnded = "the upload has failed or its asset was deleted; request a new upload"

const parse = (row: typeof assetRow.Type): StoredAsset => ({
  id: row.id,
  workspaceId: row.workspace_id,
  name: row.name,
  contentType: row.content_type
})

const viewUpload = ({ content_type, id, reason, status }: typeof uploadRow.Type): AssetUpload =>
  status === "failed" ? { id, content_type, status, reason: reason ?? "" } : { id, content_type, status }

export class Assets extends Context.Service<
  Assets,
  {
    /** By id, or with `name:` by name. */
    readonly get: (workspace: WorkspaceId, ref: string) => Effect.Effect<StoredAsset | null>
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<Pick<Asset, "id" | "name">>>
    /** Null when the name is in use. */
    readonly create: (workspace: WorkspaceId, name: string) => Effect.Effect<StoredAsset | null>
    /** Deletes an asset, and returns the blobs that no row names any more. */
    readonly remove: (asset: AssetId) => Effect.Effect<ReadonlyArray<string>>
    /** A pending upload, for as long as its address is valid. */
    readonly createUpload: (asset: AssetId, contentType: string, expiresAt: string) => Effect.Effect<AssetUploadId>
    readonly getUpload: (asset: AssetId, upload: string) => Effect.Effect<AssetUpload | null>
    /** The asset of an upload that may still be sent: the upload has not failed, and the asset exists. */
    readonly ofUpload: (workspace: WorkspaceId, upload: string) => Effect.Effect<StoredAsset | null>
    /**
     * Completes an upload: from now on the asset has this content. Returns the blob of the previous content, if any;
     * refused when the upload failed, or the asset was deleted, in between.
     */
    readonly complete: (
      workspace: WorkspaceId,
      upload: string,
      content: NewContent
    ) => Effect.Effect<string | null, Refused>
    /** Fails a pending upload; one that has ended does not change. */
    readonly fail: (upload: string, reason: string) => Effect.Effect<void>
    /** Fails the uploads that have expired. */
    readonly expireUploads: Effect.Effect<void>
  }
>()("@signalbox/control-room/store/Assets") {
  static readonly layer = Layer.effect(
    Assets,
    Effect.gen(function* () {
      const { millis, newId, now, nullWhenTaken, page, sql, transaction } = yield* Database
      const files = yield* Files
      const forUpdateOfAsset = Dialect.forUpdateOf(sql, "asset")
      const ofUpload = (workspace: WorkspaceId, upload: string, lock: Fragment = sql.literal("")) =>
        queryOne(
          assetRow.and({ upload_type: text }),
          sql`
            SELECT ${assetRow.of("asset")}, asset_upload.content_type AS upload_type
            FROM asset_upload JOIN asset ON asset.id = asset_upload.asset_id
            WHERE asset_upload.id = ${upload} AND asset.workspace_id = ${workspace}
              AND asset_upload.status <> 'failed' ${lock}`
        )
      return Assets.of({
        get: (workspace, ref) => {
          const which = ref.startsWith("name:") ? sql`name = ${ref.slice("name:".length)}` : sql`id = ${ref}`
          return queryOne(
            assetRow,
            sql`SELECT ${assetRow.columns} FROM asset WHERE workspace_id = ${workspace} AND ${which}`,
            parse
          )
        },
        list: (workspace, request) =>
          page(
            { rows: assetTable.pick("id", "name"), select: sql`SELECT id, name FROM asset` },
            [sql`workspace_id = ${workspace}`],
            "newest first",
            request
          ),
        create: Effect.fnUntraced(function* (workspace, name) {
          const row = {
            id: AssetId.make(yield* newId),
            workspace_id: workspace,
            name,
            content_type: null,
            created_at: yield* now
          }
          yield* sql`INSERT INTO asset ${assetTable.insert(row)}`
          return parse(row)
        }, nullWhenTaken),
        remove: Effect.fnUntraced(function* (asset) {
          yield* sql`DELETE FROM asset WHERE id = ${asset}`
          return yield* files.removeOwners([asset])
        }, transaction),
        createUpload: Effect.fnUntraced(function* (asset, contentType, expiresAt) {
          const id = AssetUploadId.make(yield* newId)
          yield* sql`INSERT INTO asset_upload ${uploadTable.insert({
            id,
            asset_id: asset,
            content_type: contentType,
            status: "pending",
            expires_at: expiresAt
          })}`
          return id
        }),
        getUpload: (asset, upload) =>
          queryOne(
            uploadRow,
            sql`SELECT ${uploadRow.columns} FROM asset_upload WHERE id = ${upload} AND asset_id = ${asset}`,
            viewUpload
          ),
        ofUpload: (workspace, upload) =>
          Effect.map(ofUpload(workspace, upload), (row) => (row === null ? null : parse(row))),
        complete: Effect.fnUntraced(function* (workspace, upload, content) {
          const row = yield* ofUpload(workspace, upload, forUpdateOfAsset)
          const done =
            row === null
              ? []
              : yield* sql`UPDATE asset_upload SET status = 'completed' WHERE id = ${upload} AND status <> 'failed' RETURNING id`
          if (row === null || done.length === 0) return yield* new Refused({ code: "NOT_FOUND", message: uploadEnded })
          yield* sql`UPDATE asset SET content_type = ${row.upload_type} WHERE id = ${row.id}`
          return yield* files.putNew(workspace, { ownerId: row.id, name: "content", ...content })
        }, transaction),
        fail: (upload, reason) =>
          sql`UPDATE asset_upload SET status = 'failed', reason = ${reason} WHERE id = ${upload} AND status = 'pending'`,
        expireUploads: Effect.gen(function* () {
          const cutoff = new Date((yield* millis) - clockTolerance).toISOString()
          yield* sql`
            UPDATE asset_upload SET status = 'failed', reason = 'the content did not come within one hour'
            WHERE status = 'pending' AND expires_at < ${cutoff}`
        })
      })
    })
  )
}
