/** Pages of the console, and what is wrong with them. */
import axe, { type AxeResults } from "axe-core"
import * as Effect from "effect/Effect"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { Chromium } from "./Chromium.ts"
import { Room } from "./Room.ts"

/** What a browser reported: violations of the policy, errors of scripts, and errors written to its console. */
export type Reports = Array<string>

/** Reports what the policy forbids. */
const watch = `addEventListener("securitypolicyviolation", (event) =>
  console.error("CSP: " + event.violatedDirective + " " + event.blockedURI))`

/**
 * What browsers themselves write: of refusals that a test asks for, such as those of a session that ended, and of a header that
 * they ignore over plain HTTP.
 */
const isUsual = (text: string) =>
  /^(Failed to load resource: .* (400|401|403|404|409)|The Cross-Origin-Opener-Policy header has been ignored)/.test(
    text
  )

const open = Effect.fnUntraced(function* (browser: Browser, options: BrowserContextOptions) {
  const context = yield* Effect.acquireRelease(
    Effect.promise(() => browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })),
    (context) => Effect.promise(() => context.close())
  )
  yield* Effect.promise(() => context.addInitScript({ content: watch }))
  context.setDefaultTimeout(20_000)
  const reports: Reports = []
  context.on("page", (page) => {
    page.on("pageerror", (error) => reports.push(String(error)))
    page.on("console", (message) => {
      if (message.type() === "error" && !isUsual(message.text())) reports.push(message.text())
    })
  })
  return { context, page: yield* Effect.promise(() => context.newPage()), reports }
})

/** A page with a session of all permissions. */
export const signedIn = Effect.fnUntraced(function* (options: BrowserContextOptions = {}) {
  const room = yield* Room
  const opened = yield* open(yield* Chromium, options)
  const url = yield* room.ticket
  yield* Effect.promise(async () => {
    await opened.page.goto(url)
    await opened.page.getByRole("navigation", { name: "Workspace" }).waitFor()
  })
  return opened
})

/** A page that has no session. */
export const signedOut = Effect.fnUntraced(function* (
  options: BrowserContextOptions = {},
  at?: string,
  /** What is done with the page before it loads. */
  prepare: (page: Page) => Promise<void> = () => Promise.resolve()
) {
  const origin = at ?? (yield* Room).origin
  const opened = yield* open(yield* Chromium, options)
  yield* Effect.promise(() => prepare(opened.page))
  yield* Effect.promise(() => opened.page.goto(`${origin}/console/`))
  return opened
})

/** Shows a screen, and waits until it has what it shows. */
export const show = async (page: Page, fragment: string): Promise<void> => {
  await page.evaluate((fragment) => {
    location.hash = fragment
  }, fragment)
  await settled(page)
}

/** Until the screen has a heading, and nothing of it is being loaded. */
export const settled = async (page: Page): Promise<void> => {
  await page.locator("main h1").first().waitFor()
  await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null)
}

interface Axe {
  readonly run: (context: Document, options: object) => Promise<AxeResults>
}
declare const window: { readonly axe: Axe }
declare const document: Document
declare const location: { hash: string }

/** What axe finds on the page, a line each. The second theme needs its colours checked alone: all else is the same. */
export const violations = async (page: Page, rules: "all" | "colours" = "all"): Promise<ReadonlyArray<string>> => {
  // It takes longer to load than most pages, and many have no need of it.
  if (await page.evaluate(() => !("axe" in window))) await page.evaluate(axe.source)
  const { violations } = await page.evaluate(
    (only) =>
      window.axe.run(document, {
        resultTypes: ["violations"],
        ...(only === "all" ? {} : { runOnly: ["color-contrast"] })
      }),
    rules
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, target }) => `${id}: ${target.join(" ")} ${html.slice(0, 160)}`)
  )
}

/** Runs what a person does in a browser. */
export const person = <A>(does: () => Promise<A>): Effect.Effect<A> => Effect.promise(does)
