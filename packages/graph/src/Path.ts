/**
 * Paths of the API. Whatever is put into one is encoded as one segment, so that no `#`, `?`, `%`, `/` or `..` in a name can
 * make another address of it.
 */

export interface Path {
  readonly _tag: "Path"
  /** What is sent. */
  readonly encoded: string
  /** What errors and spans show: texts searched for are left out. */
  readonly shown: string
  /** Why this is no path; null: it is one. A call with such a path fails as `InvalidRequest`. */
  readonly problem: string | null
}

const part = (encoded: string, problem: string | null = null, shown = encoded): Path => ({
  _tag: "Path",
  encoded,
  shown,
  problem
})

/** Characters that have no meaning in a segment and that the service itself writes plainly. */
const plain: Readonly<Record<string, string>> = { "%2C": ",", "%40": "@", "%24": "$" }

const encode = (text: string): string => encodeURIComponent(text).replace(/%2C|%40|%24/g, (code) => plain[code] ?? code)

/** One segment: an id or a name. Empty text, dots and broken Unicode are none. */
const segment = (text: string): Path => {
  if (!text.isWellFormed()) return part("", "a name has broken Unicode")
  if (text === "" || text === "." || text === "..") return part("", "an id or a name in the path is empty or dots")
  return part(encode(text))
}

/**
 * A path from a template: each value becomes one encoded segment, or is a `Path` itself.
 *
 * ```ts
 * import { path } from "@signalbox/graph/Path"
 *
 * // "/sites/contoso.example,g1,g2/lists/A%2FB%20%231"
 * export const list = path`/sites/${"contoso.example,g1,g2"}/lists/${"A/B #1"}`
 * ```
 */
export const path = (texts: TemplateStringsArray, ...values: ReadonlyArray<string | Path>): Path => {
  const parts = values.map((value) => (typeof value === "string" ? segment(value) : value))
  const join = (of: (part: Path) => string) => texts.reduce((made, text, i) => made + of(parts[i - 1] ?? none) + text)
  return part(
    join(({ encoded }) => encoded),
    parts.find(({ problem }) => problem !== null)?.problem ?? null,
    join(({ shown }) => shown)
  )
}

const none = part("")

/** A path as the service gave or documents it, taken as it is. */
export const verbatim = (text: string): Path => part(text, text.isWellFormed() ? null : "the path has broken Unicode")

/**
 * Names below one another, as `/A/B c.txt`: each name is one segment; leading, trailing and double slashes are ignored, and a
 * backslash separates like a slash. Empty for the root.
 */
export const below = (names: string): Path => {
  const parts = names
    .split(/[/\\]/)
    .filter((name) => name !== "")
    .map(segment)
  return part(
    parts.map(({ encoded }) => `/${encoded}`).join(""),
    parts.find(({ problem }) => problem !== null)?.problem ?? null
  )
}

/** A literal of an OData function, with its quotes, as in `search(q='O''Brien')`; not shown in errors. */
export const literal = (text: string): Path =>
  text.isWellFormed() ? part(encode(odataText(text)), null, "'…'") : part("", "a text has broken Unicode")

/** A text as OData writes it, for `$filter`: in quotes, each quote in it doubled. */
export const odataText = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** A clause of `$search`, as `"displayName:Jo \"J\" Doe"`. */
export const searchClause = (field: string, text: string): string =>
  `"${field}:${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`

/** Parameters of a query; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** `?$top=5&…`, or nothing. Names stay as they are, values are encoded. */
export const queryString = (query: Query): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value).toWellFormed())}`]
  )
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`
}
