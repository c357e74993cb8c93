/**
 * Messages as requests write them, and their way into the mailboxes of the recipients.
 */
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import * as Attachments from "./Attachments.ts"
import * as MailFailures from "./MailFailures.ts"
import * as Failure from "../model/Failure.ts"
import type { MailAttachment, Mailbox, MailMessage } from "../model/Mail.ts"
import type { Properties } from "../model/Model.ts"
import { objectOf } from "../requests/GraphRequest.ts"
import * as Mailboxes from "../world/Mailboxes.ts"
import * as Mails from "../world/Mails.ts"
import { World } from "../world/World.ts"

const lists = ["toRecipients", "ccRecipients", "bccRecipients", "replyTo"] as const

/** What of a message may change once it is no draft any more. */
const afterwards = new Set(["isRead", "flag", "categories", "importance", "inferenceClassification"])

const writable = new Set([...Object.keys(Mails.defaults), "attachments", "@odata.type"])

const recipients = Effect.fnUntraced(function* (name: string, value: unknown) {
  const { users } = yield* World
  if (!Array.isArray(value)) return yield* Failure.badRequest(`'${name}' must be a list.`)
  const all: Array<Mails.Recipient> = []
  for (const recipient of value) {
    const { address, name: shown } = objectOf(objectOf(recipient)["emailAddress"])
    if (typeof address !== "string" || !address.includes("@")) return yield* MailFailures.noRecipients()
    const person = Mails.personAt(users, address)
    all.push({
      emailAddress: { name: typeof shown === "string" ? shown : (person?.displayName ?? address), address }
    })
  }
  return all
})

/** The properties of a message that a body names. */
export const properties = Effect.fnUntraced(function* (body: Readonly<Record<string, unknown>>) {
  const unknown = Object.keys(body).find((name) => !writable.has(name))
  if (unknown !== undefined) {
    return yield* Failure.badRequest(`The property '${unknown}' does not exist on type 'microsoft.graph.message'.`)
  }
  const { "@odata.type": _, attachments: __, ...given } = body
  const named: Record<string, unknown> = { ...given }
  for (const name of lists) {
    if (given[name] !== undefined) named[name] = yield* recipients(name, given[name])
  }
  const text = objectOf(given["body"])
  if (given["body"] !== undefined) {
    named["body"] = { contentType: String(text["contentType"] ?? "text").toLowerCase(), content: text["content"] ?? "" }
  }
  const found: Properties = named
  return found
})

/** A change of a message: of one that was sent, only marks. */
export const changes = Effect.fnUntraced(function* (message: MailMessage, body: Readonly<Record<string, unknown>>) {
  const found = yield* properties(body)
  const isSent = message.properties["isDraft"] !== true
  if (isSent && Object.keys(found).some((name) => !afterwards.has(name))) return yield* MailFailures.sentAlready()
  return found
})

/** A draft of a mailbox. */
export const draft = Effect.fnUntraced(function* (
  mailbox: Mailbox,
  body: Readonly<Record<string, unknown>>,
  now: number
) {
  const from = Mails.recipientOf(mailbox.owner)
  const own = { ...Mails.defaults, from, sender: from, isDraft: true, isRead: true }
  const attachments: Array<MailAttachment> = []
  const given = Array.isArray(body["attachments"]) ? body["attachments"] : []
  for (const attachment of given) attachments.push(yield* Attachments.fromBody(mailbox, objectOf(attachment), now))
  return { properties: { ...own, ...(yield* properties(body)) }, attachments, receivedAt: now }
})

const addressesOf = ({ properties }: Mailboxes.NewMessage) =>
  (["toRecipients", "ccRecipients", "bccRecipients"] as const)
    .flatMap((name) => properties[name] ?? [])
    .map((recipient) => String(objectOf(objectOf(recipient)["emailAddress"])["address"]))

/** Puts a copy into the mailbox of each recipient who has one here; others are somewhere else. */
export const deliver = Effect.fnUntraced(function* (
  message: Mailboxes.NewMessage & { readonly properties: Properties },
  now: number
) {
  const { mailboxes, users } = yield* World
  const addresses = addressesOf(message)
  if (addresses.length === 0) return yield* MailFailures.noRecipients()
  const people = new Set(addresses.map((address) => Mails.personAt(users, address)?.id))
  for (const id of people) {
    const mailbox = id === undefined ? undefined : mailboxes.get(id)
    if (mailbox === undefined) continue
    const attachments = Mailboxes.attachmentsFor(mailbox, message)
    const received = { isDraft: false, isRead: false, bccRecipients: [], categories: [], flag: Mails.defaults["flag"] }
    Mailboxes.add(
      mailbox,
      Mailboxes.known(mailbox, "inbox"),
      { properties: { ...message.properties, ...received }, attachments, receivedAt: now },
      now
    )
  }
})

/** What a reply or a forward begins with. */
export const answer = (mailbox: Mailbox, { properties }: MailMessage, kind: "reply" | "replyAll" | "forward") => {
  const subject = String(properties["subject"])
  const prefix = kind === "forward" ? "FW: " : "RE: "
  const replyTo = properties["replyTo"]
  const to = Array.isArray(replyTo) && replyTo.length > 0 ? replyTo : [properties["from"]]
  const own = Mails.recipientOf(mailbox.owner).emailAddress.address.toLowerCase()
  const isOther = (recipient: unknown) =>
    String(objectOf(objectOf(recipient)["emailAddress"])["address"]).toLowerCase() !== own
  const others = (name: string) => {
    const all = properties[name]
    return kind === "replyAll" && Array.isArray(all) ? all.filter(isOther) : []
  }
  return {
    ...Struct.pick(properties, ["body", "conversationId"]),
    subject: subject.toUpperCase().startsWith(prefix) ? subject : `${prefix}${subject}`,
    toRecipients: kind === "forward" ? [] : [...to, ...others("toRecipients")],
    ccRecipients: others("ccRecipients")
  }
}
