/**
 * What has changed in a drive. A token is the number of the last change that was seen, so a page goes on where the one
 * before ended, and what changes meanwhile comes last.
 */
import * as Effect from "effect/Effect"
import type { Segment } from "../wire/Address.ts"
import * as Failure from "../Failure.ts"
import type { Drive, Item } from "../Model.ts"
import * as Pages from "../wire/Pages.ts"
import * as Places from "./Places.ts"
import * as Tree from "./Tree.ts"
import * as Views from "./Views.ts"
import { context, type GraphRequest, type Methods, ok } from "../wire/Wire.ts"

/** The drive is in the token: that of another one is of no use. */
const encode = (drive: Drive, seen: number) => Buffer.from(`${seen} ${drive.id}`).toString("base64url")

const decode = (drive: Drive, token: string): number | undefined => {
  if (token.toLowerCase() === "latest") return drive.changes.last
  const [seen, id] = Buffer.from(token, "base64url").toString().split(" ")
  const number = Number(seen)
  return id === drive.id && Number.isSafeInteger(number) && number <= drive.changes.last ? number : undefined
}

/** The address that goes on from a token; a token in the function's parentheses gives way to one in the query. */
const link = (request: GraphRequest, token: string) =>
  Pages.linkWith(
    { ...request, path: request.path.replace(/\(token=[^)]*\)$/i, "").replace(/\(\)$/, "") },
    /^(?:(?:\$|%24)?token|(?:\$|%24)?skiptoken)=/i,
    `token=${token}`
  )

export const items = (segment: Segment): Methods<Places.Place> => ({
  GET: Effect.fnUntraced(function* (place, request) {
    const folder = yield* Places.existing(place)
    const { drive } = folder
    const token = segment.args?.["token"] ?? request.options.get("token")
    const from = token === undefined || token === "" ? 0 : decode(drive, token)
    if (from === undefined) {
      return yield* Failure.withHeaders(Failure.resync(), { location: `${request.base}${request.path}` })
    }
    const size = Math.min(Number(request.options.get("top") ?? 200) || 200, 1000)
    const view = yield* Views.items(request)
    const rows: Array<Record<string, unknown>> = []
    let seen = from
    let more = false
    for (const [id, { deleted, number }] of drive.changes.byItem) {
      if (number <= from) continue
      if (rows.length === size) {
        more = true
        break
      }
      seen = number
      const item: Item | undefined = drive.items.get(id)
      // The first round tells what is there; only later ones tell what has gone.
      if (deleted) {
        if (from > 0) rows.push({ id, deleted: { state: "deleted" }, parentReference: { driveId: drive.id } })
      } else if (item !== undefined && Tree.isBelow(item, folder)) rows.push(view(item))
    }
    return ok({
      "@odata.context": context(request, "Collection(driveItem)"),
      ...(more
        ? { "@odata.nextLink": link(request, encode(drive, seen)) }
        : { "@odata.deltaLink": link(request, encode(drive, drive.changes.last)) }),
      value: rows.map((row) => Pages.select(request, row))
    })
  })
})
