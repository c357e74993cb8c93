/**
 * A seed from a folder: files as they lie there, and the rest as JSON.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Seed from "./Seed.ts"

/** The folder is not one, or a file in it cannot be understood. `message` names the file and what is wrong with it. */
export class SeedFolderError extends Schema.TaggedError<SeedFolderError>()("SeedFolderError", {
  message: Schema.String
}) {}

const Sandbox = Schema.Struct({
  host: Schema.optionalKey(Schema.String),
  tenant: Schema.optionalKey(Schema.String),
  apps: Schema.optionalKey(Schema.Array(Seed.App))
})

const User = Schema.Record(Schema.String, Schema.Unknown)

const Group = Schema.Struct({
  displayName: Schema.optionalKey(Schema.String),
  id: Schema.optionalKey(Schema.String),
  mail: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  members: Schema.Array(Schema.String),
  site: Schema.optionalKey(Schema.String)
})

const Site = Schema.Struct({
  path: Schema.optionalKey(Schema.String),
  displayName: Schema.optionalKey(Schema.String),
  host: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String)
})

const List = Schema.Struct({
  displayName: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  columns: Schema.optionalKey(Schema.Array(Seed.Column)),
  items: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Unknown)))
})

/** Files of attachments lie beside the mailbox. */
const located = ({ mails = [], ...mailbox }: Seed.Mailbox, at: (file: string) => string): Seed.Mailbox => ({
  ...mailbox,
  mails: mails.map(({ attachments = [], ...mail }) => ({
    ...mail,
    attachments: attachments.map(({ content, ...attachment }) => ({
      ...attachment,
      content: typeof content === "object" && "file" in content ? { file: at(content.file) } : content
    }))
  }))
})

/**
 * Reads a folder. Everything in it is optional:
 *
 * - `sandbox.json`: `host`, `tenant`, `apps`;
 * - `users/<name>/drive/`: the files of a person, whose properties may stand in `users/<name>/user.json`;
 * - `users/<name>/mailbox.json`: `folders`, and `mails`, whose attachments may be files beside it: `{ "file": "invoice.pdf" }`;
 * - `groups/<name>.json`: `members` (sign-in names), and `site`;
 * - `sites/<name>/drive/`: the files of the default library; `sites/<name>/drives/<library>/`: those of another;
 *   `sites/<name>/lists/<list>.json`: `columns` and `items`; `sites/<name>/site.json`: `path`, `displayName`. The path is
 *   `/sites/<name>` where it is not given; the site named `root` is that of the host.
 *
 * The files are read from where they lie, and never written.
 *
 * @example
 * ```ts
 * import { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"
 * import * as SeedFolder from "@signalbox/graph-sandbox/SeedFolder"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const layer = Layer.unwrap(
 *   Effect.map(SeedFolder.read("seed"), (seed) => GraphSandbox.layer({ seed }))
 * )
 * ```
 */
export const read = Effect.fn("SeedFolder.read")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path

  const failed = (file: string, why: string) => new SeedFolderError({ message: `${file}: ${why}` })

  const namesIn = Effect.fnUntraced(function* (...parts: ReadonlyArray<string>) {
    const path = paths.join(folder, ...parts)
    if (!(yield* Effect.orElseSucceed(fs.exists(path), () => false))) return []
    const names = yield* Effect.mapError(fs.readDirectory(path), () => failed(path, "this is not a folder"))
    return names.filter((name) => !name.startsWith(".")).sort()
  })

  const json = Effect.fnUntraced(function* <A, I>(schema: Schema.Codec<A, I>, ...parts: ReadonlyArray<string>) {
    const path = paths.join(folder, ...parts)
    if (!(yield* Effect.orElseSucceed(fs.exists(path), () => false))) return undefined
    const text = yield* Effect.mapError(fs.readFileString(path), () => failed(path, "it cannot be read"))
    return yield* Effect.mapError(Schema.decodeEffect(Schema.fromJsonString(schema))(text), (error) =>
      failed(path, error.message)
    )
  })

  /** All that lies below, by path. */
  const files = Effect.fnUntraced(function* (...parts: ReadonlyArray<string>) {
    const path = paths.join(folder, ...parts)
    const found: Record<string, Seed.Files[string]> = {}
    if (!(yield* Effect.orElseSucceed(fs.exists(path), () => false))) return undefined
    const names = yield* Effect.mapError(fs.readDirectory(path, { recursive: true }), () =>
      failed(path, "this is not a folder")
    )
    for (const name of names.sort()) {
      const file = paths.join(path, name)
      const { type } = yield* Effect.mapError(fs.stat(file), () => failed(file, "it cannot be read"))
      const key = name.split(paths.sep).join("/")
      if (type === "Directory") found[`${key}/`] = ""
      else if (type === "File") found[key] = { file }
    }
    return found
  })

  if (!(yield* Effect.orElseSucceed(fs.exists(folder), () => false))) {
    return yield* failed(folder, "the folder does not exist")
  }

  const users: Array<Seed.User> = []
  for (const name of yield* namesIn("users")) {
    const properties = (yield* json(User, "users", name, "user.json")) ?? {}
    const drive = yield* files("users", name, "drive")
    const found = yield* json(Seed.Mailbox, "users", name, "mailbox.json")
    const mailbox = found === undefined ? undefined : located(found, (file) => paths.join(folder, "users", name, file))
    const given = {
      userPrincipalName: name.includes("@") ? name : `${name}@contoso.test`,
      displayName: name,
      ...properties
    }
    users.push(
      yield* Effect.mapError(
        Schema.decodeUnknownEffect(Seed.User)(Record.filter({ ...given, drive, mailbox }, Predicate.isNotUndefined)),
        (error) => failed(paths.join(folder, "users", name, "user.json"), error.message)
      )
    )
  }

  const groups: Array<Seed.Group> = []
  for (const file of yield* namesIn("groups")) {
    const name = file.replace(/\.json$/, "")
    const group = yield* json(Group, "groups", file)
    if (group !== undefined) groups.push({ displayName: name, ...group })
  }

  const sites: Array<Seed.Site> = []
  for (const name of yield* namesIn("sites")) {
    const site = (yield* json(Site, "sites", name, "site.json")) ?? {}
    const main = yield* files("sites", name, "drive")
    const drives: Record<string, Seed.Files> = { Documents: main ?? {} }
    for (const library of yield* namesIn("sites", name, "drives")) {
      drives[library] = (yield* files("sites", name, "drives", library)) ?? {}
    }
    const lists: Array<Seed.List> = []
    for (const file of yield* namesIn("sites", name, "lists")) {
      const list = yield* json(List, "sites", name, "lists", file)
      if (list !== undefined) lists.push({ displayName: file.replace(/\.json$/, ""), ...list })
    }
    sites.push({ path: name === "root" ? "" : `/sites/${name}`, displayName: name, ...site, drives, lists })
  }

  const rest = (yield* json(Sandbox, "sandbox.json")) ?? {}
  const found = { users, groups, sites }
  const names = (["users", "groups", "sites"] as const).filter((name) => found[name].length > 0)
  const seed: Seed.Seed = { ...rest, ...Struct.pick(found, names) }
  return seed
})
