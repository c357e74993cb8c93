/**
 * Versions of Python, as environments ask for them.
 */

type Version = ReadonlyArray<number>

const parse = (text: string): Version => text.replaceAll("*", "").split(".").filter(Boolean).map(Number)

/** Compares as many parts as `wanted` has. */
const compare = (version: Version, wanted: Version) => {
  for (const [index, part] of wanted.entries()) {
    const difference = (version[index] ?? 0) - part
    if (difference !== 0) return difference
  }
  return 0
}

const tests: Readonly<Record<string, (version: Version, wanted: Version) => boolean>> = {
  ">=": (version, wanted) => compare(version, wanted) >= 0,
  "<=": (version, wanted) => compare(version, wanted) <= 0,
  ">": (version, wanted) => compare(version, wanted) > 0,
  "<": (version, wanted) => compare(version, wanted) < 0,
  "==": (version, wanted) => compare(version, wanted) === 0,
  "!=": (version, wanted) => compare(version, wanted) !== 0,
  "~=": (version, wanted) => compare(version, wanted) >= 0 && compare(version, wanted.slice(0, -1)) === 0
}

/** Whether a version such as `3.10.13` is one of `wanted`. Of plain versions the patch makes no difference. */
export const fits = (version: string, wanted: string | null): boolean => {
  if (wanted === null) return true
  const own = parse(version)
  return wanted.split(",").every((clause) => {
    const match = /^(>=|<=|==|!=|~=|>|<|=)\s*(.+)$/.exec(clause.trim())
    const [, operator = "", text = ""] = match ?? []
    const test = tests[operator]
    return test === undefined ? compare(own, parse(text || clause).slice(0, 2)) === 0 : test(own, parse(text))
  })
}

/** The minor version that a plain version names, such as `3.10`; null where several fit. */
export const minorOf = (wanted: string | null): string | null =>
  wanted === null ? null : (/^\d+\.\d+/.exec(wanted)?.[0] ?? null)
