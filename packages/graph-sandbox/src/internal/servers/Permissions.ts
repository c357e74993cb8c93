/**
 * What a token must permit, by endpoint: scopes of a person's, roles of an app's. One of those that are listed suffices.
 */
import * as Effect from "effect/Effect"
import type { Segment } from "../requests/Address.ts"
import * as MailFailures from "../mail/MailFailures.ts"
import * as Failure from "../model/Failure.ts"
import type { IncomingRequest } from "../requests/GraphRequest.ts"
import type { Principal } from "../model/Model.ts"
import { World } from "../world/World.ts"

const directory = ["Directory.Read.All", "Directory.ReadWrite.All"]
const profiles = ["User.Read.All", "User.ReadWrite.All", ...directory]
const groups = [
  "GroupMember.Read.All",
  "GroupMember.ReadWrite.All",
  "Group.Read.All",
  "Group.ReadWrite.All",
  ...directory
]

const manageSites = ["Sites.Manage.All", "Sites.FullControl.All"]
const writeSites = ["Sites.ReadWrite.All", ...manageSites]
const readSites = ["Sites.Read.All", ...writeSites]

const writeFiles = ["Files.ReadWrite.All", ...writeSites]
const readFiles = ["Files.Read.All", ...writeFiles, ...readSites]

const readMail = ["Mail.Read", "Mail.ReadWrite"]
const writeMail = ["Mail.ReadWrite"]
const sendMail = ["Mail.Send"]
const shared = (scopes: ReadonlyArray<string>) => scopes.map((scope) => `${scope}.Shared`)

interface Permissions {
  readonly read: ReadonlyArray<string>
  readonly write: ReadonlyArray<string>
  /** What suffices besides for who signed in and asks for what is theirs. */
  readonly own?: { readonly read: ReadonlyArray<string>; readonly write: ReadonlyArray<string> }
  /** The roles of an app, where they are called otherwise. */
  readonly app?: { readonly read: ReadonlyArray<string>; readonly write: ReadonlyArray<string> }
}

interface Rule extends Permissions {
  /** An address, with `*` for keys; the first rule that fits counts. */
  readonly address: RegExp
  readonly refusal: () => Failure.Failure
}

const ofFiles = () => Failure.accessDenied()
const ofMail = () => MailFailures.accessDenied()
const ofDirectory = () => Failure.directoryDenied()

const rules: ReadonlyArray<Rule> = [
  {
    address: /^(?:me|users\/\*)\/(?:sendmail$|(?:.*\/)?messages\/\*\/(?:send|reply|replyall|forward)$)/,
    read: [],
    write: shared(sendMail),
    own: { read: [], write: sendMail },
    app: { read: [], write: sendMail },
    refusal: ofMail
  },
  {
    address: /^(?:me|users\/\*)\/(?:messages|mailfolders)(?:\/|$)/,
    read: shared(readMail),
    write: shared(writeMail),
    own: { read: readMail, write: writeMail },
    app: { read: readMail, write: writeMail },
    refusal: ofMail
  },
  {
    address: /\/(?:lists(?:\/\*)?|list)(?:\/columns(?:\/\*)?)?$/,
    read: readSites,
    write: manageSites,
    refusal: ofFiles
  },
  { address: /\/(?:lists\/\*|list|listitem)(?:\/|$)/, read: readSites, write: writeSites, refusal: ofFiles },
  {
    address: /(?:^|\/)drives?(?:\/|$)/,
    read: readFiles,
    write: writeFiles,
    own: { read: ["Files.Read", "Files.ReadWrite"], write: ["Files.ReadWrite"] },
    refusal: ofFiles
  },
  { address: /^shares\//, read: ["Files.ReadWrite", ...readFiles], write: writeFiles, refusal: ofFiles },
  { address: /(?:^|\/)(?:sites|followedsites)(?:\/|$)/, read: readSites, write: writeSites, refusal: ofFiles },
  { address: /^groups(?:\/|$)/, read: groups, write: groups, refusal: ofDirectory },
  {
    address: /^(?:me|users(?:\/\*)?)$/,
    read: ["User.ReadBasic.All", ...profiles],
    write: profiles,
    own: { read: ["User.Read", "User.ReadWrite"], write: ["User.ReadWrite"] },
    refusal: ofDirectory
  },
  {
    address: /^(?:me|users\/\*)\/(?:directreports|memberof)/,
    read: profiles,
    write: profiles,
    own: { read: ["User.Read", "User.ReadWrite"], write: [] },
    refusal: ofDirectory
  },
  { address: /^(?:me|users\/\*)(?:\/|$)/, read: profiles, write: profiles, refusal: ofDirectory }
]

const keyed = new Set(["children", "columns", "drives", "groups", "items", "lists", "permissions", "shares", "sites"])
  .add("attachments")
  .add("childfolders")
  .add("mailfolders")
  .add("messages")
  .add("special")
  .add("tables")
  .add("users")
  .add("versions")
  .add("worksheets")

/** The words of an address; each key is a `*`, so that a name is never taken for a word. */
const wordsOf = (segments: ReadonlyArray<Segment>): string => {
  const words: Array<string> = []
  for (const { text } of segments) words.push(keyed.has(words.at(-1) ?? "") ? "*" : text.toLowerCase())
  return words.join("/")
}

/** Whether what is asked for belongs to who signed in. */
const isOwn = Effect.fnUntraced(function* (principal: Principal, [first, key]: ReadonlyArray<Segment>) {
  if (principal.kind === "app") return false
  const { drivesOf, userBy } = yield* World
  const { id } = principal.user
  switch (first?.text.toLowerCase()) {
    case "me":
    case "drive":
      return true
    case "users":
      return userBy(key?.text ?? "")?.id === id
    case "drives":
      return drivesOf.get(id)?.some((drive) => drive.id === key?.text) === true
    default:
      return false
  }
})

/** Refuses a request whose token does not permit it. */
export const check = Effect.fnUntraced(function* (request: IncomingRequest, segments: ReadonlyArray<Segment>) {
  const { method, principal } = request
  const address = wordsOf(segments)
  const rule = rules.find((rule) => rule.address.test(address))
  if (rule === undefined) return
  const access = method === "GET" ? "read" : "write"
  const own = rule.own !== undefined && (yield* isOwn(principal, segments)) ? rule.own[access] : []
  const any = principal.kind === "app" ? (rule.app?.[access] ?? rule[access]) : rule[access]
  const wanted = new Set([...any, ...own].map((scope) => scope.toLowerCase()))
  if (!principal.scopes.some((scope) => wanted.has(scope.toLowerCase()))) return yield* rule.refusal()
})
