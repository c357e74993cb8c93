/**
 * Sites, by host, path, id or search, and what belongs to them.
 */
import * as Effect from "effect/Effect"
import type { Segment } from "../requests/Address.ts"
import * as Drives from "../drive/Drives.ts"
import * as Failure from "../model/Failure.ts"
import { dispatch, type GraphRequest, type Methods, time } from "../requests/GraphRequest.ts"
import * as Lists from "./Lists.ts"
import type { Properties, Site } from "../model/Model.ts"
import * as Pages from "../requests/Pages.ts"
import * as Places from "../drive/Places.ts"
import { World } from "../world/World.ts"

const view = (site: Site): Properties => ({
  id: site.id,
  name: site.name === "" ? site.host : site.name,
  displayName: site.displayName,
  description: site.description,
  webUrl: `https://${site.host}${site.path}`,
  createdDateTime: time(site.createdAt),
  lastModifiedDateTime: time(site.createdAt),
  isPersonalSite: site.isPersonal,
  siteCollection: { hostname: site.host },
  // Each top-level site is the root of its own collection.
  root: site.path.split("/").length <= 3 ? {} : undefined
})

const get = (site: Site, request: GraphRequest) => Effect.succeed(Pages.one(request, "sites", view(site)))

const listed = (request: GraphRequest, rows: ReadonlyArray<Site>) =>
  Pages.page(request, { of: "sites", rows, view, size: 200, max: 999 })

/** All sites, or those whose names hold the text of `search`. */
export const all = Effect.fnUntraced(function* (request: GraphRequest) {
  const { sites } = yield* World
  const text = (request.options.get("search") ?? "*").replaceAll('"', "").toLowerCase()
  const rows = [...sites.values()].filter(
    ({ displayName, name }) => text === "*" || text === "" || `${displayName}\n${name}`.toLowerCase().includes(text)
  )
  return yield* listed(request, rows)
})

const isBelow = (site: Site, parent: Site) =>
  site.host === parent.host && site !== parent && site.path.startsWith(`${parent.path}/`) && parent.path !== ""

/** What follows a site in an address. */
export const site: (
  site: Site,
  rest: ReadonlyArray<Segment>,
  request: GraphRequest
) => ReturnType<NonNullable<Methods<Site>["GET"]>> = Effect.fnUntraced(function* (there, rest, request) {
  const { sites } = yield* World
  const [segment, key] = rest
  switch (segment?.text.toLowerCase()) {
    case undefined:
      return yield* dispatch({ GET: get }, there, request)
    case "drive":
    case "drives":
      return yield* Drives.of(there.id, rest, request)
    case "lists":
      return yield* Lists.lists(there, rest.slice(1), request)
    case "sites": {
      const below = [...sites.values()].filter((site) => isBelow(site, there))
      if (key === undefined) return yield* dispatch({ GET: () => listed(request, below) }, there, request)
      const found = below.find(({ id }) => id === key.text || id.split(",")[2] === key.text)
      if (found === undefined) return yield* Failure.itemNotFound("Requested site could not be found")
      return yield* site(found, rest.slice(2), request)
    }
    default:
      return yield* Failure.unknownSegment(segment?.text ?? "")
  }
})

/** The site that an address names. */
const named = Effect.fnUntraced(function* (key: Segment) {
  const { host, siteAt, sites } = yield* World
  const { path, text } = key
  const all = [...sites.values()]
  if (path !== null) {
    const domain = text.toLowerCase() === "root" || text === "" ? host : text
    if (!all.some((site) => site.host === domain.toLowerCase())) {
      return yield* Failure.invalidRequest("Provided id has an invalid hostname for this tenancy")
    }
    const found = siteAt(domain, path.map((name) => `/${name}`).join(""))
    if (found !== undefined) return found
    return yield* Failure.itemNotFound("The provided path does not exist, or does not represent a site")
  }
  const exact = sites.get(text.toLowerCase())
  if (exact !== undefined) return exact
  const [domain, collection, web] = text.split(",")
  const isHost = all.some((site) => site.host === domain?.toLowerCase())
  if (domain !== undefined && domain.includes(".") && !isHost) {
    return yield* Failure.invalidRequest("Provided id has an invalid hostname for this tenancy")
  }
  const isRoot = text.toLowerCase() === "root"
  const found =
    isRoot || (isHost && collection === undefined)
      ? siteAt(isRoot ? host : text, "")
      : all.find(({ id }) => id === [domain?.toLowerCase(), collection, web].join(",") || id.split(",")[1] === text)
  return found ?? (yield* Failure.itemNotFound("Requested site could not be found"))
})

export const sites = Effect.fnUntraced(function* (rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const [key] = rest
  if (key === undefined) return yield* dispatch({ GET: (_, request) => all(request) }, key, request)
  return yield* site(yield* named(key), rest.slice(1), request)
})

/** What a sharing link leads to. */
export const shares = Effect.fnUntraced(function* (rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const { drives, links } = yield* World
  const [key, relation] = rest
  if (key === undefined) return yield* Failure.invalidRequest("The sharing token must be given.")
  if (!key.text.startsWith("u!") && !key.text.startsWith("s!")) {
    return yield* Failure.invalidRequest("The sharing token must begin with 'u!' or 's!'.", "invalidParameterFormat")
  }
  const url = Buffer.from(key.text.slice(2), "base64url").toString()
  // A token that is not encoded well decodes to another address, or to none. Clients in use leave padding at its end.
  const isWhole = /^[\w-]+={0,2}$/.test(key.text.slice(2)) && URL.canParse(url)
  if (!isWhole) return yield* Failure.invalidRequest("The sharing token is not encoded well.", "invalidParameterFormat")
  const target = links.get(url) ?? (yield* byWebUrl([...drives.values()], url))
  const place = Places.place(target, [])
  switch (relation?.text.toLowerCase()) {
    case undefined: {
      const shown = { id: key.text, name: target.name, owner: target.drive.owner }
      return yield* dispatch({ GET: () => Effect.succeed(Pages.one(request, "shares", shown)) }, place, request)
    }
    case "driveitem":
    case "root":
      return yield* Drives.item(Places.below(place, relation?.path ?? []), rest.slice(2), request)
    default:
      return yield* Failure.unknownSegment(relation?.text ?? "")
  }
})

/** The address of an item in a browser leads to it too. */
const byWebUrl = (drives: ReadonlyArray<Parameters<typeof Drives.drive>[0]>, url: string) => {
  const drive = drives.find(({ webUrl }) => url === webUrl || url.startsWith(`${webUrl}/`))
  const path = drive === undefined ? "" : (url.slice(drive.webUrl.length).split("?")[0] ?? "")
  const item =
    drive === undefined
      ? undefined
      : Places.place(drive.root, path.split("/").filter(Boolean).map(decodeURIComponent)).item
  return item === undefined
    ? Effect.fail(
        Failure.itemNotFound("The sharing link no longer exists, or you do not have permission to access it.")
      )
    : Effect.succeed(item)
}
