/**
 * Each screen in a browser, in both themes, zoomed, and as narrow as a phone: what a person who cannot see well or click meets
 * there.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import { screens } from "./Registered.ts"
import { Room } from "./Room.ts"
import { type Operators, person, settled, show, signedIn, violations } from "./Sight.ts"

const usual = { width: 1280, height: 900 }
/** The usual one at 200 %, and a phone. */
const narrow = { "at 200 %": { width: 640, height: 450 }, "on a phone": { width: 360, height: 740 } }

/** What can be used in the screen, and text that ends before its end. */
const shown = (page: Page) =>
  page.evaluate(() => {
    const all = [...document.querySelectorAll("main *")].filter((element) => element.checkVisibility())
    return {
      width: document.documentElement.scrollWidth,
      widest: all
        .toSorted((one, other) => other.getBoundingClientRect().right - one.getBoundingClientRect().right)
        .slice(0, 3)
        .map((element) => element.outerHTML.slice(0, 120)),
      controls: all
        .filter((element) => element.matches("a[href], button, input, select, textarea, summary"))
        .map((element) => element.getAttribute("aria-label") ?? (element.textContent || element.id)),
      links: all.filter((element) => element.matches("a[href]")).map(({ href = "" }) => href),
      cut: all
        .filter((element) => {
          const isCut = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1
          return isCut && /hidden|clip/.test(getComputedStyle(element).overflowX)
        })
        .map((element) => element.outerHTML.slice(0, 120))
    }
  })

/** The screen, and one of what it lists. */
const sightsOf = async (page: Page, screen: string) => {
  const found: Array<string> = []
  const look = async (name: string) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      const wrong = await violations(page, colorScheme === "light" ? "all" : "colours")
      found.push(...wrong.map((line) => `${name}, ${colorScheme}: ${line}`))
    }
    // As long as they become, whenever the test looks.
    await page.evaluate(() => {
      for (const time of document.querySelectorAll("main time")) time.textContent = "59 minutes ago"
    })
    const { controls, links } = await shown(page)
    found.push(...links.filter((href) => !href.startsWith("http")).map((href) => `${name}: leads to ${href}`))
    for (const [how, size] of Object.entries(narrow)) {
      await page.setViewportSize(size)
      const here = await shown(page)
      if (here.width > size.width) found.push(`${name} ${how}: is ${here.width} px wide, by ${here.widest.join()}`)
      const lost = controls.filter((control) => !here.controls.includes(control))
      found.push(...lost.map((control) => `${name} ${how}: has lost ${control}`))
      found.push(...here.cut.map((text) => `${name} ${how}: cuts ${text}`))
    }
    await page.setViewportSize(usual)
  }
  await show(page, `#/${screen}`)
  await look(`/${screen}`)
  const first = page.locator(`main table a[href^="#/${screen}/"]`).first()
  if (screen === "" || (await first.count()) === 0) return found
  await first.click()
  await page.waitForFunction((screen) => location.hash.startsWith(`#/${screen}/`), screen)
  await settled(page)
  await look(`one of /${screen}`)
  return found
}

/** Rules that apply now and move something for more than a millisecond. */
const moving = (page: Page) =>
  page.evaluate(() => {
    const times = (value: string) =>
      value.split(",").map((time) => parseFloat(time) * (time.trim().endsWith("ms") ? 1 : 1000))
    const isSlow = ({ animationDuration, transitionDuration }: Durations) =>
      times(`${animationDuration},${transitionDuration}`).some((time) => time > 1)
    // Rules of styles may have rules in them, too.
    const of = (rules: Iterable<Rule>): ReadonlyArray<string> =>
      [...rules].flatMap(({ cssRules = [], cssText, media, style }) =>
        media !== undefined && !matchMedia(media.mediaText).matches
          ? []
          : [...(style !== undefined && isSlow(style) ? [cssText] : []), ...of(cssRules)]
      )
    return [...document.styleSheets].flatMap(({ cssRules }) => of(cssRules))
  })

interface Shown {
  textContent: string
  readonly id: string
  readonly href?: string
  readonly outerHTML: string
  readonly scrollWidth: number
  readonly clientWidth: number
  checkVisibility(): boolean
  getBoundingClientRect(): { readonly right: number }
  getAttribute(name: string): string | null
  matches(selector: string): boolean
}
interface Rule {
  readonly cssText: string
  readonly media?: { readonly mediaText: string }
  readonly cssRules?: Iterable<Rule>
  readonly style?: Durations
}
interface Durations {
  readonly animationDuration: string
  readonly transitionDuration: string
}
declare const window: { readonly harmed?: boolean }
declare const document: {
  readonly documentElement: { readonly scrollWidth: number }
  readonly styleSheets: Iterable<{ readonly cssRules: Iterable<Rule> }>
  querySelectorAll(selector: string): Iterable<Shown>
}
declare const getComputedStyle: (element: Shown) => { readonly overflowX: string; readonly outlineStyle: string }
declare const matchMedia: (query: string) => { readonly matches: boolean }
declare const location: { readonly hash: string }

export const sights = (it: Operators) => {
  it.effect(
    "see screens of hostile names without violations in any theme, which fit a phone and 200 %, and break no policy",
    () =>
      Effect.gen(function* () {
        yield* (yield* Room).harm
        const { page, reports } = yield* signedIn
        const found: Array<string> = []
        for (const screen of screens) found.push(...(yield* person(() => sightsOf(page, screen))))
        assert.deepStrictEqual(found, [])
        assert.deepStrictEqual(reports, [])
        assert.isUndefined(yield* person(() => page.evaluate(() => window.harmed)))
        assert.isAtLeast(screens.length, 4)
        const [usual, reduced] = yield* person(async () => {
          const usual = await moving(page)
          await page.emulateMedia({ reducedMotion: "reduce" })
          return [usual, await moving(page)] as const
        })
        assert.isAtLeast(usual.length, 1)
        assert.deepStrictEqual(reduced, [])
        // Backgrounds are gone where people choose all colours themselves.
        const marks = yield* person(async () => {
          await page.emulateMedia({ forcedColors: "active" })
          await show(page, "#/runs")
          return page.evaluate(() =>
            [...document.querySelectorAll("nav [aria-current]")].map(
              (element) => getComputedStyle(element).outlineStyle
            )
          )
        })
        assert.deepStrictEqual(marks, ["solid"])
      }).pipe(Effect.scoped)
  )
}
