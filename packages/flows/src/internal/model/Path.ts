/**
 * Paths as a tree. Keys may contain slashes, so slashes in brackets do not count.
 */

/** Returns the prefixes of a path, from the outermost: for `a/file[x/y]/submit` ``, `a/` and `a/file[x/y]/`. */
export const partsOf = (path: string): ReadonlyArray<string> => {
  const parts = [""]
  let inKey = false
  for (let index = 0; index < path.length; index++) {
    const character = path[index]
    if (character === "\\") index++
    else if (character === "[") inKey = true
    else if (character === "]") inKey = false
    else if (character === "/" && !inKey) parts.push(path.slice(0, index + 1))
  }
  return parts
}

/** Whether a path is below `root`, or below one of its keys. */
export const isBelow = (path: string, root: string): boolean =>
  path.startsWith(`${root}/`) || path.startsWith(`${root}[`)

/** Returns the last segment of a path, without the number of a repeated call: for a signal its address. */
export const addressOf = (path: string): string => path.slice(partsOf(path).at(-1)?.length ?? 0).replace(/#\d+$/, "")

/** Returns the name of `name[key]`. */
export const nameOf = (address: string): string => {
  const bracket = address.indexOf("[")
  return bracket === -1 ? address : address.slice(0, bracket)
}
