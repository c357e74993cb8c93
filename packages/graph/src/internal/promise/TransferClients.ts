/** Bytes to and from drives, as functions with promises. */
import { blobOf, bytesOfBlob } from "@signalbox/transport/Promised"
import * as Downloads from "../../Downloads.ts"
import * as Files from "../../Files.ts"
import type { MessageAddress, NewAttachment } from "../../Mail.ts"
import type { MailboxAddress } from "../../Mailbox.ts"
import { SourceFailed, transferError } from "../../TransferError.ts"
import * as Uploads from "../../Uploads.ts"
import type { DriveRef, ItemRef } from "./DriveClients.ts"
import type { CallOptions, Members } from "./Members.ts"

/** A function of the program that is called on the way. What it throws or rejects with ends the transfer. */
export type Listener<A> = (value: A) => void | PromiseLike<void>

/** How bytes are uploaded. */
export interface UploadOptions extends Omit<Uploads.UploadOptions, "onProgress" | "keep"> {
  /** Called as bytes are acknowledged: after each fragment, and once for a small file. */
  readonly onProgress?: Listener<Uploads.Progress> | undefined
  /** Called with the state of each session that is opened; with it an upload that fails stays open, for `resume`. */
  readonly keep?: Listener<Uploads.UploadState> | undefined
}

/** Bytes, a `File` or a `Blob`, or what the Effect form takes. */
export type Source = Uploads.UploadSource | Blob | { readonly blob: Blob }

export const sourceOf = (source: Source): Uploads.UploadSource => {
  const found = blobOf(source)
  // What is no blob is one of the others.
  if (found === undefined) return source as Uploads.UploadSource
  const { blob, name } = found
  const failed = (error: unknown) =>
    transferError(new SourceFailed({ message: error instanceof Error ? error.message : "it cannot be read" }), name)
  return { size: blob.size, from: (offset) => bytesOfBlob(blob, offset, failed) }
}

/** Bytes into drives. */
export interface UploadsClient {
  /**
   * Puts bytes where a file is or will be; folders that are missing are made.
   * @example
   * const to = { path: "/Inbox/a.txt" }
   * await graph.uploads.upload(drive, to, new Blob(["text"]))
   */
  readonly upload: (
    drive: DriveRef,
    item: ItemRef,
    source: Source,
    upload?: UploadOptions,
    options?: CallOptions
  ) => Promise<Uploads.Uploaded>
  /**
   * Ends an upload that is not to be resumed.
   * @example await graph.uploads.cancel(state)
   */
  readonly cancel: (state: Uploads.UploadState, options?: CallOptions) => Promise<void>
}

export const uploads: Members<UploadsClient> = {
  upload: {
    of: (drive: DriveRef, item: ItemRef, source: Source, options: Uploads.UploadOptions | undefined) =>
      Uploads.upload(drive, item, sourceOf(source), options),
    parameters: 4
  },
  cancel: { of: Uploads.cancel, parameters: 1 }
}

/** How bytes are downloaded. */
export interface DownloadOptions extends Omit<Downloads.DownloadOptions, "onProgress" | "onDifference"> {
  /** Gets the bytes that arrived so far. */
  readonly onProgress?: Listener<number> | undefined
  /** Called with a difference that is not a failure. */
  readonly onDifference?: Listener<Downloads.Difference> | undefined
}

/** Bytes out of drives. */
export interface DownloadsClient {
  /**
   * The whole contents of a file that fits into memory.
   * @example const bytes = await graph.downloads.bytes(drive, { path: "/Inbox/a.txt" })
   */
  readonly bytes: (
    drive: DriveRef,
    item: ItemRef,
    download?: DownloadOptions,
    options?: CallOptions
  ) => Promise<Uint8Array>
  /**
   * The contents as they arrive; a broken connection is resumed.
   * @example
   * for await (const bytes of graph.downloads.stream(drive, item))
   *   console.log(bytes.length)
   */
  readonly stream: (
    drive: DriveRef,
    item: ItemRef,
    download?: DownloadOptions,
    options?: CallOptions
  ) => AsyncIterable<Uint8Array>
}

