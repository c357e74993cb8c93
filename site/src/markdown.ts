/** Pages of the repository as pages of the site: their heading becomes the title, and their links those of the site. */
import { existsSync, readFileSync, statSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { root } from "./pages.ts"

const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const host = String(repository.url)
  .replace(/^git\+/, "")
  .replace(/\.git$/, "")

/** A page with its title, in the form that the site builder reads. */
export const page = (title: string, text: string, { description }: { readonly description?: string } = {}): string =>
  [
    "---",
    `title: ${JSON.stringify(title)}`,
    ...(description === undefined ? [] : [`description: ${JSON.stringify(description)}`]),
    "---",
    "",
    text.trim(),
    ""
  ].join("\n")

const withoutMarks = (text: string) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*_]/g, "")

/** The first sentence, for lists of results and of pages. */
const firstSentence = (text: string): string => {
  const paragraph = text.split(/\n\s*\n/).find((block) => /^[A-Za-z`[]/.test(block.trim())) ?? ""
  const sentence = withoutMarks(paragraph.replace(/\s+/g, " ").trim())
  const [first = ""] = /^.*?[.:](?=\s|$)/.exec(sentence) ?? [sentence]
  return first.replace(/:$/, ".").slice(0, 200)
}

/** Splits the heading off a page. */
const parts = (file: string, text: string) => {
  const match = /^# (.+)\n([^]*)$/.exec(text)
  if (match === null) throw new Error(`${file}: Expected a heading of the first level in its first line`)
  return { title: withoutMarks(match[1] ?? ""), body: match[2] ?? "" }
}

/** Where a link of a page leads: to a page of the site, or to a file on the code host. */
const linkOf = (file: string, target: string, slugs: ReadonlyMap<string, string>): string => {
  if (/^[a-z]+:|^#/.test(target)) return target
  const [path = "", anchor] = target.split("#", 2)
  const found = posix.normalize(posix.join(dirname(file), path)).replace(/\/$/, "")
  if (!existsSync(join(root, found))) throw new Error(`${file}: the link ${target} leads nowhere`)
  // Copied by `build.ts`.
  if (found.startsWith("docs/images/")) return `/${found.slice("docs/".length)}`
  const isFolder = statSync(join(root, found)).isDirectory()
  const slug = slugs.get(isFolder ? `${found}/README.md` : found)
  if (slug === undefined)
    return `${host}/${isFolder ? "tree" : "blob"}/main/${found}${anchor === undefined ? "" : `#${anchor}`}`
  return `/${slug === "index" ? "" : `${slug}/`}${anchor === undefined ? "" : `#${anchor}`}`
}

/** Rewrites the links of a text, but not what stands in code. */
const relink = (file: string, text: string, slugs: ReadonlyMap<string, string>): string =>
  text
    .split(/(^ *```[^]*?^ *```$|`[^`\n]*`)/m)
    .map((part, index) =>
      // What the expression has captured.
      index % 2 === 1
        ? part
        : part.replace(/\]\(([^)\s]+)\)/g, (_, target: string) => `](${linkOf(file, target, slugs)})`)
    )
    .join("")

/** A file of the repository as a page of the site. */
export const pageOf = (file: string, slugs: ReadonlyMap<string, string>): string => {
  const { body, title } = parts(file, readFileSync(join(root, file), "utf8"))
  return page(title, relink(file, body, slugs), { description: firstSentence(body) })
}
