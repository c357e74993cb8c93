/**
 * Where an address inside of a drive leads: to an item, or to where one may be made.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Failure from "../model/Failure.ts"
import { change, type GraphRequest, isMissing, objectOf } from "../requests/GraphRequest.ts"
import type { Drive, Item } from "../model/Model.ts"
import * as Tree from "../world/Tree.ts"
import { World } from "../world/World.ts"

/** `names` lead from an item that is there to one that may not be. */
export interface Place {
  readonly from: Item
  readonly names: ReadonlyArray<string>
  readonly item: Item | undefined
}

export const place = (from: Item, names: ReadonlyArray<string>): Place => ({ from, names, item: Tree.at(from, names) })

/** The place below this one. */
export const below = (base: Place, names: ReadonlyArray<string>): Place =>
  base.item === undefined ? { ...base, names: [...base.names, ...names] } : place(base.item, names)

export const existing = ({ item }: Place) =>
  item === undefined ? Effect.fail(Failure.itemNotFound()) : Effect.succeed(item)

/** An item of a drive by its id; `root` is one. */
export const byId = (drive: Drive, id: string) => {
  const item = id.toLowerCase() === "root" ? drive.root : drive.items.get(id)
  if (item !== undefined) return Effect.succeed(place(item, []))
  return Effect.flatMap(World, ({ drives }) => {
    const isElsewhere = [...drives.values()].some(({ items }) => items.has(id))
    return Effect.fail(
      isElsewhere
        ? Failure.invalidRequest("The provided item ID is not valid for the requested drive.")
        : Failure.itemNotFound()
    )
  })
}

/** The folder that a new item goes to, and its name. Missing folders of the path are made. */
export const target = Effect.fnUntraced(function* ({ from, names }: Place, request: GraphRequest) {
  const name = names.at(-1)
  if (name === undefined) return { folder: from, name: undefined }
  const folder = yield* Effect.fromResult(Tree.folders(from, names.slice(0, -1), change(request)))
  return { folder, name }
})

/** What to do where the name is taken: said in the query or in the body. */
export const conflictOf = (request: GraphRequest, body: Readonly<Record<string, unknown>>, fallback: Tree.Conflict) => {
  const said = body["@microsoft.graph.conflictBehavior"] ?? request.options.get("@microsoft.graph.conflictBehavior")
  if (said === undefined) return Effect.succeed(fallback)
  return Tree.isConflict(said)
    ? Effect.succeed(said)
    : Effect.fail(Failure.invalidRequest("conflictBehavior must be fail, replace or rename.", "invalidParameterFormat"))
}

const driveIn = (reference: Readonly<Record<string, unknown>>, item: Item) =>
  Effect.flatMap(World, ({ drives }) => {
    const id = reference["driveId"]
    const drive = isMissing(id) ? item.drive : drives.get(String(id))
    return drive === undefined
      ? Effect.fail(Failure.itemNotFound("The drive could not be found."))
      : Effect.succeed(drive)
  })

/** The folder that a `parentReference` names, by id or by path. */
export const referenced = Effect.fnUntraced(function* (value: unknown, item: Item) {
  const reference = objectOf(value)
  const drive = yield* driveIn(reference, item)
  const { id, path } = reference
  if (typeof id === "string") return yield* Effect.flatMap(byId(drive, id), existing)
  if (typeof path === "string") {
    const decoded = yield* Effect.fromResult(
      Result.mapError(
        Result.try(() => decodeURIComponent(path.replace(/^.*?\/root:?/, ""))),
        () => Failure.invalidRequest("parentReference.path is not encoded well.", "invalidPath")
      )
    )
    return yield* existing(
      place(
        drive.root,
        decoded.split("/").filter((name) => name !== "")
      )
    )
  }
  return "driveId" in reference ? drive.root : (item.parent ?? drive.root)
})
