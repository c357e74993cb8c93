/**
 * Upload sessions, as the graph opens and ends them; the fragments go to the host of files.
 */
import * as Effect from "effect/Effect"
import * as Failure from "../model/Failure.ts"
import {
  change,
  checkMatch,
  context,
  created,
  type GraphRequest,
  type Methods,
  objectOf,
  ok,
  textOf,
  timesOf
} from "../requests/GraphRequest.ts"
import * as OfficeFiles from "./OfficeFiles.ts"
import * as Places from "./Places.ts"
import * as QuickXorHash from "../world/QuickXorHash.ts"
import { expectedRanges, type Session, Transfers } from "../world/Transfers.ts"
import * as Tree from "../world/Tree.ts"
import * as Views from "./Views.ts"
import { World } from "../world/World.ts"

/** A session as clients see it. */
export const status = (session: Session) => ({
  expirationDateTime: new Date(session.expiresAt).toISOString(),
  nextExpectedRanges: expectedRanges(session)
})

const open = Effect.fnUntraced(function* (place: Places.Place, request: GraphRequest) {
  const { blobs } = yield* World
  const transfers = yield* Transfers
  const body = yield* request.json
  const item = objectOf(body["item"])
  const name = yield* textOf(item, "name")
  const description = yield* textOf(item, "description")
  const conflict = yield* Places.conflictOf(request, item, "replace")
  if ("fileSize" in item && place.from.drive.driveType !== "personal") {
    return yield* Failure.invalidRequest("The property 'fileSize' does not exist on this kind of drive.")
  }
  yield* checkMatch(request, place.item === undefined ? null : [Views.eTag(place.item), Views.cTag(place.item)])
  if (place.item !== undefined && place.item.kind !== "file") {
    return yield* Failure.invalidRequest("Contents can be uploaded for a file only.")
  }
  if (place.item !== undefined && conflict === "fail") return yield* Failure.nameAlreadyExists()
  // The name of the body counts, where the address does not say one.
  const names = name === undefined || place.names.length === 0 ? place.names : [...place.names.slice(0, -1), name]
  yield* Effect.fromResult(Tree.checkPath(place.from, names))
  const session = transfers.open({
    from: place.from,
    names,
    conflict,
    deferCommit: body["deferCommit"] === true,
    description: description ?? null,
    fileSystem: timesOf(item["fileSystemInfo"]),
    change: change(request),
    path: blobs.newPath()
  })
  return ok({
    "@odata.context": context(request, "microsoft.graph.uploadSession"),
    uploadUrl: transfers.uploadUrl(session),
    ...status(session)
  })
})

export const createSession: Methods<Places.Place> = { POST: open }

/** All bytes are there: the file takes its place. */
export const commit = Effect.fnUntraced(function* (session: Session, as?: { readonly conflict: Tree.Conflict }) {
  const { change, description, fileSystem, from, names, path } = session
  const transfers = yield* Transfers
  if (session.total === null || session.gaps.length > 0) {
    return yield* Failure.invalidRequest("Not all bytes have arrived yet.", "uploadSessionIncomplete")
  }
  if (!from.drive.items.has(from.id)) return yield* Failure.itemNotFound("The folder of the upload is gone.")
  const name = names.at(-1)
  const sent = { size: session.total, hash: QuickXorHash.digest(session.hash, session.total), source: path }
  const blob = yield* OfficeFiles.stored(sent, name ?? from.name, from.drive)
  const folder = yield* Effect.fromResult(Tree.folders(from, names.slice(0, -1), change))
  const conflict = as?.conflict ?? session.conflict
  const put =
    name === undefined
      ? { item: folder, created: false }
      : yield* Effect.mapError(
          Effect.fromResult(Tree.add(folder, { name, kind: "file", blob }, conflict, change)),
          (failure) => (failure.code === "nameAlreadyExists" ? Failure.uploadNameConflict() : failure)
        )
  if (name === undefined) Tree.write(folder, blob, change)
  if (description !== null) put.item.description = description
  put.item.fileSystem = { ...put.item.fileSystem, ...fileSystem }
  transfers.sessions.delete(session.id)
  return put
})

/** An upload whose name was taken at its end can be kept by this: `PUT` of an item with the session as its source. */
const commitElsewhere = Effect.fnUntraced(function* (_place: Places.Place, request: GraphRequest) {
  const transfers = yield* Transfers
  const body = yield* request.json
  const source = yield* textOf(body, "@microsoft.graph.sourceUrl")
  const session = transfers.session(transfers.sessionIdOf(source ?? "") ?? "", request.now)
  if (session === undefined) {
    return yield* Failure.itemNotFound("'@microsoft.graph.sourceUrl' names no upload session.", "uploadSessionNotFound")
  }
  const name = yield* textOf(body, "name")
  const conflict = yield* Places.conflictOf(request, body, session.conflict)
  const renamed = name === undefined ? session.names : [...session.names.slice(0, -1), name]
  const put = yield* commit({ ...session, names: renamed }, { conflict })
  const view = yield* Views.items(request)
  return put.created ? created(view(put.item)) : ok(view(put.item))
})

export const item: Methods<Places.Place> = { PUT: commitElsewhere }
