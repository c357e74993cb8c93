/** What a long log does while it is scrolled, selected and written. Part of the journeys, whose room it shares. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import { longLog } from "./LongLog.ts"
import { type Operators, person, show, signedIn, violations } from "./Sight.ts"

interface Shape {
  readonly top: number
  readonly bottom: number
}
interface Node {
  readonly textContent: string
}
interface Row extends Node {
  readonly scrollTop: number
  getAttribute(name: string): string | null
  getBoundingClientRect(): Shape
  querySelector(selector: string): (Node & { readonly firstChild: object }) | null
}
declare const document: {
  querySelector(selector: string): Row | null
  querySelectorAll(selector: string): ArrayLike<Row> & { readonly length: number }
}
declare const getSelection: () => {
  setBaseAndExtent(from: object, start: number, to: object, end: number): void
  toString(): string
}

/** The most rows that the page may have. */
const most = 2000

/**
 * The lines in sight once they are there: their numbers, from 0. Fails where one is not at its place or has another's
 * text. Waited for and read in one step, since a scroll may go on between two.
 */
const seen = async (page: Page): Promise<ReadonlyArray<number>> => {
  const shown = await page.waitForFunction(() => {
    const box = document.querySelector(".log")?.getBoundingClientRect() ?? { top: 0, bottom: 0 }
    const rows = Array.from(document.querySelectorAll(".log .row"))
    const inSight = rows
      .map((row) => ({ row, shape: row.getBoundingClientRect() }))
      .filter(({ shape }) => shape.bottom > box.top && shape.top < box.bottom)
      .map(({ row, shape }) => ({
        line: Number(row.getAttribute("data-line")),
        text: row.querySelector("span")?.textContent,
        top: Math.round(shape.top - box.top)
      }))
    return inSight.length > 20 && inSight.every(({ text }) => text !== undefined) && { rows: rows.length, inSight }
  })
  const read = await shown.jsonValue()
  assert.isTrue(read !== false)
  if (read === false) return []
  const { inSight, rows } = read
  assert.isAtMost(rows, most)
  for (const [index, { line, text, top }] of inSight.entries()) {
    assert.strictEqual(text?.split(" ", 2).join(" "), `line ${line}`)
    const before = inSight[index - 1]
    if (before !== undefined) assert.deepStrictEqual([line, top > before.top], [before.line + 1, true])
  }
  return inSight.map(({ line }) => line)
}

/** Turns the wheel over the log, and returns once it has scrolled. */
const wheel = async (page: Page, by: number) => {
  const before = await scrollOf(page)
  await page.mouse.wheel(0, by)
  await page.waitForFunction((before) => document.querySelector(".log")?.scrollTop !== before, before)
}

const scrollOf = (page: Page) => page.evaluate(() => document.querySelector(".log")?.scrollTop)

const until = (page: Page, line: number) =>
  page.locator(`.log .row[data-line="${line}"] > span`).waitFor({ state: "attached" })

export const scrolling = (it: Operators) => {
  it.effect("scroll over a long log by wheel and keys, with no line lost or doubled, also while more are written", () =>
    Effect.gen(function* () {
      const log = yield* longLog((line) => (line % 500 === 250 ? `line ${line} ${"x".repeat(9000)}` : `line ${line}`))
      yield* log.write(4000)
      const { page, reports } = yield* signedIn
      const box = page.getByRole("region", { name: "Log" })
      yield* person(async () => {
        await show(page, log.address)
        await until(page, 3999)
        assert.strictEqual((await seen(page)).at(-1), 3999)
        assert.deepStrictEqual(await violations(page), [])
        await box.hover()
      })
      const met = new Set<number>()
      for (let turn = 0; turn < 20; turn++) {
        const before = yield* person(async () => {
          await wheel(page, -250)
          return await seen(page)
        })
        for (const line of before) met.add(line)
        if (turn !== 5 && turn !== 12) continue
        yield* log.write(turn === 5 ? 7 : 1500)
        yield* person(() => page.getByText(turn === 5 ? "of 4,007" : "of 5,507").waitFor())
        assert.deepStrictEqual(yield* person(() => seen(page)), before)
      }
      const [first = 0, last = 0] = [Math.min(...met), Math.max(...met)]
      assert.isAtLeast(last - first, 200)
      assert.strictEqual(met.size, last - first + 1)
      yield* person(async () => {
        await box.focus()
        await page.keyboard.press("PageDown")
        await seen(page)
        // A browser that is short of time ends the way there early, as for people: who press the key again.
        for (let times = 0; times < 10 && (await scrollOf(page)) !== 0; times++) {
          await page.keyboard.press("Home")
          await page.waitForTimeout(1000)
        }
        assert.strictEqual((await seen(page))[0], 0)
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("End")
        await page.locator("[aria-pressed=true]", { hasText: "Go to end" }).waitFor()
        await until(page, 5506)
      })
      yield* log.write(3)
      yield* person(async () => {
        await until(page, 5509)
        assert.strictEqual((await seen(page)).at(-1), 5509)
        await page.getByLabel("Search the log").fill("line 2250")
        await page.getByRole("button", { name: "Go to start" }).click()
        await page.getByRole("button", { name: "Search", exact: true }).click()
        await page.locator(".log .found", { hasText: "line 2250" }).waitFor()
        await page.getByRole("button", { name: "Show all 9,010 characters of line 2,251" }).click()
        const whole = page.getByRole("dialog", { name: "Line 2,251" })
        assert.strictEqual((await whole.getByRole("region", { name: "Whole line" }).textContent())?.length, 9010)
        assert.deepStrictEqual(await violations(page), [])
        await page.keyboard.press("Escape")
        await whole.waitFor({ state: "detached" })
      })
      assert.deepStrictEqual(reports, [])
    }).pipe(Effect.scoped)
  )

  it.effect("keep what they selected in a log, wherever they scroll and whatever is written", () =>
    Effect.gen(function* () {
      const log = yield* longLog((line) => `line ${line}`)
      yield* log.write(3000)
      const { page } = yield* signedIn
      const selected = () => page.evaluate(() => getSelection().toString())
      const box = page.getByRole("region", { name: "Log" })
      yield* person(async () => {
        await show(page, log.address)
        await until(page, 2990)
        await page.evaluate(() => {
          const text = (line: number) =>
            document.querySelector(`.log .row[data-line="${line}"]`)?.querySelector("span")?.firstChild ?? document
          getSelection().setBaseAndExtent(text(2985), 5, text(2990), 4)
        })
        const before = await selected()
        assert.strictEqual(before, "2985\nline 2986\nline 2987\nline 2988\nline 2989\nline")
        await box.hover()
        for (const by of [-450, -900, -20_000, -20_000, 450, 900, 39_100]) {
          await wheel(page, by)
          await seen(page)
          assert.strictEqual(await selected(), before)
        }
      })
      yield* log.write(2000)
      yield* person(async () => {
        await page.getByText("of 5,000").waitFor()
        await seen(page)
        assert.match(await selected(), /^2985\nline 2986\n.*\nline$/s)
      })
    }).pipe(Effect.scoped)
  )
}
