/**
 * Check-out and check-in of the files of a library, and deletion past the recycle bin.
 */
import * as Effect from "effect/Effect"
import * as Failure from "../model/Failure.ts"
import type { Item } from "../model/Model.ts"
import {
  change,
  checkMatch,
  type GraphRequest,
  identity,
  type Methods,
  noContent,
  textOf
} from "../requests/GraphRequest.ts"
import * as Tree from "../world/Tree.ts"
import * as Places from "./Places.ts"
import * as Views from "./Views.ts"

type Place = Places.Place

/** Fails for what somebody else has checked out. */
export const checkUnlocked = (item: Item | undefined, request: GraphRequest) => {
  const by = item?.checkedOut?.by.id
  return by === undefined || by === identity(request.principal).id ? Effect.void : Effect.fail(Failure.locked())
}

const fileOf = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const item = yield* Places.existing(place)
  yield* checkUnlocked(item, request)
  return item.kind === "file" ? item : yield* Failure.invalidRequest("Only a file can be checked out and in.")
})

const checkedOut = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const item = yield* fileOf(place, request)
  const { checkedOut } = item
  return checkedOut === null ? yield* Failure.invalidRequest("The file is not checked out.") : { item, checkedOut }
})

export const checkout: Methods<Place> = {
  POST: Effect.fnUntraced(function* (place, request) {
    const item = yield* fileOf(place, request)
    if (item.checkedOut === null) {
      item.checkedOut = { by: identity(request.principal), blob: item.blob }
      Tree.changed(item, change(request))
    }
    return noContent
  })
}

export const checkin: Methods<Place> = {
  POST: Effect.fnUntraced(function* (place, request) {
    const { item } = yield* checkedOut(place, request)
    const body = yield* request.json
    yield* textOf(body, "comment")
    const as = (yield* textOf(body, "checkInAs")) ?? "unspecified"
    if (!["published", "unspecified"].includes(as)) {
      return yield* Failure.invalidRequest(`'checkInAs' must be published or unspecified.`, "invalidParameterFormat")
    }
    item.checkedOut = null
    Tree.changed(item, change(request))
    return noContent
  })
}

/** What was written since the check-out is gone. */
export const discardCheckout: Methods<Place> = {
  POST: Effect.fnUntraced(function* (place, request) {
    const { checkedOut: before, item } = yield* checkedOut(place, request)
    item.checkedOut = null
    if (before.blob !== null && before.blob !== item.blob) Tree.write(item, before.blob, change(request))
    else Tree.changed(item, change(request))
    return noContent
  })
}

export const permanentDelete: Methods<Place> = {
  POST: Effect.fnUntraced(function* (place, request) {
    const item = yield* Places.existing(place)
    yield* checkUnlocked(item, request)
    yield* checkMatch(request, [Views.eTag(item), Views.cTag(item)])
    if (item.parent === null) return yield* Failure.invalidRequest("The root of a drive cannot be deleted.")
    Tree.remove(item, change(request))
    return noContent
  })
}
