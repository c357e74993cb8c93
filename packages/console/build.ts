/**
 * Builds the page into `site/`: one HTML, one CSS, one entry script, and a script for each screen that is loaded when it is
 * opened. Names carry a hash of what is in them, so that browsers keep them for ever.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { build } from "rolldown"

const here = import.meta.dirname
const source = join(here, "src/page")
const site = join(here, "site")
/** Built aside and renamed, so that a build that fails leaves the one before. */
const target = join(here, `.site-${process.pid}`)

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 10)

/** Comments and indentation are for those who read the sources. */
const compact = (css: string) =>
  css
    .replace(/\/\*[^]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};,>]) ?/g, "$1")
    .replaceAll(";}", "}")
    .trim()

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
const style = compact(
  readdirSync(join(source, "style"))
    .toSorted()
    .map((name) => readFileSync(join(source, "style", name), "utf8"))
    .join("\n")
)
const styleName = `style-${hashOf(style)}.css`
writeFileSync(join(target, styleName), style)

const { output } = await build({
  input: { main: join(source, "Main.tsx") },
  platform: "browser",
  logLevel: "warn",
  tsconfig: join(here, "tsconfig.page.json"),
  transform: { target: "es2022" },
  output: {
    dir: target,
    format: "esm",
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: "[name]-[hash].js",
    comments: { legal: true, annotation: false, jsdoc: false },
    minify: true
  }
})
const entry = output.find((file) => file.type === "chunk" && file.isEntry)
if (entry === undefined) throw new Error("no entry script was built")
const html = readFileSync(join(source, "index.html"), "utf8")
  .replace("style.css", styleName)
  .replace("main.js", entry.fileName)
writeFileSync(join(target, "index.html"), html)
rmSync(site, { recursive: true, force: true })
renameSync(target, site)
