/** Suggestions for names that were mistyped. */

/** How many characters have to be inserted, removed or replaced. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1]
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (character === other ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/** Returns the name that was probably meant, null when none is close. */
export const nearest = (given: string, names: ReadonlyArray<string>): string | null => {
  const limit = Math.max(1, Math.floor(given.length / 3))
  const [best] = names
    .map((name) => ({ name, changes: distance(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ changes }) => changes <= limit)
    .sort((one, other) => one.changes - other.changes)
  return best?.name ?? null
}

const shownNames = 8

/**
 * Says which name was probably meant, or else which names there are.
 *
 * ```ts
 * import { suggest } from "@signalbox/transport/Suggestions"
 *
 * export const problem = `status: ${suggest("status", ["state", "limit"])}`
 * // status: did you mean state?
 * ```
 */
export const suggest = (given: string, names: ReadonlyArray<string>): string => {
  if (names.length === 0) return "none exists"
  const meant = nearest(given, names)
  if (meant !== null) return `did you mean ${meant}?`
  const rest = names.length - shownNames
  return `expected ${names.slice(0, shownNames).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`
}
