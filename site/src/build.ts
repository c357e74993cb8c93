/**
 * Builds the site: pages of the repository, and the reference, which is generated from commands, contract, tables and
 * sources. Nothing is fetched.
 */
import { build } from "astro"
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { pageOf } from "./markdown.ts"
import { generated, root, sections, slugOf } from "./pages.ts"
import { changelog } from "./reference/changelog.ts"
import { commands } from "./reference/commands.ts"
import { contract } from "./reference/contract.ts"
import { modules } from "./reference/modules.ts"
import { states } from "./reference/states.ts"

const write = (slug: string, text: string) => {
  const file = join(generated, `${slug}.md`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

rmSync(generated, { recursive: true, force: true })
cpSync(join(root, "docs/images"), join(root, "site/public/images"), { recursive: true })
const files = sections.flatMap(({ files }) => files)
const slugs = new Map(files.map((file) => [file, slugOf(file)]))
slugs.set("docs/decisions/README.md", "decisions")
for (const [file, slug] of slugs) write(slug, pageOf(file, slugs))
write("states", await states())
write("changelog", changelog())
for (const [name, text] of await commands()) write(`reference/commands/${name}`, text)
contract()
const count = await modules()
console.log(`${slugs.size} pages of the repository, ${count} of exports`)

await build({ root: join(root, "site"), logLevel: "warn" })

// For programs that read: the text of each page beside it, and a list of all.
const texts = readdirSync(generated, { encoding: "utf8", recursive: true }).filter((file) => file.endsWith(".md"))
const listed = texts.toSorted().map((file) => {
  const text = readFileSync(join(generated, file), "utf8")
  const [, title = "", description = ""] = /^---\ntitle: "(.*)"\n(?:description: "(.*)"\n)?/.exec(text) ?? []
  const target = join(root, "site", "dist", file)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, text)
  return `- [${title}](/${file})${description === "" ? "" : `: ${description}`}`
})
writeFileSync(
  join(root, "site", "dist", "llms.txt"),
  ["# Signalbox", "", "> Workflow-as-code for automation control rooms.", "", ...listed, ""].join("\n")
)
