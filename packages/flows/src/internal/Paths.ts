/**
 * Paths as a tree. Keys may hold slashes, so slashes in brackets do not count.
 */

/** The parts of a path that a step is in, from the outermost: of `a/file[x/y]/submit` these are ``, `a/` and `a/file[x/y]/`. */
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

/** Whether a path is in what `root` names: below it, or one of its keys. */
export const isBelow = (path: string, root: string): boolean =>
  path.startsWith(`${root}/`) || path.startsWith(`${root}[`)

/** The last segment of a path, without the number of a repeated call: for a signal, what it is sent by. */
export const addressOf = (path: string): string => path.slice(partsOf(path).at(-1)?.length ?? 0).replace(/#\d+$/, "")
