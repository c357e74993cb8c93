/** Where the page is: all of it stands in the fragment of the address. */
import { computed, signal } from "@preact/signals"

export interface Route {
  /** Segments of the path, decoded. */
  readonly path: ReadonlyArray<string>
  readonly query: Readonly<Record<string, string>>
}

const parse = (hash: string): Route => {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2)
  return {
    path: path.split("/").filter(Boolean).map(decodeURIComponent),
    query: Object.fromEntries(new URLSearchParams(query))
  }
}

/** A ticket is no place: the page begins at its first screen. */
const hash = signal(location.hash.startsWith("#ticket=") ? "" : location.hash)
addEventListener("hashchange", () => (hash.value = location.hash))

export const route = computed(() => parse(hash.value))

/** The address of a screen; what is undefined or empty is left out. */
export const to = (path: ReadonlyArray<string>, query: Readonly<Record<string, string | undefined>> = {}): string => {
  const set = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ""
  )
  const search = new URLSearchParams(set).toString()
  return `#/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`
}

/** The address of this screen with other parameters. */
export const withQuery = (query: Readonly<Record<string, string | undefined>>): string =>
  to(route.value.path, { ...route.value.query, ...query })

export const go = (address: string): void => {
  location.hash = address
}
