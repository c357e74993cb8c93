/**
 * All that the sandbox holds, built from the seed.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Blobs from "./Blobs.ts"
import * as ChangeLog from "./ChangeLog.ts"
import type { Failure } from "../model/Failure.ts"
import * as Ids from "../model/Ids.ts"
import * as ListModel from "./ListModel.ts"
import type { App, Drive, Group, Identity, Item, Site, User } from "../model/Model.ts"
import * as Mailboxes from "./Mailboxes.ts"
import * as Mails from "./Mails.ts"
import type { Mailbox } from "../model/Mail.ts"
import * as Seed from "../../Seed.ts"
import { supportedScopes } from "../model/SupportedScopes.ts"
import * as Tree from "./Tree.ts"
import * as Workbooks from "./Workbooks.ts"

/** The seed says something that cannot be. */
export class SeedError extends Schema.TaggedError<SeedError>()("SeedError", { message: Schema.String }) {}

const system: Identity = { id: "00000000-0000-4000-8000-000000000000", displayName: "System Account" }

/** Bytes: what a business account has. */
const quota = 1024 ** 4

/** Special folders, and the names that they have in a drive. */
export const specialFolders: Readonly<Record<string, ReadonlyArray<string>>> = {
  documents: ["Documents"],
  photos: ["Pictures"],
  cameraroll: ["Pictures", "Camera Roll"],
  approot: ["Apps", "Sandbox app"],
  music: ["Music"]
}

