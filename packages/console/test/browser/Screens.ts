/** Each screen in a browser, in both themes and as narrow as a phone: what a person who cannot see or click meets there. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import type { Chromium } from "./Chromium.ts"
import { screens } from "./Registered.ts"
import { Room } from "./Room.ts"
import { person, settled, show, signedIn, violations } from "./Sight.ts"

/** The screen, and one of what it lists. */
const sightsOf = async (page: Page, screen: string) => {
  const found: Array<string> = []
  const look = async (name: string) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      const wrong = await violations(page, colorScheme === "light" ? "all" : "colours")
      found.push(...wrong.map((line) => `${name}, ${colorScheme}: ${line}`))
    }
    await page.setViewportSize({ width: 360, height: 740 })
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    if (width > 360) found.push(`${name}: is ${width} px wide on a screen of 360`)
    await page.setViewportSize({ width: 1280, height: 900 })
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

declare const document: { readonly documentElement: { readonly scrollWidth: number } }
declare const location: { readonly hash: string }

export const sights = (it: Vitest.MethodsNonLive<Room | Chromium>) => {
  it.effect("see screens without violations in any theme, which fit a phone, and break no policy", () =>
    Effect.gen(function* () {
      yield* (yield* Room).harm
      const { page, reports } = yield* signedIn()
      const found: Array<string> = []
      for (const screen of screens) found.push(...(yield* person(() => sightsOf(page, screen))))
      assert.deepStrictEqual(found, [])
      assert.deepStrictEqual(reports, [])
      assert.isAtLeast(screens.length, 4)
    }).pipe(Effect.scoped)
  )
}
