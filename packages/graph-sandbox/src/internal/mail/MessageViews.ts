/**
 * Messages, attachments and folders as the wire shows them.
 */
import type { MailAttachment, Mailbox, MailFolder, MailMessage } from "../model/Mail.ts"
import type { Properties } from "../model/Model.ts"
import { type GraphRequest, objectOf, prefers, time } from "../requests/GraphRequest.ts"
import * as Mailboxes from "../world/Mailboxes.ts"

/** Whether the ids are wanted that stay when a message is moved. */
const wantsImmutable = (request: GraphRequest) => /idtype\s*=\s*"?immutableid"?/i.test(request.headers["prefer"] ?? "")

export const idOf = (request: GraphRequest, message: MailMessage): string =>
  wantsImmutable(request) ? message.id : message.regularId

/** The id that a message had when it left a folder. */
export const formerId = (request: GraphRequest, folder: MailFolder, id: string): string =>
  wantsImmutable(request) ? id : (folder.departures.get(id) ?? id)

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** The text of a page, for who wants no markup. */
const plain = (html: string) =>
  html
    .replace(/<(?:head|style|script)\b.*?<\/(?:head|style|script)>/gis, "")
    .replace(/<br\s*\/?>|<\/(?:p|div|tr|li)>/gi, "\r\n")
    .replace(/<[^>]*>/g, "")
    .replaceAll("&nbsp;", " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .trim()

/** The body as text. */
export const textOf = ({ properties }: MailMessage): string => {
  const { content, contentType } = objectOf(properties["body"])
  const text = typeof content === "string" ? content : ""
  return String(contentType).toLowerCase() === "html" ? plain(text) : text
}

const bodyOf = (request: GraphRequest, message: MailMessage) => {
  if (prefers(request, 'outlook.body-content-type="text"')) return { contentType: "text", content: textOf(message) }
  const { content, contentType } = objectOf(message.properties["body"])
  const text = typeof content === "string" ? content : ""
  return String(contentType).toLowerCase() === "html"
    ? { contentType: "html", content: text }
    : { contentType: "html", content: `<html><head></head><body>${escaped(text)}</body></html>` }
}

/** All properties of a message. */
export const whole = (request: GraphRequest, message: MailMessage): Properties => {
  const changeKey = Buffer.from(`${message.id.slice(0, 12)} ${message.version}`).toString("base64url")
  return {
    "@odata.etag": `W/"${changeKey}"`,
    id: idOf(request, message),
    createdDateTime: time(message.createdAt),
    lastModifiedDateTime: time(message.modifiedAt),
    changeKey,
    receivedDateTime: time(message.receivedAt),
    sentDateTime: time(message.sentAt),
    hasAttachments: message.attachments.some(({ isInline }) => !isInline),
    parentFolderId: message.folder.id,
    webLink: `https://outlook.office365.test/owa/?ItemID=${encodeURIComponent(message.regularId)}`,
    ...message.properties,
    bodyPreview: textOf(message).replace(/\s+/g, " ").slice(0, 255),
    body: bodyOf(request, message)
  }
}

/** What shows where nothing is selected. */
export const view =
  (request: GraphRequest) =>
  (message: MailMessage): Properties => {
    const { internetMessageHeaders, ...shown } = whole(request, message)
    return request.options.has("select") ? { ...shown, internetMessageHeaders } : shown
  }

export const context = ({ owner }: Mailbox, of: string) => `users('${owner.id}')/${of}`

const types = { file: "fileAttachment", item: "itemAttachment", reference: "referenceAttachment" } as const

/** `bytes`: the contents, where they are shown. */
export const attachment = (shown: MailAttachment, bytes: Uint8Array | null): Properties => {
  const { blob, contentId, contentType, id, isInline, kind, link, modifiedAt, name } = shown
  const own: Readonly<Record<MailAttachment["kind"], Properties>> = {
    file: {
      contentId,
      contentLocation: null,
      contentBytes: bytes === null ? undefined : Buffer.from(bytes).toString("base64")
    },
    item: {},
    reference: { sourceUrl: link }
  }
  return {
    "@odata.type": `#microsoft.graph.${types[kind]}`,
    id,
    lastModifiedDateTime: time(modifiedAt),
    name,
    contentType,
    // As in the service, more than the file has.
    size: Math.ceil((blob?.size ?? 0) * 1.045) + 200,
    isInline,
    ...own[kind]
  }
}

export const folder =
  (mailbox: Mailbox) =>
  (shown: MailFolder): Properties => ({
    id: shown.id,
    displayName: shown.displayName,
    parentFolderId: shown.parent?.id ?? null,
    childFolderCount: Mailboxes.children(mailbox, shown).length,
    unreadItemCount: [...shown.messages.values()].filter(({ properties }) => properties["isRead"] !== true).length,
    totalItemCount: shown.messages.size,
    sizeInBytes: [...shown.messages.values()].reduce(
      (sum, { attachments }) => attachments.reduce((all, { blob }) => all + (blob?.size ?? 0), sum),
      0
    ),
    isHidden: false
  })