const make = Effect.fnUntraced(function* (given: Seed.Seed) {
  const seed = { ...given, host: given.host ?? "contoso.sharepoint.test" }
  const blobs = yield* Blobs.make
  const started = { by: system, at: yield* Clock.currentTimeMillis }

  const apps = new Map<string, App>()
  const users = new Map<string, User>()
  const groups = new Map<string, Group>()
  const sites = new Map<string, Site>()
  const drives = new Map<string, Drive>()
  /** The drives of a user or a site by its id; the first is the default one. */
  const drivesOf = new Map<string, Array<Drive>>()
  const siteOfGroup = new Map<string, Site>()
  /** By the id of their owner. */
  const mailboxes = new Map<string, Mailbox>()
  const managers = new Map<string, string>()
  /** Items by the address of a link to them. */
  const links = new Map<string, Item>()

  const userBy = (key: string): User | undefined =>
    users.get(key) ??
    [...users.values()].find(({ userPrincipalName }) => userPrincipalName.toLowerCase() === key.toLowerCase())

  const siteAt = (host: string, path: string): Site | undefined =>
    [...sites.values()].find(
      (site) => site.host === host.toLowerCase() && site.path.toLowerCase() === path.toLowerCase()
    )

  const addDrive = (owner: string, drive: Drive) => {
    drives.set(drive.id, drive)
    drivesOf.set(owner, [...(drivesOf.get(owner) ?? []), drive])
  }

  const removeDrive = (owner: string, drive: Drive) => {
    drives.delete(drive.id)
    drivesOf.set(owner, drivesOf.get(owner)?.filter(({ id }) => id !== drive.id) ?? [])
  }

  /** A library is a drive and a list in one. */
  const addLibrary = (site: Site, given: ListModel.NewList, change: Tree.Change) => {
    const { displayName } = given
    const library = Tree.drive(
      {
        of: `site ${site.host}${site.path} ${displayName}`,
        name: displayName,
        driveType: "documentLibrary",
        description: given.description ?? "",
        owner: { group: { id: site.id, displayName: site.displayName } },
        siteId: site.id,
        createdAt: change.at,
        webUrl: `https://${site.host}${site.path}/${encodeURIComponent(displayName)}`,
        quota
      },
      change
    )
    const template = ListModel.libraryTemplate
    return Result.map(ListModel.make(site, { ...given, template, library }, change), (list) => {
      addDrive(site.id, library)
      return { library, list }
    })
  }

  const refused = (where: string) => (failure: Failure) => new SeedError({ message: `${where}: ${failure.message}` })

  /** Shortcuts are made when every drive is there. */
  const shortcuts: Array<Effect.Effect<void, SeedError>> = []

  const fill = Effect.fnUntraced(function* (drive: Drive, files: Seed.Files, where: string) {
    for (const [path, content] of Object.entries(files)) {
      const names = path.split("/").filter((name) => name !== "")
      const name = path.endsWith("/") ? undefined : names.pop()
      const at = `${where}, ${path}`
      const folder = yield* Effect.mapError(Effect.fromResult(Tree.folders(drive.root, names, started)), refused(at))
      if (name === undefined) continue
      const put = (item: Parameters<typeof Tree.add>[1]) =>
        Effect.mapError(Effect.fromResult(Tree.add(folder, item, "fail", started)), refused(at))
      if (typeof content === "object" && "shared" in content) {
        shortcuts.push(
          Effect.suspend(() => {
            const { from, path } = content.shared
            const owner = userBy(from)?.id ?? siteAt(seed.host, from)?.id
            const source = owner === undefined ? undefined : drivesOf.get(owner)?.[0]
            const target = source === undefined ? undefined : Tree.at(source.root, path.split("/").filter(Boolean))
            return target === undefined
              ? Effect.fail(new SeedError({ message: `${at}: '${from}' has no '${path}'` }))
              : Effect.asVoid(put({ name, kind: "remote", remote: { driveId: target.drive.id, id: target.id } }))
          })
        )
      } else if (typeof content === "object" && "package" in content) {
        yield* put({ name, kind: "package" })
      } else if (typeof content === "object" && "workbook" in content) {
        const bytes = yield* Effect.mapError(Workbooks.ofSeed(content), refused(at))
        yield* put({ name, kind: "file", blob: blobs.ofBytes(bytes) })
      } else {
        const blob =
          typeof content === "string"
            ? blobs.ofBytes(new TextEncoder().encode(content))
            : content instanceof Uint8Array
              ? blobs.ofBytes(content)
              : yield* Effect.mapError(
                  blobs.ofFile(content.file),
                  () => new SeedError({ message: `${at}: the file ${content.file} cannot be read` })
                )
        yield* put({ name, kind: "file", blob })
      }
    }
  })

  for (const app of seed.apps ?? [Seed.defaultApp]) {
    apps.set(app.clientId, {
      secret: null,
      name: app.clientId,
      roles: supportedScopes,
      certificates: [],
      federated: [],
      ...app
    })
  }

  for (const { drive: _, mailbox: __, manager: ___, ...properties } of seed.users ?? [Seed.defaultUser]) {
    const id = properties.id ?? Ids.uuid(`user ${properties.userPrincipalName}`)
    if (userBy(id) !== undefined || userBy(properties.userPrincipalName) !== undefined) {
      return yield* new SeedError({ message: `users: ${properties.userPrincipalName} is there twice` })
    }
    users.set(id, { ...properties, id })
  }
  for (const given of seed.users ?? [Seed.defaultUser]) {
    const user = userBy(given.userPrincipalName)
    if (user === undefined) continue
    if (given.manager !== undefined) {
      const manager = userBy(given.manager)
      if (manager === undefined) {
        return yield* new SeedError({ message: `users: ${given.userPrincipalName}: no manager '${given.manager}'` })
      }
      managers.set(user.id, manager.id)
    }
    const by = { id: user.id, displayName: user.displayName, email: user.userPrincipalName }
    const drive = Tree.drive(
      {
        of: `user ${user.userPrincipalName}`,
        name: "OneDrive",
        driveType: "business",
        description: "",
        owner: { user: by },
        siteId: null,
        createdAt: started.at,
        webUrl: `https://my-${seed.host}/personal/${user.userPrincipalName.replaceAll(/[@.]/g, "_")}/Documents`,
        quota
      },
      { ...started, by }
    )
    addDrive(user.id, drive)
    yield* fill(drive, given.drive ?? {}, `users, ${user.userPrincipalName}`)
    const mailbox = Mailboxes.make(user)
    mailboxes.set(user.id, mailbox)
    for (const path of given.mailbox?.folders ?? []) Mailboxes.folderAt(mailbox, path)
    for (const mail of given.mailbox?.mails ?? []) {
      yield* Effect.mapError(
        Mails.deliver({ blobs, users }, mailbox, mail, started.at),
        (error) => new SeedError({ message: `users, ${user.userPrincipalName}, mailbox: ${error.message}` })
      )
    }
  }

  for (const given of seed.sites ?? [Seed.defaultRootSite, Seed.defaultSite]) {
    const { description = "", displayName, host = seed.host, path } = given
    if (siteAt(host, path) !== undefined) return yield* new SeedError({ message: `sites: ${path} is there twice` })
    const site: Site = {
      id: `${host.toLowerCase()},${Ids.uuid(`collection ${host}${path}`)},${Ids.uuid(`web ${host}${path}`)}`,
      host: host.toLowerCase(),
      path,
      name: path.split("/").at(-1) ?? "",
      displayName,
      description,
      isPersonal: false,
      createdAt: started.at,
      lists: new Map()
    }
    sites.set(site.id, site)
    const libraries = Object.entries(given.drives ?? { Documents: {} })
    for (const [name, files] of libraries) {
      const where = `sites, ${path}, ${name}`
      const { library } = yield* Effect.mapError(
        Effect.fromResult(addLibrary(site, { displayName: name }, started)),
        refused(where)
      )
      yield* fill(library, files, where)
    }
    for (const list of given.lists ?? []) {
      const made = yield* Effect.mapError(
        Effect.fromResult(ListModel.make(site, list, started)),
        refused(`sites, ${path}, ${list.displayName}`)
      )
      for (const fields of list.items ?? []) {
        yield* Effect.mapError(
          Effect.fromResult(ListModel.addItem(made, fields, started)),
          refused(`sites, ${path}, ${list.displayName}`)
        )
      }
    }
  }

  for (const { members, site, ...properties } of seed.groups ?? []) {
    const id = properties.id ?? Ids.uuid(`group ${properties.displayName}`)
    const found = members.map((member) => userBy(member)?.id)
    const missing = members[found.indexOf(undefined)]
    if (missing !== undefined) {
      return yield* new SeedError({ message: `groups: ${properties.displayName}: no user is '${missing}'` })
    }
    groups.set(id, { ...properties, id, members: found.filter((id) => id !== undefined) })
    if (site !== undefined) {
      const there = siteAt(seed.host, site)
      if (there === undefined) {
        return yield* new SeedError({ message: `groups: ${properties.displayName}: no site '${site}'` })
      }
      siteOfGroup.set(id, there)
    }
  }

  yield* Effect.all(shortcuts)

  /** No read lags behind what is there by now; `lags`: whether one may behind what follows. */
  const settle = (lags: boolean) =>
    Effect.sync(() => {
      for (const { changes } of drives.values()) ChangeLog.settle(changes, lags)
      for (const { lists } of sites.values()) {
        for (const { changes } of lists.values()) ChangeLog.settle(changes, lags)
      }
      for (const { folders } of mailboxes.values()) {
        for (const { changes } of folders.values()) ChangeLog.settle(changes, lags)
      }
    })

  return {
    tenant: seed.tenant ?? Ids.uuid("tenant"),
    host: seed.host,
    apps,
    users,
    groups,
    sites,
    drives,
    drivesOf,
    siteOfGroup,
    mailboxes,
    /** How many requests of an app are at a mailbox, by both ids. */
    busyMailboxes: new Map<string, number>(),
    managers,
    links,
    blobs,
    workbooks: Workbooks.make(),
    addLibrary,
    removeDrive,
    settle,
    userBy,
    siteAt
  }
})

/** What the layer makes. */
type Made = Effect.Success<ReturnType<typeof make>>

export class World extends Context.Service<World, Made>()("@signalbox/graph-sandbox/internal/World") {
  static readonly layer = (
    seed: Seed.Seed
  ): Layer.Layer<World, SeedError | PlatformError, FileSystem.FileSystem | Path.Path> =>
    Layer.effect(World)(Effect.map(make(seed), World.of))
}

/** The item that a shortcut stands for. */
export const remoteOf = (world: Made, item: Item): Item | undefined =>
  item.remote === null ? undefined : world.drives.get(item.remote.driveId)?.items.get(item.remote.id)
