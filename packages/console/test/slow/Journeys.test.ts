/** What operators do in the console, by mouse and by keyboard alone, and what must not happen to them. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import { hands } from "../browser/Hands.ts"
import { flows } from "../browser/Flows.ts"
import { house } from "../browser/House.ts"
import { keyboard } from "../browser/Keyboard.ts"
import { packages } from "../browser/Packages.ts"
import { people } from "../browser/People.ts"
import { Room } from "../browser/Room.ts"
import { sights } from "../browser/Screens.ts"
import { scrolling } from "../browser/Scrolling.ts"
import { layer, person, settled, show, signedIn, signedOut } from "../browser/Sight.ts"
import { streams } from "../browser/Streams.ts"
import { work } from "../browser/Work.ts"

declare const window: { readonly harmed?: boolean; readonly isSecureContext: boolean }
declare const document: {
  querySelectorAll(selector: string): ArrayLike<{ readonly href: string }>
}

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("operators", (it) => {
  keyboard(it)
  work(it)
  house(it)
  flows(it)
  packages(it)
  people(it)
  streams(it)
  scrolling(it)
  sights(it)

  for (const by of ["mouse", "keyboard"] as const) {
    it.effect(`sign in, find a failed run, read its log, and retry an item by ${by}`, () =>
      Effect.gen(function* () {
        const room = yield* Room
        const { page, reports } = yield* signedOut()
        const { press, choose, fill } = hands(page, by)
        yield* person(async () => {
          await fill(page.getByLabel("Key"), room.key)
          await press(page.getByRole("button", { name: "Sign in" }))
          await press(page.getByRole("link", { name: "Runs", exact: true }))
          await settled(page)
          await choose(page.getByLabel("State", { exact: true }), "unresolved")
          const runs = page.getByRole("region", { name: "Runs" })
          const row = runs.getByRole("row").filter({ hasText: "Match invoices" })
          await press(row.getByRole("link").first())
          await press(page.getByRole("link", { name: "Log", exact: true }))
          await press(page.getByRole("link", { name: /Post to ERP/ }).first())
          await page.getByLabel("Log", { exact: true }).getByText("no such customer").first().waitFor()
          await press(page.getByRole("list", { name: "Steps" }).getByRole("link", { name: /failed$/ }))
          await page.getByText("Items of Post to ERP, failed.").waitFor()
          const failed = page.getByRole("region", { name: "Work items" })
          await press(failed.getByRole("link").first())
          await press(page.getByRole("button", { name: "Retry" }))
          await page.getByText("Item queued for retry.").waitFor()
        })
        assert.deepStrictEqual(reports, [])
      }).pipe(Effect.scoped)
    )
  }

  it.effect("see that their session has ended without doing anything, and sign in again where they were", () =>
    Effect.gen(function* () {
      const { key, doomed } = yield* Room
      const { page } = yield* signedOut()
      const { end, key: dying } = yield* doomed
      yield* person(async () => {
        await page.getByLabel("Key").fill(dying)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("link", { name: "Workers", exact: true }).click()
        await settled(page)
      })
      yield* end
      yield* person(async () => {
        await page.getByLabel("Key").fill(key)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("heading", { name: "Workers" }).waitFor()
      })
    }).pipe(Effect.scoped)
  )

  it.effect("are offered nothing that their key may not do", () =>
    Effect.gen(function* () {
      const { api, ids, readOnlyKey } = yield* Room
      const { data } = yield* api(WorkItems.list({ processRun: ids.failed, state: "failed" }))
      const item = data[0]?.id ?? assert.fail("no failed item")
      const { page } = yield* signedOut()
      const offered = yield* person(async () => {
        await page.getByLabel("Key").fill(readOnlyKey)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("navigation", { name: "Workspace" }).waitFor()
        const names: Array<string> = []
        for (const address of [`#/items/${item}`, `#/runs/${ids.busy}`]) {
          await show(page, address)
          names.push(...(await page.locator("main").getByRole("button").allTextContents()))
        }
        return names
      })
      assert.notMatch(offered.join(), /retry|done|stop|terminate|re-run|delete|pause/i)
    }).pipe(Effect.scoped)
  )

  it.effect("use it over plain HTTP by a name that is not loopback", () =>
    Effect.gen(function* () {
      const room = yield* Room
      const { page, reports } = yield* signedOut({}, room.publicOrigin)
      yield* person(async () => {
        assert.isFalse(await page.evaluate(() => window.isSecureContext))
        await page.getByLabel("Key").fill(room.key)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("navigation", { name: "Workspace" }).waitFor()
        await show(page, "#/runs")
        await page.getByRole("region", { name: "Runs" }).getByRole("link").first().waitFor()
      })
      assert.deepStrictEqual(reports, [])
    }).pipe(Effect.scoped)
  )

  it.effect("see what robots write as text, whatever it says", () =>
    Effect.gen(function* () {
      const { api, harm } = yield* Room
      const run = yield* harm
      const { data } = yield* api(WorkItems.list({ processRun: run, state: "failed" }))
      const item = data[0]?.id ?? assert.fail("no failed item")
      const { page, reports } = yield* signedIn
      yield* person(async () => {
        for (const address of ["#/runs", `#/items/${item}`, `#/runs/${run}?tab=log`]) {
          await show(page, address)
          await page.locator("main :not(option)", { hasText: "<img src=x" }).last().waitFor()
          const links = await page.evaluate(() => Array.from(document.querySelectorAll("a[href]"), ({ href }) => href))
          assert.deepStrictEqual(
            links.filter((href) => !href.startsWith("http")),
            [],
            address
          )
        }
        await show(page, `#/items/${item}`)
        await page.locator("main", { hasText: "[U+202E]fdp.exe[U+202C]" }).waitFor()
        assert.notMatch((await page.locator("main").textContent()) ?? "", /[\u202a-\u202e\u2066-\u2069]/)
        await show(page, `#/runs/${run}?tab=log`)
        await page.getByRole("button", { name: "Go to start" }).click()
        await page.getByText("5 MB in one line").first().waitFor()
        assert.isUndefined(await page.evaluate(() => window.harmed))
      })
      assert.deepStrictEqual(reports, [])
    }).pipe(Effect.scoped)
  )
})
