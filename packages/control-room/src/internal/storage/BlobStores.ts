/** The blob store of the options: a folder in the data folder, or a bucket. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import { BlobStore } from "../../BlobStore.ts"
import type { StorageOptions } from "../../Options.ts"

/** The folder of blobs in the data folder. */
export const folderOf = ({ data }: StorageOptions) => join(data, "files")

/** Longer than any upload takes. */
const sweepAfter = Duration.days(1)

/** Whether other processes may be uploading when this one starts. */
const isShared = ({ database, s3 }: StorageOptions) => database !== undefined || s3 !== undefined

export const layer = (options: StorageOptions) => {
  const { s3 } = options
  const limit = isShared(options) ? sweepAfter : Duration.zero
  return s3 === undefined
    ? BlobStore.layerDisk(folderOf(options), limit)
    : Layer.unwrap(
        // Loaded on demand: most rooms have no bucket.
        Effect.map(
          Effect.promise(() => import("../blobs/S3BlobStore.ts")),
          (bucket) => bucket.layer(s3, limit)
        )
      )
}
