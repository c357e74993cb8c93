/**
 * What a sandbox starts with: apps, people, groups, sites, and what lies in their drives and lists.
 */
import * as Schema from "effect/Schema"

/**
 * A workbook as it is to be made: the rows of each sheet, by its name, and the tables over them, each with the address of its cells
 * and a row of headers, as `{ workbook: { May: [["Id"], [1]] }, tables: { Orders: "May!A1:A2" } }`.
 */
export const Workbook = Schema.Struct({
  workbook: Schema.Record(
    Schema.String,
    Schema.Array(Schema.Array(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])))
  ),
  tables: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})
export type Workbook = typeof Workbook.Type

/** The contents of a file: text, bytes, the file on disk that holds them (it is read only), or a workbook that is made. */
export const Content = Schema.Union([
  Schema.String,
  Schema.Uint8Array,
  Schema.Struct({ file: Schema.String }),
  // A file that is shared from another drive: the owner's sign-in name or the site's path, and the path in that drive.
  Schema.Struct({ shared: Schema.Struct({ from: Schema.String, path: Schema.String }) }),
  Workbook,
  // A notebook, which looks like a file and is none.
  Schema.Struct({ package: Schema.String })
])

/**
 * Files by path, as `{ "Reports/May.txt": "..." }`. A path that ends with `/` is an empty folder, whatever its content.
 */
export const Files = Schema.Record(Schema.String, Content)
export type Files = typeof Files.Type

/** A registered application. `public` needs no secret, and is refused when it sends one. */
export const App = Schema.Struct({
  clientId: Schema.String,
  name: Schema.optionalKey(Schema.String),
  secret: Schema.optionalKey(Schema.String),
  redirectUris: Schema.Array(Schema.String),
  platform: Schema.Literals(["web", "spa", "public"]),
  /** The application permissions that it was granted, as `Files.Read.All`; they count where scopes are enforced. */
  roles: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Certificates in PEM: an assertion that the key of one of them signs stands for the secret. */
  certificates: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Whose assertions stand for the secret: a workload's, a pipeline's. The public key is in PEM. */
  federated: Schema.optionalKey(
    Schema.Array(Schema.Struct({ issuer: Schema.String, subject: Schema.String, publicKey: Schema.String }))
  )
})
export type App = typeof App.Type

/** What is attached to a mail: the contents of a file, the text of a mail (`item`), or a link to a file in a drive. */
export const MailAttachment = Schema.Struct({
  name: Schema.String,
  contentType: Schema.optionalKey(Schema.String),
  isInline: Schema.optionalKey(Schema.Boolean),
  contentId: Schema.optionalKey(Schema.String),
  content: Schema.Union([
    Schema.String,
    Schema.Uint8Array,
    Schema.Struct({ base64: Schema.String }),
    Schema.Struct({ file: Schema.String }),
    Schema.Struct({ item: Schema.String }),
    Schema.Struct({ link: Schema.String })
  ])
})

/** A mail. Addresses are plain, or as `Ann Lee <ann@contoso.test>`; people of the seed get their names. */
export const Mail = Schema.Struct({
  /** Default `someone@example.test`. */
  from: Schema.optionalKey(Schema.String),
  /** Default: whose mailbox it is. */
  to: Schema.optionalKey(Schema.Array(Schema.String)),
  cc: Schema.optionalKey(Schema.Array(Schema.String)),
  subject: Schema.optionalKey(Schema.String),
  /** Text, or HTML. */
  body: Schema.optionalKey(Schema.Union([Schema.String, Schema.Struct({ html: Schema.String })])),
  /** ISO 8601. Default: now. */
  receivedDateTime: Schema.optionalKey(
    Schema.String.check(
      Schema.makeFilter((text) => (Number.isNaN(Date.parse(text)) ? "Expected a time of ISO 8601" : undefined))
    )
  ),
  /** A well-known folder, or names below one another, as `inbox/done`. Default `inbox`; made when it is missing. */
  folder: Schema.optionalKey(Schema.String),
  isRead: Schema.optionalKey(Schema.Boolean),
  importance: Schema.optionalKey(Schema.Literals(["low", "normal", "high"])),
  categories: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Default: one of its own. */
  internetMessageId: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  attachments: Schema.optionalKey(Schema.Array(MailAttachment))
})
export type Mail = typeof Mail.Type

/** What lies in a mailbox beside the folders that each has. */
export const Mailbox = Schema.Struct({
  /** Empty folders, as `inbox/done`. */
  folders: Schema.optionalKey(Schema.Array(Schema.String)),
  mails: Schema.optionalKey(Schema.Array(Mail))
})
export type Mailbox = typeof Mailbox.Type