export const downloads: Members<DownloadsClient> = {
  bytes: { of: Downloads.bytes, parameters: 3 },
  stream: { of: Downloads.stream, parameters: 3 }
}

/** Where a file is downloaded to. */
export interface FileOptions extends Omit<DownloadOptions, "from"> {
  /** Whether a large file that broke off continues where it stopped, also when the program was killed. Default false. */
  readonly resume?: boolean | undefined
  readonly to?: string | undefined
  readonly name?: string | undefined
}

/** How a folder is downloaded. */
export interface FolderOptions extends Omit<Files.FolderOptions, "onProgress"> {
  /** Called after each file. */
  readonly onProgress?: Listener<{ readonly path: string; readonly files: number; readonly bytes: number }> | undefined
}

/** How a folder is uploaded. */
export interface UploadFolderOptions extends Omit<Files.UploadFolderOptions, "onProgress"> {
  /** Called after each file that was sent. */
  readonly onProgress?: Listener<{ readonly path: string; readonly files: number; readonly bytes: number }> | undefined
}

/** Transfers between drives and local files. */
export interface FilesClient {
  /**
   * Uploads a local file to where a file is or will be.
   * @example await graph.files.upload(drive, { path: "/Inbox/a.pdf" }, "./a.pdf")
   */
  readonly upload: (
    drive: DriveRef,
    item: ItemRef,
    localPath: string,
    upload?: UploadOptions,
    options?: CallOptions
  ) => Promise<Uploads.Uploaded>
  /**
   * Downloads a file; an older file of its name is replaced once it is whole.
   * @example const { path } = await graph.files.download(drive, item, { to: "./in" })
   */
  readonly download: (
    drive: DriveRef,
    item: ItemRef,
    file?: FileOptions,
    options?: CallOptions
  ) => Promise<Files.Downloaded>
  /**
   * Downloads a folder with its subfolders; rejects with `FolderIncomplete` unless all came.
   * @example await graph.files.downloadFolder(drive, { path: "/Inbox" }, { to: "./in" })
   */
  readonly downloadFolder: (
    drive: DriveRef,
    folder: ItemRef,
    download?: FolderOptions,
    options?: CallOptions
  ) => Promise<Files.FolderReport>
  /**
   * Uploads what is in a local folder into a folder, with its subfolders; what is there already is not sent again. Rejects with
   * `NamesRefused` before anything is sent, and with `UploadFolderIncomplete` unless all is there.
   * @example await graph.files.uploadFolder(drive, { path: "/Scans" }, "./scans")
   */
  readonly uploadFolder: (
    drive: DriveRef,
    folder: ItemRef,
    localPath: string,
    upload?: UploadFolderOptions,
    options?: CallOptions
  ) => Promise<Files.UploadFolderReport>
  /**
   * Writes the files that are attached to a message into a folder; inline pictures only with `inline`.
   * @example
   * const files = await graph.files.downloadAttachments(mailbox, message, {
   *   to: "./in"
   * })
   */
  readonly downloadAttachments: (
    mailbox: MailboxAddress,
    message: MessageAddress,
    download?: Files.AttachmentFileOptions,
    options?: CallOptions
  ) => Promise<ReadonlyArray<Files.DownloadedAttachment>>
  /**
   * A local file as an attachment of a message to send.
   * @example const file = await graph.files.attachment("./out/may.pdf")
   */
  readonly attachment: (
    localPath: string,
    attachment?: Parameters<typeof Files.attachment>[1],
    options?: CallOptions
  ) => Promise<NewAttachment>
}

export const files: Members<FilesClient> = {
  upload: { of: Files.upload, parameters: 4 },
  download: { of: Files.download, parameters: 3 },
  downloadFolder: { of: Files.downloadFolder, parameters: 3 },
  uploadFolder: { of: Files.uploadFolder, parameters: 4 },
  downloadAttachments: { of: Files.downloadAttachments, parameters: 3 },
  attachment: { of: Files.attachment, parameters: 2 }
}
