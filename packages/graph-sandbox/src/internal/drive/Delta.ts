/**
 * What has changed in a drive, or below one of its folders.
 */
import * as Effect from "effect/Effect"
import type { Segment } from "../requests/Address.ts"
import * as Changes from "../requests/Changes.ts"
import type { Methods } from "../requests/GraphRequest.ts"
import * as Places from "./Places.ts"
import * as Tree from "../world/Tree.ts"
import * as Views from "./Views.ts"

export const items = (segment: Segment): Methods<Places.Place> => ({
  GET: Effect.fnUntraced(function* (place, request) {
    const folder = yield* Places.existing(place)
    const { drive } = folder
    const show = yield* Views.items(request)
    return yield* Changes.page(request, segment, {
      of: "Collection(driveItem)",
      id: drive.id,
      changes: drive.changes,
      options: { next: "token", delta: "token" },
      view: (id) => {
        const item = drive.items.get(id)
        return item !== undefined && Tree.isBelow(item, folder) ? show(item) : undefined
      },
      gone: (id) => ({ id, deleted: { state: "deleted" }, parentReference: { driveId: drive.id } })
    })
  })
})
