/** Pages of the console, and what is wrong with them. */
import axe, { type AxeResults } from "axe-core"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { Vitest } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core"
import { Chromium } from "./Chromium.ts"
import * as Program from "./Program.ts"
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

const contextOf = (browser: Browser, options: BrowserContextOptions) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
      await context.addInitScript({ content: watch })
      context.setDefaultTimeout(20_000)
      return context
    }),
    (context) => Effect.promise(() => context.close())
  )

/** A page, and what the browser reports of it and of those that are opened after it. */
const pageOf = (context: BrowserContext) =>
  Effect.gen(function* () {
    const reports: Reports = []
    const listen = (page: Page) => {
      page.on("pageerror", (error) => reports.push(String(error)))
      page.on("console", (message) => {
        if (message.type() === "error" && !isUsual(message.text())) reports.push(message.text())
      })
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => context.on("page", listen)),
      () => Effect.sync(() => context.off("page", listen))
    )
    const page = yield* Effect.acquireRelease(
      Effect.promise(() => context.newPage()),
      (page) => Effect.promise(() => page.close())
    )
    return { context, page, reports }
  })

const signIn = Effect.fnUntraced(function* (page: Page) {
  const url = yield* (yield* Room).ticket
  yield* Effect.promise(async () => {
    await page.goto(url)
    await page.getByRole("navigation", { name: "Workspace" }).waitFor()
  })
})

/** The browser of somebody who has a session of all permissions: what it has loaded once is there for all tests. */
export class Desk extends Context.Service<Desk, BrowserContext>()("test/Desk") {
  static readonly layer = Layer.effect(
    Desk,
    Effect.gen(function* () {
      const context = yield* contextOf(yield* Chromium, {})
      yield* Effect.scoped(Effect.flatMap(pageOf(context), ({ page }) => signIn(page)))
      return context
    })
  )
}

/** The room and one browser, which ends first: a server waits for its connections. */
export const layer = Desk.layer.pipe(
  Layer.provideMerge(Chromium.layer),
  Layer.provideMerge(Room.layer),
  Layer.provideMerge(Program.layer),
  Layer.provideMerge(NodeServices.layer),
  Layer.provide(Logger.layer([]))
)

/** Where tests of operators are declared. */
export type Operators = Vitest.MethodsNonLive<Layer.Success<typeof layer>>

/** A page with a session of all permissions. */
export const signedIn = Effect.gen(function* () {
  const { origin } = yield* Room
  const opened = yield* pageOf(yield* Desk)
  yield* Effect.promise(async () => {
    // The screen that loads the least: people go from there to others.
    await opened.page.goto(`${origin}/console/#/connect`)
    await opened.page.getByRole("heading", { name: "Connect" }).waitFor()
  })
  return opened
})

/** The same in a browser of its own, which has nothing of what others did in theirs. */
export const signedInOf = Effect.fnUntraced(function* (options: BrowserContextOptions) {
  const opened = yield* pageOf(yield* contextOf(yield* Chromium, options))
  yield* signIn(opened.page)
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
  const opened = yield* pageOf(yield* contextOf(yield* Chromium, options))
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
  // A change of the address is shown in one of the next frames; until then the screen before it is there.
  await page.evaluate(() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown))))
  await page.locator("main h1").first().waitFor()
  await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null)
}

interface Axe {
  readonly run: (context: Document, options: object) => Promise<AxeResults>
}
declare const window: { readonly axe: Axe }
declare const document: Document
declare const location: { hash: string }
declare const requestAnimationFrame: (then: (time: unknown) => void) => void

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
