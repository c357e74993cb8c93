/**
 * Team sites and their document libraries.
 */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { json, list } from "./internal/Call.ts"
import { type Selection, selection } from "./internal/Options.ts"
import type { SiteId } from "./model/Common.ts"
import { Drive } from "./model/Drive.ts"
import { Site } from "./model/Site.ts"
import { below, path, type Path } from "./Path.ts"

export { Site } from "./model/Site.ts"

const one = json(Site)
const many = list(Site)
const drivesOf = list(Drive)
const driveOf = json(Drive)

/**
 * Which site: `"root"`; an id, `"host,collection,site"`, with blanks or without; a host, for its root site; `"host:/sites/team"`;
 * an `https` address of the site or of a page in it; a host and the path with its `sites` or `teams`; or the three parts of the id.
 */
export type SiteAddress =
  | SiteId
  | string
  | readonly [host: string, path: string]
  | readonly [host: string, collection: string, site: string]

/** What may follow the site in the address of a page. */
const inside = /\/(SitePages|Shared Documents|Lists|Forms|_layouts)(\/.*)?$/i

const byPath = (host: string, names: string): Path => {
  const rest = below(names)
  return rest.encoded === "" && rest.problem === null ? path`/sites/${host}` : path`/sites/${host}:${rest}:`
}

const byText = (text: string): Path => {
  const address = text.trim()
  const [, host, names] = /^([^/:]+):(\/(?!\/)[^:]+):?$/.exec(address) ?? []
  if (host !== undefined && names !== undefined) return byPath(host, names)
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    const parts = address.split(",").map((part) => part.trim())
    return path`/sites/${parts.join(",")}`
  }
  const { hostname, pathname } = new URL(address)
  return byPath(hostname, decoded(pathname).replace(inside, ""))
}

/** Percent codes that say nothing stay as they are. */
const decoded = (text: string): string =>
  text.replace(/(%[0-9a-f]{2})+/gi, (codes) => {
    const bytes = Uint8Array.from(codes.slice(1).split("%"), (code) => Number.parseInt(code, 16))
    return new TextDecoder().decode(bytes)
  })

const addressed = (site: SiteAddress): Path => {
  if (typeof site === "string") return byText(site)
  const [host, second, third] = site.map((part) => part.trim())
  return third === undefined ? byPath(host ?? "", second ?? "") : path`/sites/${`${host},${second},${third}`}`
}

/**
 * A site; fails with `NotFound`. Use the id that comes for everything else.
 *
 * ```ts
 * import * as Sites from "@signalbox/graph/Sites"
 *
 * export const team = Sites.get(["contoso.sharepoint.com", "/sites/team"])
 * ```
 */
export const get = Effect.fn("Sites.get")(
  (
    site: SiteAddress,
    options: Selection<Site> & {
      /** Whose site, when it is not addressed as a whole: `groups/<id>`, for `"root"`. */
      readonly resource?: string
    } = {}
  ) =>
    one({
      path: path`${below(options.resource ?? "")}${addressed(site)}`,
      query: { $select: selection(options.select) }
    })
)

/**
 * The sites that match a text; `*` is all of them.
 *
 * ```ts
 * import * as Sites from "@signalbox/graph/Sites"
 *
 * export const found = Sites.search("marketing")
 * ```
 */
export const search = (text: string): Stream.Stream<Site, GraphError, Graph> =>
  many({ path: path`/sites`, query: { search: text } })

/** The sites below a site. */
export const subsites = (site: SiteId): Stream.Stream<Site, GraphError, Graph> =>
  many({ path: path`/sites/${site}/sites` })

/** The sites that the signed-in account follows. */
export const followed: Stream.Stream<Site, GraphError, Graph> = many({ path: path`/me/followedSites` })

/** The document libraries of a site, over all pages. */
export const drives = (site: SiteId): Stream.Stream<Drive, GraphError, Graph> =>
  drivesOf({ path: path`/sites/${site}/drives` })

/** The default document library of a site. */
export const drive = Effect.fn("Sites.drive")((site: SiteId) => driveOf({ path: path`/sites/${site}/drive` }))