/** A person. Every other property of the graph's user may be given too, and is served as it is. */
export const User = Schema.StructWithRest(
  Schema.Struct({
    userPrincipalName: Schema.String,
    displayName: Schema.String,
    id: Schema.optionalKey(Schema.String),
    /** The sign-in name of the manager. */
    manager: Schema.optionalKey(Schema.String),
    /** What lies in the drive; without it, an empty one. */
    drive: Schema.optionalKey(Files),
    /** What lies in the mailbox; without it, an empty one. A shared mailbox is that of a user. */
    mailbox: Schema.optionalKey(Mailbox)
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
export type User = typeof User.Type

export const Group = Schema.Struct({
  displayName: Schema.String,
  id: Schema.optionalKey(Schema.String),
  mail: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  /** Sign-in names. */
  members: Schema.Array(Schema.String),
  /** The path of the group's site, as `/sites/team`, whose default library is the group's drive. */
  site: Schema.optionalKey(Schema.String)
})
export type Group = typeof Group.Type

/** A column as the graph describes it: a name, and one of `text`, `number`, `choice`, ... */
export const Column = Schema.StructWithRest(
  Schema.Struct({
    name: Schema.String,
    displayName: Schema.optionalKey(Schema.String),
    indexed: Schema.optionalKey(Schema.Boolean),
    required: Schema.optionalKey(Schema.Boolean),
    readOnly: Schema.optionalKey(Schema.Boolean)
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

export const List = Schema.Struct({
  displayName: Schema.String,
  description: Schema.optionalKey(Schema.String),
  template: Schema.optionalKey(Schema.String),
  columns: Schema.optionalKey(Schema.Array(Column)),
  /** The fields of each item, by internal name. */
  items: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Unknown)))
})
export type List = typeof List.Type

export const Site = Schema.Struct({
  /** Server-relative, as `/sites/team`; empty for the root of the host. */
  path: Schema.String,
  displayName: Schema.String,
  host: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  /** Document libraries by name; the first is the default one. Without it, an empty one named `Documents`. */
  drives: Schema.optionalKey(Schema.Record(Schema.String, Files)),
  lists: Schema.optionalKey(Schema.Array(List))
})
export type Site = typeof Site.Type

/**
 * Everything a sandbox starts with. What is left out comes from the defaults: one app, one person, one team's site and the root site.
 *
 * @example
 * ```ts
 * import type { Seed } from "@signalbox/graph-sandbox/Seed"
 *
 * const seed: Seed = {
 *   users: [
 *     {
 *       userPrincipalName: "ann@contoso.test",
 *       displayName: "Ann Lee",
 *       drive: { "Reports/May.txt": "42 orders" }
 *     }
 *   ]
 * }
 * ```
 */
export const Seed = Schema.Struct({
  /** The host of sites that name none. */
  host: Schema.optionalKey(Schema.String),
  tenant: Schema.optionalKey(Schema.String),
  apps: Schema.optionalKey(Schema.Array(App)),
  users: Schema.optionalKey(Schema.Array(User)),
  groups: Schema.optionalKey(Schema.Array(Group)),
  sites: Schema.optionalKey(Schema.Array(Site))
})
export type Seed = typeof Seed.Type

/** The app that is registered when the seed names none. */
export const defaultApp: App = {
  clientId: "5a9db0c5-0000-4000-8000-000000000001",
  name: "Sandbox app",
  secret: "sandbox-secret",
  redirectUris: [
    "http://localhost",
    "http://localhost/callback",
    "http://127.0.0.1",
    "http://127.0.0.1/callback",
    "https://login.microsoftonline.com/common/oauth2/nativeclient"
  ],
  platform: "web"
}

/** The person that exists when the seed names none. */
export const defaultUser: User = {
  userPrincipalName: "ann@contoso.test",
  displayName: "Ann Lee",
  givenName: "Ann",
  surname: "Lee",
  mail: "ann@contoso.test",
  drive: { "Welcome.txt": "This file lies in the sandbox.\n", "Documents/": "" },
  mailbox: { mails: [{ subject: "Welcome", body: "This mail lies in the sandbox." }] }
}

/** The root of the host, which every tenant has; there when the seed names no sites. */
export const defaultRootSite: Site = { path: "", displayName: "Communication site" }

/** The team's site that is there when the seed names none. */
export const defaultSite: Site = {
  path: "/sites/team",
  displayName: "Team",
  drives: { Documents: { "Read me.txt": "This file lies in the sandbox.\n" } }
}
