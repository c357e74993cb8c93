/**
 * Looks at the built site as its readers do, in a browser: each question of `questions.ts` has its answer among the first three
 * results of the search and in the navigation of the first page; no page has an accessibility violation in either theme, or is wider
 * than a phone, and each file that a page names is there.
 *
 * `npx -y pnpm@12 site:check [--every]`: `--every` looks at all pages of the reference too, in place of one of each kind.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { existsSync, globSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { dirname, extname, join } from "node:path"
import { parseArgs } from "node:util"
import * as NodeRuntime from "../../packages/platform/src/NodeRuntime.ts"
import * as NodeServices from "../../packages/platform/src/NodeServices.ts"
import { Chromium } from "../../packages/console/test/browser/Chromium.ts"
import { questions } from "./questions.ts"

type Page = Awaited<ReturnType<(typeof Chromium)["Service"]["newPage"]>>

const { values } = parseArgs({ options: { every: { type: "boolean" } } })

const dist = join(import.meta.dirname, "../../site/dist")
const axe = createRequire(join(import.meta.dirname, "../../packages/console/test/browser/package.json")).resolve(
  "axe-core/axe.min.js"
)

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".wasm": "application/wasm"
}

/** Serves the site as any server of files does. */
const server = Effect.acquireRelease(
  Effect.callback<{ readonly origin: string; readonly close: () => void }>((resume) => {
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost")
      const path = join(dist, decodeURIComponent(pathname), pathname.endsWith("/") ? "index.html" : "")
      if (!path.startsWith(dist) || !existsSync(path)) return void response.writeHead(404).end()
      response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream" })
      response.end(readFileSync(path))
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ origin: `http://127.0.0.1:${port}`, close: () => void server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

/** The first three results of the search, as their paths. */
const search = (page: Page, question: string) =>
  page.evaluate(async (question) => {
    const pagefind = await import(new URL("/pagefind/pagefind.js", location.href).href)
    const { results } = await pagefind.search(question)
    const found: ReadonlyArray<{ readonly url: string }> = await Promise.all(
      results.slice(0, 3).map((result: { readonly data: () => Promise<{ readonly url: string }> }) => result.data())
    )
    return found.map(({ url }) => url)
  }, question)

const answered = async (page: Page, origin: string) => {
  await page.goto(`${origin}/`)
  const linked = new Set(await page.$$eval("a", (links) => links.map((link) => new URL(link.href).pathname)))
  const problems: Array<string> = []
  for (const [question, answer] of questions) {
    const [slug = "", heading] = answer.split("#")
    const file = join(dist, slug, "index.html")
    const found = await search(page, question)
    if (!found.includes(`/${slug}/`)) problems.push(`"${question}" finds ${found.join(", ")}, and not ${slug}`)
    if (!linked.has(`/${slug}/`)) problems.push(`${slug} is not in the navigation`)
    if (heading !== undefined && !readFileSync(file, "utf8").includes(`id="${heading}"`)) {
      problems.push(`${slug} has no heading ${heading}`)
    }
  }
  console.log(`${questions.length} questions`)
  return problems
}

/** Pages that are generated alike: the longest of each kind is looked at. */
const kind = (slug: string) =>
  /^reference\/(exports|http\/operations|http|commands)\//.exec(slug)?.[0] ??
  (slug.startsWith("decisions/") ? "decisions" : slug)

const slugs = () => {
  const all = globSync("**/index.html", { cwd: dist }).map((file) => (dirname(file) === "." ? "" : dirname(file)))
  if (values.every === true) return all
  const length = (slug: string) => readFileSync(join(dist, slug, "index.html")).length
  return [...Map.groupBy(all, kind).values()].flatMap((alike) =>
    alike.toSorted((a, b) => length(b) - length(a)).slice(0, 1)
  )
}

interface Violation {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly target: ReadonlyArray<string> }>
}

const looked = async (page: Page, origin: string) => {
  const problems: Array<string> = []
  const all = slugs()
  const script = readFileSync(axe, "utf8")
  for (const slug of all) {
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto(`${origin}/${slug === "" ? "" : `${slug}/`}`)
    // Blocks of code that scroll become reachable once the page is idle; those that do not are a violation.
    const reachable = page.waitForFunction(
      () =>
        [...document.querySelectorAll("pre")].every((pre) => pre.scrollWidth <= pre.clientWidth || pre.tabIndex === 0),
      null,
      { timeout: 10_000 }
    )
    await reachable.catch(() => undefined)
    await page.evaluate(script)
    for (const theme of ["light", "dark"]) {
      const violations = await page.evaluate(
        async ([theme, rules]) => {
          document.documentElement.dataset["theme"] = theme
          const { violations } = await (
            globalThis as unknown as {
              axe: { run: (options: unknown) => Promise<{ violations: ReadonlyArray<Violation> }> }
            }
          ).axe.run(rules === null ? {} : { runOnly: rules })
          return violations.map(
            ({ id, nodes }) =>
              `${id} at ${nodes
                .slice(0, 3)
                .map(({ target }) => target.join(" "))
                .join(", ")}`
          )
        },
        // Only colours differ.
        [theme, theme === "light" ? null : "color-contrast"] as const
      )
      for (const violation of violations) problems.push(`/${slug} (${theme}): ${violation}`)
    }
    await page.setViewportSize({ width: 360, height: 800 })
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    if (width > 360) problems.push(`/${slug} is ${width} wide on a phone`)
  }
  console.log(`${all.length} pages in two themes`)
  return problems
}

/** Files that a page names and that are not there: a browser without a window asks for no icon, so they are looked up. */
const missing = () => {
  const problems = new Map<string, string>()
  for (const file of globSync("**/*.html", { cwd: dist })) {
    const html = readFileSync(join(dist, file), "utf8")
    for (const [, path = ""] of html.matchAll(/<(?:link|script|img|source)\b[^>]*?\s(?:href|src)="(\/[^"#?]*)/g)) {
      if (extname(path) !== "" && !existsSync(join(dist, decodeURIComponent(path)))) {
        problems.set(path, `${path} is not there; ${file} names it`)
      }
    }
  }
  return [...problems.values()]
}

const program = Effect.gen(function* () {
  const { origin } = yield* server
  const browser = yield* Chromium
  const problems = yield* Effect.promise(async () => {
    const page = await browser.newPage({ reducedMotion: "reduce" })
    return [...missing(), ...(await answered(page, origin)), ...(await looked(page, origin))]
  })
  for (const problem of problems) yield* Console.error(problem)
  yield* Console.log(problems.length === 0 ? "all found, all reachable" : `${problems.length} problems`)
  yield* Effect.sync(() => (process.exitCode = problems.length === 0 ? 0 : 1))
})

program.pipe(Effect.scoped, Effect.provide(Layer.provideMerge(Chromium.layer, NodeServices.layer)), NodeRuntime.runMain)
