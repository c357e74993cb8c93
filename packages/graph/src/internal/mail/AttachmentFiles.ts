/**
 * Attachments to and from local files.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import * as Attachments from "../../Attachments.ts"
import type { Graph } from "../../Graph.ts"
import type { GraphError } from "../../GraphError.ts"
import type { MailboxAddress } from "../../Mailbox.ts"
import type { Attachment } from "../../model/Message.ts"
import { LocalFailed, type TransferError, transferError } from "../../TransferError.ts"
import { localFailed, makeFolder, writeWhole } from "../files/LocalFile.ts"
import { makeNames } from "../files/LocalNames.ts"
import type { NewAttachment } from "./Outgoing.ts"
import type { MessageAddress } from "./Requests.ts"

/** Where attachments are written to. */
export interface AttachmentFileOptions {
  /** The folder; made when it is missing. Default: the current one. */
  readonly to?: string | undefined
  /** Also what is shown in the body, such as pictures of signatures. Default false. */
  readonly inline?: boolean | undefined
}

/** An attachment that was written to a file. */
export interface DownloadedAttachment {
  readonly path: string
  readonly attachment: Attachment
}

/**
 * Writes the files that are attached to a message into a folder. Each gets its name once it is whole, an older file of that name is
 * replaced, and a second attachment of one name gets a number. Items and links to files are not among them: `Attachments` has them.
 *
 * ```ts
 * import * as Files from "@signalbox/graph/Files"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 * import { layerConfig } from "@signalbox/graph/node"
 * import * as Effect from "effect/Effect"
 *
 * export const fetch = (message: string) =>
 *   Files.downloadAttachments(Mailbox.me, message, { to: "./in" }).pipe(
 *     Effect.provide(layerConfig)
 *   )
 * ```
 */
export const downloadAttachments = Effect.fn("Files.downloadAttachments")(function* (
  mailbox: MailboxAddress,
  message: MessageAddress,
  options: AttachmentFileOptions = {}
): Effect.fn.Return<
  ReadonlyArray<DownloadedAttachment>,
  GraphError | TransferError,
  Graph | FileSystem.FileSystem | Path.Path
> {
  const paths = yield* Path.Path
  const folder = paths.resolve(options.to ?? ".")
  const all = yield* Stream.runCollect(Attachments.stream(mailbox, message))
  const files = all.filter(
    (attachment) =>
      Attachments.kindOf(attachment) === "file" && (options.inline === true || attachment.isInline !== true)
  )
  yield* makeFolder(folder)
  const nameOf = makeNames(paths.sep === "\\")
  return yield* Effect.forEach(files, (attachment) => {
    const path = paths.join(folder, nameOf(attachment.name ?? ""))
    const written = writeWhole(path, Attachments.contents(mailbox, message, attachment), null)
    return Effect.as(written, { path, attachment })
  })
})

/**
 * A local file as an attachment of a message to send; it is read when the message is sent.
 *
 * ```ts
 * import * as Files from "@signalbox/graph/Files"
 * import * as Mail from "@signalbox/graph/Mail"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 * import * as Effect from "effect/Effect"
 *
 * export const send = Effect.flatMap(Files.attachment("./out/may.pdf"), (file) =>
 *   Mail.send(Mailbox.me, { to: "ann@contoso.example", attachments: [file] })
 * )
 * ```
 */
export const attachment = Effect.fn("Files.attachment")(function* (
  localPath: string,
  options: Pick<NewAttachment, "contentType" | "contentId"> & { readonly name?: string | undefined } = {}
): Effect.fn.Return<NewAttachment, TransferError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const info = yield* Effect.mapError(fs.stat(localPath), localFailed("read", localPath))
  if (info.type !== "File") {
    return yield* transferError(new LocalFailed({ path: localPath, message: `${localPath} is not a file` }))
  }
  const from = (offset: number) => fs.stream(localPath, { offset, chunkSize: 256 * 1024 })
  const { contentId, contentType, name = paths.basename(localPath) } = options
  return { name, contentType, contentId, content: { size: Number(info.size), from } }
})
