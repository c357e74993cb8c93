/** What is changed in the pages that the theme and its plugins build, before they are indexed for the search. */
import type { AstroIntegration } from "astro"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** Guides come before what is generated: the search weighs the words of a page by this. */
const weights: ReadonlyArray<readonly [folder: RegExp, weight: number]> = [
  [/^reference\/commands\//, 0.6],
  [/^(reference|changelog|decisions)\//, 0.1],
  [/^architecture\//, 0.3],
  // They name every feature.
  [/^(coming-from|compare-clients)\//, 0.4],
  [/^packages\//, 0.5]
]

/** Headings of examples leave out levels: each is at most one below the heading before it. */
const withLevels = (html: string) => {
  const main = html.indexOf("<main")
  let level = 1
  const headings = html.slice(main).replace(/<(\/?)h([1-6])\b/g, (_, end: string, given: string) => {
    if (end === "") level = Math.min(Number(given), level + 1)
    return `<${end}h${level}`
  })
  return html.slice(0, main) + headings
}

const finished = (path: string, html: string) => {
  const weight = weights.find(([folder]) => folder.test(path))?.[1]
  let blocks = 0
  const changed = html
    // The text of the button for the search is its label, which the keys beside it are no part of.
    .replace(/(<button data-open-modal[^]*?)<kbd class="sl-hidden[^]*?<\/kbd><\/kbd>/, "$1")
    // Blocks of code that scroll are regions, which need names that differ. Their words say less of what a page is about.
    .replaceAll("<pre ", () => `<pre aria-label="Code ${++blocks}" data-pagefind-weight="0.1" `)
    .replace("<main data-pagefind-body", (main) =>
      weight === undefined ? main : `${main} data-pagefind-weight="${weight}"`
    )
  return path.startsWith("reference/http/") ? withLevels(changed) : changed
}

/** Before the theme, which indexes the pages when they are built. */
export const finish: AstroIntegration = {
  name: "finish",
  hooks: {
    "astro:build:done": ({ dir }) => {
      const folder = fileURLToPath(dir)
      for (const path of globSync("**/*.html", { cwd: folder })) {
        const file = join(folder, path)
        writeFileSync(file, finished(path, readFileSync(file, "utf8")))
      }
    }
  }
}

/** Tables that are wider than their place scroll, also by the keyboard. */
export const scrollable = `addEventListener("load", () => {
  for (const table of document.querySelectorAll("main table")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0
  }
})`
