/**
 * Team sites and their document libraries.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Address from "./Drive.ts"
import * as Drives from "./Drives.ts"
import type { Graph } from "./Graph.ts"
import { GraphError, NotFound } from "./GraphError.ts"
import { json, list, unsent } from "./internal/requests/Call.ts"
import { operationOf } from "./internal/requests/Operation.ts"
import { type Selection, selection } from "./internal/requests/Options.ts"
import type { SiteId } from "./model/Common.ts"
import { Drive } from "./model/Drive.ts"
import { Site } from "./model/Site.ts"
import { below, path, type Path, type Query } from "./Path.ts"

export { Site } from "./model/Site.ts"

const one = json(Site)
const many = list(Site)
const drivesOf = list(Drive)
const driveOf = json(Drive)

/**
 * Which site: `"root"`; an id, `"host,collection,site"`, with blanks or without; a host, for its root site; `"host:/sites/team"`;
 * an `https` address of the site, of a page, a library or a file in it, or a link to share a file or a folder in it; a host and
 * the path with its `sites` or `teams`; or the three parts of the id.
 */
export type SiteAddress =
  | SiteId
  | string
  | readonly [host: string, path: string]
  | readonly [host: string, collection: string, site: string]

/** What may follow the site, or a library of it, in the address of a page. */
const inside = /\/(SitePages|Shared Documents|Lists|Forms|_layouts)(\/.*)?$/i

/** A link that was made for sharing: it names an item by a secret, and not by a path. */
const sharing = /^https?:\/\/([^/]+\/:\w:\/|1drv\.ms\/)/i

/** Where collections of sites are: below these, two names are a site, and whatever follows may be in it. */
const managed = /^\/(sites|teams|personal)\//i

/** Where a site is. */
interface Place {
  readonly path: Path
  /** The address of what may be something in the site: asked for when there is no site at the path. */
  readonly link: string | null
}

const byPath = (host: string, names: string): Path => {
  const rest = below(names)
  return rest.encoded === "" && rest.problem === null ? path`/sites/${host}` : path`/sites/${host}:${rest}:`
}

const byText = (text: string): Place => {
  const address = text.trim()
  const [, host, names] = /^([^/:]+):(\/(?!\/)[^:]+):?$/.exec(address) ?? []
  if (host !== undefined && names !== undefined) return { path: byPath(host, names), link: null }
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    const parts = address.split(",").map((part) => part.trim())
    return { path: path`/sites/${parts.join(",")}`, link: null }
  }
  const { hostname, origin, pathname } = new URL(address)
  const there = decoded(pathname).replace(inside, "")
  const segments = there.split("/").filter((segment) => segment !== "")
  const mayBeInside = segments.length > (managed.test(there) ? 2 : 0)
  const link = [origin, ...segments.map(encodeURIComponent)].join("/")
  return { path: byPath(hostname, there), link: mayBeInside ? link : null }
}

/** Percent codes that say nothing stay as they are. */
const decoded = (text: string): string =>
  text.replace(/(%[0-9a-f]{2})+/gi, (codes) => {
    const bytes = Uint8Array.from(codes.slice(1).split("%"), (code) => Number.parseInt(code, 16))
    return new TextDecoder().decode(bytes)
  })

const addressed = (site: SiteAddress): Place => {
  if (typeof site === "string") return byText(site)
  const [host, second, third] = site.map((part) => part.trim())
  const there = third === undefined ? byPath(host ?? "", second ?? "") : path`/sites/${`${host},${second},${third}`}`
  return { path: there, link: null }
}

/** The site of what a link leads to: libraries have a name in each language, so their names say nothing. */
const ofLink = Effect.fnUntraced(function* (link: string, query: Query) {
  const found = yield* Drives.item(Address.link(link), Address.root, { select: ["parentReference"] })
  const site = found.parentReference?.siteId
  if (site !== undefined && site !== null) return yield* one({ path: path`/sites/${site}`, query })
  const reason = new NotFound({ codes: [], message: "the link leads to something that is in no site" })
  return yield* new GraphError({ reason, request: unsent("GET", "/shares/…", yield* operationOf(null)) })
})

/**
 * A site; fails with `NotFound`. Use the id that comes for everything else.
 *
 * ```ts
 * import * as Sites from "@signalbox/graph/Sites"
 *
 * export const team = Sites.get(["contoso.sharepoint.com", "/sites/team"])
 * export const ofAFile = Sites.get(
 *   "https://contoso.sharepoint.com/sites/team/Freigegebene%20Dokumente/Bericht.docx"
 * )
 * ```
 */
export const get = Effect.fn("Sites.get")(function* (
  site: SiteAddress,
  options: Selection<Site> & {
    /** Whose site, when it is not addressed as a whole: `groups/<id>`, for `"root"`. */
    readonly resource?: string
  } = {}
): Effect.fn.Return<Site, GraphError, Graph> {
  const query = { $select: selection(options.select) }
  if (typeof site === "string" && sharing.test(site.trim())) return yield* ofLink(site, query)
  const { link, path: there } = addressed(site)
  const found = one({ path: path`${below(options.resource ?? "")}${there}`, query })
  if (link === null) return yield* found
  return yield* Effect.catchReason(found, "GraphError", "NotFound", (_, notFound) => {
    // What is wrong with the address is that there is no site, whatever the service says of the link.
    const none = () => Effect.fail(notFound)
    return Effect.catchReasons(ofLink(link, query), "GraphError", {
      NotFound: none,
      Forbidden: none,
      InvalidRequest: none
    })
  })
})

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
  many({ path: path`/sites`, query: { search: text } }).pipe(Stream.withSpan("Sites.search"))

/** The sites below a site. */
export const subsites = (site: SiteId): Stream.Stream<Site, GraphError, Graph> =>
  many({ path: path`/sites/${site}/sites` }).pipe(Stream.withSpan("Sites.subsites"))

/** The sites that the signed-in account follows. */
export const followed: Stream.Stream<Site, GraphError, Graph> = many({ path: path`/me/followedSites` }).pipe(
  Stream.withSpan("Sites.followed")
)

/** The document libraries of a site, over all pages. */
export const drives = (site: SiteId): Stream.Stream<Drive, GraphError, Graph> =>
  drivesOf({ path: path`/sites/${site}/drives` }).pipe(Stream.withSpan("Sites.drives"))

/** The default document library of a site. */
export const drive = Effect.fn("Sites.drive")((site: SiteId) => driveOf({ path: path`/sites/${site}/drive` }))
