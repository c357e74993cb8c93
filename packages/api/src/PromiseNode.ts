/**
 * Files of this machine for the client with promises, on Node, Bun and Deno. In a module of its own, so that bundles for browsers have
 * no module of Node. They need no other connection than `connect` makes.
 */
import type { File } from "./contract/Files.ts"
import { WorkItemId } from "./contract/Ids.ts"
import * as LocalFiles from "./internal/files/LocalFiles.ts"
import { adapt, adaptSource } from "./internal/promise/Adapt.ts"
import type { CallOptions } from "./internal/promise/CallOptions.ts"
import { callWith, type Connected } from "./internal/promise/Client.ts"
import type { UploadSource } from "./internal/promise/WorkClients.ts"

export { LocalFailed, type Uploaded, type UploadProgress } from "./internal/files/LocalFiles.ts"
export { UploadSourceError } from "./Upload.ts"

/** A file of a work item or of an output. */
export interface RemoteFile extends Pick<File, "download"> {
  readonly name: string
  readonly size: number
}

/**
 * Downloads a file of a work item or output to a path, or into a folder under its own name, and resolves to the path. A folder is one
 * that exists, or a path that ends with `/`; folders that are missing are made. The file is there once it is whole; an older one is
 * replaced. The address in the file is valid for one hour; get the item again after that. Rejects with `LocalFailed` when it cannot be
 * written.
 *
 * ```ts
 * import type { Client } from "@signalbox/api/promise"
 * import { downloadTo } from "@signalbox/api/promise-node"
 *
 * export const fetchAll = async (room: Client, item: string) => {
 *   const { files } = await room.workItems.get(item)
 *   for (const file of files)
 *     console.log(await downloadTo(room, file, "./in/"))
 * }
 * ```
 */
export const downloadTo = (
  room: Connected<unknown>,
  file: RemoteFile,
  to: string,
  options?: CallOptions
): Promise<string> => callWith(room, LocalFiles.downloadTo(file, to), "downloadTo", downloadTo, options)

/** How several files are uploaded. */
export interface UploadAllOptions {
  /** Called as bytes are sent, and after each file. What it throws or rejects with ends the upload. */
  readonly onProgress?: ((progress: LocalFiles.UploadProgress) => void | PromiseLike<void>) | undefined
}

/**
 * Uploads the files of a folder, or several sources, to a work item, one after the other, and resolves to their names and sizes. A file of
 * the same name is replaced, so it is safe to repeat. Rejects with `UploadSourceError` before anything is sent when one cannot be read,
 * when the folder has folders, and when two have the same name.
 *
 * ```ts
 * import type { Client } from "@signalbox/api/promise"
 * import { uploadAll } from "@signalbox/api/promise-node"
 *
 * export const attachScans = (room: Client, item: string) =>
 *   uploadAll(room, item, "./scans", {
 *     onProgress: ({ bytes, bytesSent, file }) =>
 *       console.log(`${file}: ${bytesSent} of ${bytes} bytes`)
 *   })
 * ```
 */
export const uploadAll = (
  room: Connected<unknown>,
  item: string,
  from: string | ReadonlyArray<UploadSource>,
  upload: UploadAllOptions = {},
  options?: CallOptions
): Promise<ReadonlyArray<LocalFiles.Uploaded>> => {
  const sources = typeof from === "string" ? from : from.map(adaptSource)
  // `onProgress` is an effect now, as the module takes it.
  const adapted = adapt(upload) as LocalFiles.UploadAllOptions
  return callWith(room, LocalFiles.uploadAll(WorkItemId.make(item), sources, adapted), "uploadAll", uploadAll, options)
}
