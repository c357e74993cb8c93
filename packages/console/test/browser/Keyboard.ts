/** What the keys, the lists and the frame of the console do. Part of the journeys, whose room it shares. */
import { assert } from "@effect/vitest"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import { Room } from "./Room.ts"
import { type Operators, person, settled, show, signedIn, signedInOf, violations } from "./Sight.ts"

declare const document: {
  readonly title: string
  readonly activeElement: { readonly tagName: string; readonly textContent: string; readonly id: string } | null
  readonly documentElement: { readonly dataset: { readonly theme?: string } }
}
declare const location: { readonly hash: string }

const focus = (page: Page) =>
  page.evaluate(() => `${document.activeElement?.tagName} ${document.activeElement?.textContent}`)
const place = (page: Page) => page.evaluate(() => location.hash)

/** Until the address is this one. */
const at = async (page: Page, expected: RegExp) => {
  await page.waitForFunction((source) => new RegExp(source).test(location.hash), expected.source)
  await settled(page)
}

export const keyboard = (it: Operators) => {
  it.effect("go to screens, move in lists, open and close by single keys, which do nothing while they type", () =>
    Effect.gen(function* () {
      const { page, reports } = yield* signedIn
      const { keyboard } = page
      yield* person(async () => {
        await keyboard.press("g")
        await keyboard.press("r")
        await at(page, /^#\/runs$/)
        await page.waitForFunction(() => document.activeElement?.tagName === "H1")
        assert.strictEqual(await focus(page), "H1 Runs")
        assert.strictEqual(await page.evaluate(() => document.title), "Runs · Signalbox")

        const links = page.getByRole("region", { name: "Runs" }).getByRole("row").getByRole("link")
        await links.first().waitFor()
        await keyboard.press("j")
        const first = await focus(page)
        assert.strictEqual(first, `A ${await links.first().textContent()}`)
        await keyboard.press("j")
        assert.notStrictEqual(await focus(page), first)
        await keyboard.press("k")
        assert.strictEqual(await focus(page), first)

        await keyboard.press("/")
        const field = () => page.evaluate(() => `${document.activeElement?.tagName} ${document.activeElement?.id}`)
        const filter = await field()
        assert.match(filter, /^(SELECT|INPUT) ./)
        await keyboard.press("j")
        assert.strictEqual(await field(), filter)

        await page.getByRole("heading", { name: "Runs" }).focus()
        await keyboard.press("?")
        const help = page.getByRole("dialog", { name: "Keyboard shortcuts" })
        await help.getByText("Next row").waitFor()
        assert.deepStrictEqual(await violations(page), [])
        await keyboard.press("Escape")
        await help.waitFor({ state: "detached" })
        await keyboard.press("j")
        await keyboard.press("Enter")
        await at(page, /^#\/runs\/./)
      })
      assert.deepStrictEqual(reports, [])
    }).pipe(Effect.scoped)
  )

  it.effect("go anywhere by typing its name or its id", () =>
    Effect.gen(function* () {
      const { ids } = yield* Room
      const { page } = yield* signedIn
      const { keyboard } = page
      yield* person(async () => {
        const palette = page.getByRole("dialog", { name: "Go to" })
        await keyboard.press("Control+k")
        await keyboard.insertText("work")
        const options = palette.getByRole("option")
        await options.first().waitFor()
        assert.deepStrictEqual(await violations(page), [])
        assert.strictEqual(await options.first().getAttribute("aria-selected"), "true")
        await keyboard.press("ArrowDown")
        assert.strictEqual(await options.nth(1).getAttribute("aria-selected"), "true")
        await keyboard.press("Enter")
        await palette.waitFor({ state: "detached" })
        assert.match(await place(page), /^#\/(items|workers)$/)

        await keyboard.press("Control+k")
        await keyboard.insertText(ids.failed)
        await palette.getByRole("option", { name: `Run ${ids.failed}` }).waitFor()
        await keyboard.press("Enter")
        await at(page, /^#\/runs\/./)
        await page.getByRole("heading", { name: /^Match invoices/ }).waitFor()

        await keyboard.press("Meta+k")
        await keyboard.insertText("payroll")
        await palette.getByRole("option", { name: "Payroll export" }).waitFor()
        await keyboard.press("Escape")
        await palette.waitFor({ state: "detached" })
      })
    }).pipe(Effect.scoped)
  )

  it.effect("select rows by key, by range and all, and retry what they selected", () =>
    Effect.gen(function* () {
      const { api, ids } = yield* Room
      const { page } = yield* signedIn
      const chosen = yield* person(async () => {
        await show(page, "#/items?state=failed")
        const list = page.getByRole("region", { name: "Work items" })
        const boxes = list.getByRole("checkbox", { name: "Select row" })
        await boxes.first().waitFor()
        await page.keyboard.press("j")
        await page.keyboard.press("x")
        await page.getByText("1 selected").waitFor()
        assert.deepStrictEqual(await violations(page), [])
        await page.keyboard.press("x")
        await page.getByText("1 selected").waitFor({ state: "detached" })
        await boxes.nth(1).click()
        await boxes.nth(3).click({ modifiers: ["Shift"] })
        await page.getByText("3 selected").waitFor()
        await list.getByRole("checkbox", { name: "Select all on this page" }).click()
        await page.getByText(`${await boxes.count()} selected`).waitFor()
        await page.getByRole("button", { name: "Clear selection" }).click()
        const row = list.getByRole("row").filter({ hasText: "login page did not answer" }).first()
        const href = await row.getByRole("link").first().getAttribute("href")
        await row.getByRole("checkbox").check()
        await page.getByRole("button", { name: "Retry" }).click()
        await page.getByText("1 item queued for retry").waitFor()
        return href?.split("/").at(-1)
      })
      const { data } = yield* api(WorkItems.list({ state: "failed", limit: 500 }))
      const again = data.find(({ id }) => id === chosen)
      assert.isTrue(again === undefined || again.state_updated_at !== null)
      assert.isString(ids.failed)
    }).pipe(Effect.scoped)
  )

  it.effect("open the menu on a phone, and keep the theme that they chose", () =>
    Effect.gen(function* () {
      const { page } = yield* signedInOf({ viewport: { width: 360, height: 740 } })
      yield* person(async () => {
        const runs = page.getByRole("link", { name: "Runs", exact: true })
        assert.isFalse(await runs.isVisible())
        await page.getByRole("button", { name: "Menu" }).click()
        await page.getByLabel("Theme").selectOption("dark")
        assert.deepStrictEqual(await violations(page), [])
        await runs.click()
        await at(page, /^#\/runs$/)
        assert.isFalse(await runs.isVisible())
        await page.reload()
        await settled(page)
        assert.strictEqual(await page.evaluate(() => document.documentElement.dataset.theme), "dark")
      })
    }).pipe(Effect.scoped)
  )
}
