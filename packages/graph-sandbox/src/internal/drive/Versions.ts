/**
 * Versions of a file: contents that were replaced, and the current ones.
 */
import * as Effect from "effect/Effect"
import * as Failure from "../model/Failure.ts"
import { change, type Methods, noContent, time } from "../requests/GraphRequest.ts"
import * as Items from "./Items.ts"
import type { Item, Version } from "../model/Model.ts"
import * as Pages from "../requests/Pages.ts"
import * as Places from "./Places.ts"
import { Transfers } from "../world/Transfers.ts"
import * as Tree from "../world/Tree.ts"

type Place = Places.Place

const view = (version: Version) => ({
  id: version.id,
  lastModifiedDateTime: time(version.modifiedAt),
  lastModifiedBy: { user: version.modifiedBy },
  size: version.blob.size
})

/** All versions of a file, newest first; the first is the current one. */
const versionsOf = (item: Item) => {
  const { blob, modifiedAt, modifiedBy, version, versions } = item
  return blob === null
    ? Effect.fail(Failure.invalidRequest("Only a file has versions."))
    : Effect.succeed([{ id: `${version}.0`, blob, modifiedAt, modifiedBy }, ...versions.toReversed()])
}

const of = (item: Item) => `${Items.context(item)}('${item.id}')/versions`

export const versions: Methods<Place> = {
  GET: Effect.fnUntraced(function* (place, request) {
    const item = yield* Places.existing(place)
    const rows = yield* versionsOf(item)
    return yield* Pages.page(request, { of: of(item), rows, view, size: 200, max: 999 })
  })
}

const find = Effect.fnUntraced(function* (place: Place, id: string) {
  const item = yield* Places.existing(place)
  const all = yield* versionsOf(item)
  const at = id.toLowerCase() === "current" ? 0 : all.findIndex((version) => version.id === id)
  const version = all[at]
  if (version === undefined) return yield* Failure.itemNotFound("There is no such version.")
  return { item, version, isCurrent: at === 0 }
})

/** `versions/{id}`. */
export const version = (id: string): Methods<Place> => ({
  GET: Effect.fnUntraced(function* (place, request) {
    const { item, version } = yield* find(place, id)
    return Pages.one(request, of(item), view(version))
  }),
  DELETE: Effect.fnUntraced(function* (place) {
    const { isCurrent, item, version } = yield* find(place, id)
    if (isCurrent) return yield* Failure.invalidRequest("You cannot delete the current version.")
    item.versions.splice(item.versions.indexOf(version), 1)
    return noContent
  })
})

/** `versions/{id}/content` and `versions/{id}/restoreVersion`. */
export const versionRelations = (id: string): Readonly<Record<string, Methods<Place>>> => ({
  content: {
    GET: Effect.fnUntraced(function* (place, request) {
      const transfers = yield* Transfers
      const { isCurrent, item, version } = yield* find(place, id)
      if (isCurrent) return yield* Failure.invalidRequest("You cannot get the content of the current version.")
      return { status: 302, headers: { location: transfers.contentUrl(item, request.now, version.id) } }
    })
  },
  restoreversion: {
    POST: Effect.fnUntraced(function* (place, request) {
      const { item, version } = yield* find(place, id)
      Tree.write(item, version.blob, change(request))
      return noContent
    })
  }
})
