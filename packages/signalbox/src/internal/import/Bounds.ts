/** How much of a source is read. What is larger is refused, and the report says so. */
import { packageLimits } from "@signalbox/task-package/PackageLimits"

export const bounds = {
  /** Bytes of one response in JSON. */
  json: 16 * 1024 * 1024,
  /** How deep its arrays and objects nest: payloads may have 256 levels. */
  depth: 300,
  /** Resources of a kind. */
  resources: 10_000,
  /** Work items of a process. */
  items: 100_000,
  /** Bytes of a file of a work item, and of an asset. */
  file: 1024 * 1024 * 1024,
  /** Bytes of the zip of a task package. */
  zip: packageLimits.zip,
  /** Bytes of all downloads. */
  downloads: 20 * 1024 * 1024 * 1024,
  /** Redirects of a download, which carries no key. */
  redirects: 3
} as const

/** Whether arrays and objects nest deeper than allowed, without parsing: a parser may recurse. */
export const isTooDeep = (text: string, most: number = bounds.depth): boolean => {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === "\\") at++
    } else if (char === "[" || char === "{") {
      if (++depth > most) return true
    } else if (char === "]" || char === "}") depth--
  }
  return false
}
