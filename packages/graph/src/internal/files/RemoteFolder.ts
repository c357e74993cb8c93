/**
 * A folder of a drive that an upload goes to: what is in it, and the folders that it gets.
 */
import { pauseAfter } from "@signalbox/transport/Policy"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { DriveAddress, ItemAddress } from "../../Drive.ts"
import * as Drives from "../../Drives.ts"
import type { Graph } from "../../Graph.ts"
import type { GraphError } from "../../GraphError.ts"
import type { DriveItem } from "../../model/Drive.ts"
import { GraphPolicy } from "../../Policy.ts"
import { NotAFolder, type TransferError, transferError } from "../../TransferError.ts"
import { keyOf } from "./DriveNames.ts"

export type TransferFailure = GraphError | TransferError

/** What is in a folder, by name. */
export interface Siblings {
  readonly find: (name: string) => DriveItem | undefined
  /** Files that the service called otherwise when this name was taken: `Report 1.txt`. */
  readonly renamed: (name: string) => ReadonlyArray<DriveItem>
}

export const siblingsOf = (items: ReadonlyArray<DriveItem>): Siblings => {
  const exact = new Map(items.map((item) => [item.name ?? "", item]))
  const alike = new Map(items.map((item) => [keyOf(item.name ?? ""), item]))
  return {
    find: (name) => exact.get(name) ?? alike.get(keyOf(name)),
    renamed: (name) => {
      const dot = name.lastIndexOf(".")
      const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""]
      return items.filter(({ name: other }) => {
        const isAlike = other?.startsWith(stem) === true && other.endsWith(extension)
        return isAlike && /^ \(?\d+\)?$/.test(other.slice(stem.length, other.length - extension.length))
      })
    }
  }
}

const asked = [
  "id",
  "name",
  "size",
  "eTag",
  "file",
  "folder",
  "fileSystemInfo",
  "lastModifiedDateTime",
  "package",
  "parentReference",
  "remoteItem"
] as const

export const list = (drive: DriveAddress, folder: ItemAddress): Effect.Effect<Siblings, GraphError, Graph> =>
  Effect.map(Stream.runCollect(Drives.children(drive, folder, { select: asked })), siblingsOf)

/** Where a name is or will be in a folder. */
export const below = ({ id, parentReference, remoteItem }: DriveItem, name: string): ItemAddress => ({
  id,
  path: name,
  parentReference: parentReference ?? null,
  remoteItem: remoteItem ?? null
})

/** The service may answer otherwise before long; whether it has acted is not known. */
export const isTransient = (error: TransferFailure): boolean =>
  error._tag === "GraphError" && ["Unreachable", "Unavailable", "Timeout"].includes(error.reason._tag)

/** Tries again after a pause, as often as the policy says. `attempt` must find out itself what an earlier one has done. */
export const persistently = <A, R>(
  attempt: (attempts: number) => Effect.Effect<A, TransferFailure, R>,
  isWorthAnother: (error: TransferFailure, attempts: number) => boolean = isTransient
): Effect.Effect<A, TransferFailure, R> => {
  const from = (attempts: number): Effect.Effect<A, TransferFailure, R> =>
    Effect.catch(attempt(attempts), (error) =>
      Effect.flatMap(GraphPolicy, (policy) =>
        attempts >= policy.attempts || !isWorthAnother(error, attempts)
          ? Effect.fail(error)
          : Effect.andThen(Effect.flatMap(pauseAfter(policy, attempts), Effect.sleep), from(attempts + 1))
      )
    )
  return from(1)
}

const isFolder = (item: DriveItem) => ((item.remoteItem ?? item).folder ?? null) !== null

/** The item, unless it is no folder. A shortcut counts as what it leads to. */
export const orFolder = (item: DriveItem): Effect.Effect<DriveItem, TransferError> =>
  isFolder(item)
    ? Effect.succeed(item)
    : Effect.fail(transferError(new NotAFolder({ message: "something that is no folder has this name" }), item.name))

/** A folder in a folder, made unless it is there. `isNew`: nothing can be in it. */
export const ensure = (drive: DriveAddress, parent: DriveItem, siblings: Siblings, name: string) => {
  const found = siblings.find(name)
  if (found !== undefined) return Effect.map(orFolder(found), (item) => ({ item, isNew: false }))
  const there = Effect.flatMap(Drives.item(drive, below(parent, name)), orFolder)
  return persistently(() =>
    Drives.createFolder(drive, parent, name).pipe(
      Effect.map((item) => ({ item, isNew: true })),
      // Another program made it, or an attempt whose answer was lost.
      Effect.catchReason("GraphError", "NameAlreadyExists", () => Effect.map(there, (item) => ({ item, isNew: false })))
    )
  )
}

/** The folder that an upload goes to. One that is named by its path is made when it is missing. */
export const target = (drive: DriveAddress, address: ItemAddress | DriveItem) => {
  const path = "id" in address || "special" in address ? undefined : address.path
  return persistently(() =>
    Effect.flatMap(Drives.item(drive, address), orFolder).pipe(
      Effect.catchReason("GraphError", "NotFound", (_, error) =>
        path === undefined ? Effect.fail(error) : Drives.ensureFolder(drive, path)
      )
    )
  )
}
