/**
 * Things of drives as the wire shows them.
 */
import * as Effect from "effect/Effect"
import * as Mime from "effect/http/Mime"
import * as Option from "effect/Option"
import { type GraphRequest, time } from "../requests/GraphRequest.ts"
import * as Ids from "../model/Ids.ts"
import type { Drive, Identity, Item, Permission, Properties } from "../model/Model.ts"
import { Transfers } from "../world/Transfers.ts"
import * as Tree from "../world/Tree.ts"
import { remoteOf, World } from "../world/World.ts"

export const eTag = (item: Item) => `"{${item.guid}},${item.tag}"`

export const cTag = (item: Item) => `"c:{${item.guid}},${item.contentTag}"`

const by = (identity: Identity) => ({ user: identity })

export const mimeType = (name: string): string => Option.getOrElse(Mime.getType(name), () => "application/octet-stream")

const pathText = (drive: Drive, names: ReadonlyArray<string>) =>
  `/drives/${drive.id}/root:${names.map((name) => `/${name}`).join("")}`

export const webUrl = (item: Item) => [item.drive.webUrl, ...Tree.pathOf(item).map(encodeURIComponent)].join("/")

const parentReference = ({ drive, parent }: Item): Properties => ({
  driveType: drive.driveType,
  driveId: drive.id,
  id: parent?.id,
  name: parent?.name,
  path: parent === null ? undefined : pathText(drive, Tree.pathOf(parent)),
  siteId: drive.siteId ?? undefined
})

/** What an item is: these decide how clients treat it. */
const facets = (item: Item): Properties => ({
  folder: item.kind === "folder" ? { childCount: item.children.size } : undefined,
  package: item.kind === "package" ? { type: "oneNote" } : undefined,
  file: item.blob === null ? undefined : { mimeType: mimeType(item.name), hashes: { quickXorHash: item.blob.hash } }
})

const remote = (target: Item): Properties => ({
  remoteItem: {
    id: target.id,
    name: target.name,
    size: target.size,
    webUrl: webUrl(target),
    ...facets(target),
    createdDateTime: time(target.createdAt),
    lastModifiedDateTime: time(target.modifiedAt),
    parentReference: parentReference(target)
  }
})

/** Shows items; the links in them hold from the time of the request. */
export const items = Effect.fnUntraced(function* (request: Pick<GraphRequest, "now">) {
  const world = yield* World
  const transfers = yield* Transfers
  return (item: Item): Properties => {
    const target = remoteOf(world, item)
    return {
      "@microsoft.graph.downloadUrl": item.blob === null ? undefined : transfers.contentUrl(item, request.now),
      id: item.id,
      name: item.name,
      description: item.description ?? undefined,
      size: item.size,
      eTag: eTag(item),
      cTag: cTag(item),
      createdDateTime: time(item.createdAt),
      lastModifiedDateTime: time(item.modifiedAt),
      webUrl: webUrl(item),
      createdBy: by(item.createdBy),
      lastModifiedBy: by(item.modifiedBy),
      parentReference: parentReference(item),
      root: item.parent === null ? {} : undefined,
      ...facets(item),
      ...(target === undefined ? {} : remote(target)),
      specialFolder: item.specialFolder === null ? undefined : { name: item.specialFolder },
      publication:
        item.checkedOut === null
          ? undefined
          : { level: "checkout", versionId: `${item.version}.1`, checkedOutBy: by(item.checkedOut.by) },
      shared: item.permissions.size === 0 ? undefined : { scope: "users" },
      fileSystemInfo: {
        createdDateTime: time(item.createdAt),
        lastModifiedDateTime: time(item.modifiedAt),
        ...item.fileSystem
      }
    }
  }
})

/** An item of another drive, as who it is shared with finds it. */
export const shared = (item: Item): Properties => ({
  id: Ids.item(`shared ${item.id}`),
  name: item.name,
  size: item.size,
  webUrl: webUrl(item),
  createdDateTime: time(item.createdAt),
  lastModifiedDateTime: time(item.modifiedAt),
  ...facets(item),
  ...remote(item)
})

export const drive = (drive: Drive): Properties => ({
  id: drive.id,
  driveType: drive.driveType,
  name: drive.name,
  description: drive.description,
  createdDateTime: time(drive.createdAt),
  lastModifiedDateTime: time(drive.root.modifiedAt),
  webUrl: drive.webUrl,
  createdBy: { user: { displayName: "System Account" } },
  owner: drive.owner,
  quota: {
    deleted: 0,
    remaining: drive.quota - drive.root.size,
    state: "normal",
    total: drive.quota,
    used: drive.root.size
  }
})

export const permission = ({ grantedTo, invitation, link, password, ...rest }: Permission): Properties => ({
  ...rest,
  link,
  ...(grantedTo === undefined
    ? {}
    : link === undefined
      ? { grantedTo: { user: grantedTo[0] }, grantedToV2: { user: grantedTo[0] } }
      : { grantedToIdentitiesV2: grantedTo.map((user) => ({ user })) }),
  invitation,
  hasPassword: password !== undefined
})
