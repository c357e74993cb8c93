/**
 * How a list of 100,000 items feels: the time from a click to rows, and the longest task of the page meanwhile, which is how
 * long it may not answer. Aims: 300 ms and 50 ms.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import { layer, Room } from "./Room.ts"
import { person, show, signedIn } from "./Sight.ts"

const items = 100_000

interface Measured {
  readonly longest: number
}
declare const window: { measured: Measured }
declare class PerformanceObserver {
  constructor(observe: (list: { readonly getEntries: () => ReadonlyArray<{ readonly duration: number }> }) => void)
  observe(options: { readonly type: string }): void
}
declare const document: { querySelectorAll(selector: string): { readonly length: number } }

/** Browsers report tasks from 50 ms. */
const observe = (page: Page) =>
  page.evaluate(() => {
    window.measured = { longest: 0 }
    new PerformanceObserver((list) => {
      const longest = Math.max(window.measured.longest, ...list.getEntries().map(({ duration }) => duration))
      window.measured = { longest }
    }).observe({ type: "longtask" })
  })

const rows = (page: Page, least: number) =>
  page.waitForFunction((least) => document.querySelectorAll("main tbody tr").length >= least, least)

const program = Effect.gen(function* () {
  const { api, ids } = yield* Room
  const payloads = Array.from({ length: items }, (_, n) => ({ invoice: `RE-${n}`, customer: `70-${n}`, amount: n }))
  yield* api(WorkItems.createMany({ process: ids.payroll, payloads }))
  const { page } = yield* signedIn()
  yield* person(() => observe(page))
  const steps: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
    ["open the list", () => show(page, "#/items").then(() => rows(page, 50))],
    ["filter it by state", () => show(page, "#/items?state=failed").then(() => rows(page, 10))],
    ["and back", () => show(page, "#/items?state=new").then(() => rows(page, 50))],
    [
      "the next page",
      () =>
        page
          .getByRole("button", { name: "Show more" })
          .click()
          .then(() => rows(page, 150))
    ],
    ["runs", () => show(page, "#/runs").then(() => rows(page, 3))]
  ]
  for (const [name, step] of steps) {
    const [millis, longest] = yield* person(async () => {
      await page.evaluate(() => {
        window.measured = { longest: 0 }
      })
      const before = performance.now()
      await step()
      return [performance.now() - before, await page.evaluate(() => window.measured.longest)] as const
    })
    const task = longest === 0 ? "no task of 50 ms" : `longest task ${longest.toFixed(0)} ms`
    yield* Console.log(`${name.padEnd(20)} ${millis.toFixed(0).padStart(6)} ms, ${task}`)
  }
}).pipe(Effect.scoped, Effect.provide(layer))

NodeRuntime.runMain(program)
