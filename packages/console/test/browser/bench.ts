/**
 * How a list of 100,000 items and a log of a million lines feel: the time from an action to its data, and the longest task of
 * the page meanwhile, which is how long it may not answer; medians and maxima of some rounds. Aims: 300 ms and 50 ms.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import { longLog } from "./LongLog.ts"
import { Room } from "./Room.ts"
import { layer, person, show, signedIn } from "./Sight.ts"

const items = 100_000
const lines = 1_000_000
const rounds = 7

interface Measured {
  readonly longest: number
}
interface Box {
  scrollTop: number
  readonly scrollHeight: number
  getBoundingClientRect(): { readonly top: number; readonly bottom: number }
  querySelector(selector: string): object | null
}
declare const window: { measured: Measured }
declare class PerformanceObserver {
  constructor(observe: (list: { readonly getEntries: () => ReadonlyArray<{ readonly duration: number }> }) => void)
  observe(options: { readonly type: string }): void
}
declare const document: {
  querySelector(selector: string): Box | null
  querySelectorAll(selector: string): ArrayLike<Box>
}

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

/** Until all lines in sight are there. */
const seen = (page: Page) =>
  page.waitForFunction(() => {
    const box = document.querySelector(".log")?.getBoundingClientRect()
    if (box === undefined) return false
    const inSight = Array.from(document.querySelectorAll(".log .row")).filter((row) => {
      const { bottom, top } = row.getBoundingClientRect()
      return bottom > box.top && top < box.bottom
    })
    return inSight.length > 20 && inSight.every((row) => row.querySelector("span") !== null)
  })

/** Moves the scroll bar to a part of the log. */
const drag = async (page: Page, part: number) => {
  await page.evaluate((part) => {
    const box = document.querySelector(".log")
    if (box !== null) box.scrollTop = box.scrollHeight * part
  }, part)
  await seen(page)
}

/** Those without a name are not measured. */
type Steps = ReadonlyArray<readonly [name: string | null, step: (page: Page, round: number) => Promise<unknown>]>
const away: Steps = [[null, (page) => show(page, "#/connect")]]

const ofItems: Steps = [
  ["items: open the list", (page) => show(page, "#/items").then(() => rows(page, 50))],
  ["items: filter by state", (page) => show(page, "#/items?state=failed").then(() => rows(page, 10))],
  ["items: and back", (page) => show(page, "#/items?state=new").then(() => rows(page, 50))],
  [
    "items: the next page",
    (page) =>
      page
        .getByRole("button", { name: "Load more" })
        .click()
        .then(() => rows(page, 150))
  ],
  ["runs: open the list", (page) => show(page, "#/runs").then(() => rows(page, 3))]
]

const ofLog = (address: string): Steps => [
  ...away,
  ["log: open its end", (page) => show(page, address).then(() => seen(page))],
  ["log: to the middle by the bar", (page, round) => drag(page, 0.3 + 0.05 * round)],
  [
    "log: 50 turns, one by one",
    async (page) => {
      await page.getByRole("region", { name: "Log" }).hover()
      for (let turn = 0; turn < 50; turn++) await page.mouse.wheel(0, 240)
      await seen(page)
    }
  ],
  [
    "log: to its start",
    (page) =>
      page
        .getByRole("button", { name: "Go to start" })
        .click()
        .then(() => seen(page))
  ]
]

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const measure = Effect.fnUntraced(function* (page: Page, steps: Steps) {
  const measured = new Map<string, Array<readonly [millis: number, longest: number]>>()
  for (let round = 0; round < rounds; round++) {
    for (const [name, step] of steps) {
      yield* person(async () => {
        await page.evaluate(() => {
          window.measured = { longest: 0 }
        })
        const before = performance.now()
        await step(page, round)
        const one = [performance.now() - before, await page.evaluate(() => window.measured.longest)] as const
        if (name !== null) measured.set(name, [...(measured.get(name) ?? []), one])
      })
    }
  }
  for (const [name, all] of measured) {
    const figures = [0, 1].map((which) => {
      const values = all.map((one) => one[which] ?? 0)
      const text = (value: number) => (which === 1 && value === 0 ? "<50" : value.toFixed(0))
      return `${text(median(values)).padStart(5)} (${text(Math.max(...values))})`
    })
    yield* Console.log(`${name.padEnd(30)} to data ${figures[0]} ms, longest task ${figures[1]} ms`)
  }
})

const program = Effect.gen(function* () {
  const { api, ids } = yield* Room
  const payloads = Array.from({ length: items }, (_, n) => ({ invoice: `RE-${n}`, customer: `70-${n}`, amount: n }))
  yield* api(WorkItems.createMany({ process: ids.payroll, payloads }))
  const log = yield* longLog(
    (line) => `line ${line}: supplier 4711, invoice RE-${line}, search customer 70-${line % 971}`
  )
  yield* log.write(lines)
  const heavy = yield* longLog((line) => `line ${line} ${"x".repeat(65_000)}`)
  for (let line = 0; line < 300; line += 20) yield* heavy.write(20)
  const { page } = yield* signedIn
  yield* person(() => observe(page))
  yield* Console.log(`medians (maxima) of ${rounds} rounds; ${items} items, ${lines} lines`)
  yield* measure(page, ofItems)
  yield* measure(page, ofLog(log.address))
  yield* measure(page, [
    ...away,
    ["long lines: open the end", (page) => show(page, heavy.address).then(() => seen(page))],
    ["long lines: to the start", (page) => drag(page, 0)]
  ])
}).pipe(Effect.scoped, Effect.provide(layer))

NodeRuntime.runMain(program)
