/**
 * Files of this machine, and servers of `node:http`, for the client with promises, on Node, Bun and Deno. In a module of its own, so that
 * bundles for browsers have no module of Node. They need no other connection than `connect` makes.
 */
import type { File } from "./contract/Files.ts"
import { WorkItemId } from "./contract/Ids.ts"
import type { WebhookEvent } from "./contract/WebhookEvents.ts"
import * as LocalFiles from "./internal/files/LocalFiles.ts"
import { adapt, adaptSource } from "./internal/promise/Adapt.ts"
import type { CallOptions } from "./internal/promise/CallOptions.ts"
import { callWith, type Connected } from "./internal/promise/Client.ts"
import type { UploadSource } from "./internal/promise/WorkClients.ts"
import { receiveWebhook } from "./Promise.ts"
import { InvalidSignature, type VerifyOptions } from "./Webhook.ts"

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

/** How webhooks are received. */
export interface WebhookReceiver extends Omit<VerifyOptions, "headers" | "body"> {
  /**
   * Called with each event. The response is sent when it has returned, or its promise has resolved, so that what fails is delivered
   * again. The service waits for 15 seconds, and may deliver an event more than once.
   */
  readonly onEvent: (event: WebhookEvent) => void | PromiseLike<void>
  /** Called with what `onEvent` throws or rejects with, and with an `UnreadableEvent`. Default: printed to standard error. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** What a receiver reads of a request: the `IncomingMessage` of `node:http` has it. */
export interface IncomingRequest {
  readonly method?: string | undefined
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** Whether all of the body has been read. */
  readonly complete: boolean
  readonly iterator: (options: { readonly destroyOnReturn: boolean }) => AsyncIterable<Uint8Array>
}

/** How a receiver responds: the `ServerResponse` of `node:http` has it. */
export interface OutgoingResponse {
  readonly writeHead: (status: number, headers: Readonly<Record<string, string>>) => unknown
  readonly end: () => unknown
  readonly destroy: () => unknown
}

/** A listener of `node:http`. Its types are not named, so that programs need no declarations of Node. */
export type WebhookListener = (request: IncomingRequest, response: OutgoingResponse) => void

/** The largest body that is read, in bytes: events have a few hundred. */
const mostBytes = 1_000_000

/** Returns the body of a request; null for a larger one. */
const bodyOf = async (request: IncomingRequest): Promise<Uint8Array | null> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length
    if (size > mostBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * A listener for a server of `node:http`, also as a route of express, that receives webhooks and callbacks and trusts those that the
 * service has signed. It responds with 204 when `onEvent` is done, 401 without a valid signature, 413 to more than 1 MB, 405 to anything
 * but POST, and 500 to what fails. Throws a `TypeError` when there is no secret.
 *
 * ```ts
 * import { webhookListener } from "@signalbox/api/promise-node"
 * import { createServer } from "node:http"
 *
 * export const serve = (secret: string) =>
 *   createServer(
 *     webhookListener({
 *       secret,
 *       onEvent: ({ action, payload }) =>
 *         console.log(action, payload.processRunId)
 *     })
 *   ).listen(8080)
 * ```
 */
export const webhookListener = ({ onError = console.error, onEvent, ...given }: WebhookReceiver): WebhookListener => {
  const secrets = typeof given.secret === "string" ? [given.secret] : given.secret
  if (!Array.isArray(secrets) || secrets.length === 0 || secrets.some((secret) => !secret)) {
    throw new TypeError("webhookListener: secret: expected the secret of the webhook or callback, or several")
  }
  const statusOf = async (request: IncomingRequest): Promise<number> => {
    if (request.method !== "POST") return 405
    const body = await bodyOf(request)
    if (body === null) return 413
    try {
      await onEvent(await receiveWebhook({ ...given, headers: request.headers, body }))
      return 204
    } catch (error) {
      if (error instanceof InvalidSignature) return 401
      onError(error)
      return 500
    }
  }
  return (request, response) => {
    statusOf(request).then(
      // What was not read of a body must not be taken for the next request.
      (status) => {
        response.writeHead(status, request.complete ? {} : { connection: "close" })
        response.end()
      },
      // The sender has gone away.
      () => response.destroy()
    )
  }
}
