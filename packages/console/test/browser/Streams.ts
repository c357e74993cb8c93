/** What people see when the stream of changes is disturbed, hidden or shared. Part of the journeys, whose room it shares. */
import { assert } from "@effect/vitest"
import * as Assets from "@signalbox/api/Assets"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { setTimeout } from "node:timers/promises"
import type { Page } from "playwright-core"
import { Room } from "./Room.ts"
import { type Operators, person, settled, show, signedOut } from "./Sight.ts"
import { streamProxy } from "./StreamProxy.ts"

declare const document: {
  readonly visibilityState: string
  dispatchEvent(event: unknown): boolean
}
declare const Event: new (type: string) => unknown

/** The log of the page as it is shown. */
const logOf = (page: Page) => page.getByRole("region", { name: "Log", exact: true })

/** Numbers of the lines that the test has had written, as they are shown. */
const numbersIn = async (page: Page) =>
  [...(await logOf(page).innerText()).matchAll(/statement line (\d+)\b/g)].map(([, number]) => Number(number))

const notice = "Live updates are unavailable"

/** Until the service has a line. */
const stored = Effect.fnUntraced(function* (run: ProcessRunId, line: number) {
  const [step] = yield* Stream.runCollect(StepRuns.stream(run))
  if (step === undefined) return assert.fail("no step has begun")
  yield* StepRuns.followConsoleMessages(step.id, { pollInterval: "100 millis" }).pipe(
    Stream.takeUntil(({ message }) => message.endsWith(`statement line ${line}`)),
    Stream.runDrain
  )
})

/** Until something is so; looked at often enough that no time is lost. */
const until = async (isSo: () => boolean | Promise<boolean>) => {
  while (!(await isSo())) await setTimeout(100)
}

/** Until something is so, while the page's own time passes faster: ten seconds in one, or more where it waits for nobody. */
const later = (page: Page, isSo: () => boolean | Promise<boolean>, step = 1000) =>
  until(async () => (await isSo()) || (await page.clock.fastForward(step).then(() => false)))

const timeOf = (page: Page) => page.evaluate(() => Date.now())

/** As the browser does when another tab comes to the front, which one without windows does not. */
const turn = (page: Page, state: "visible" | "hidden") =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state })
    document.dispatchEvent(new Event("visibilitychange"))
  }, state)

const signIn = async (page: Page, key: string) => {
  await page.getByLabel("Key").fill(key)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("navigation", { name: "Workspace" }).waitFor()
}

export const streams = (it: Operators) => {
  it.effect("see each line of a log once, however the stream is cut, silent, gathered, refused or hidden", () =>
    Effect.gen(function* () {
      const { api, dictate, ids, key, origin } = yield* Room
      const proxy = yield* streamProxy(origin)
      const { page } = yield* signedOut({}, proxy.origin, (page) => page.clock.install())
      yield* person(() => signIn(page, key))
      const run = yield* api(ProcessRuns.start(ids.read, { payloads: [{}] }))
      if (!run.started) return assert.fail("the run did not start")
      yield* Effect.addFinalizer(() => dictate(""))
      let written = 0
      const write = Effect.suspend(() => dictate(`statement line ${++written}`))
      const isShown = async () => (await numbersIn(page)).includes(written)
      const isTold = () => page.getByText(notice).isVisible()
      const everyLine = () => Array.from({ length: written }, (_, index) => index + 1)

      yield* person(async () => {
        await show(page, `#/runs/${run.id}?tab=log`)
        await page.getByText("No log lines yet").waitFor()
      })
      yield* write
      yield* person(async () => {
        await logOf(page)
          .getByText(/statement line 1$/)
          .waitFor()
        await settled(page)
        proxy.become("cut")
        proxy.drop()
        await until(() => proxy.open() === 1)
      })
      yield* write
      yield* person(async () => {
        await until(() => proxy.cuts() > 0)
        await until(isShown)
        assert.isFalse(await isTold())
        proxy.become("through")
        proxy.drop()
        await until(() => proxy.open() === 1)
      })
      yield* write
      yield* person(async () => {
        await until(isShown)
        proxy.silence()
      })
      const before = proxy.begun()
      yield* write
      yield* person(async () => {
        await page.clock.fastForward(12_000)
        assert.strictEqual(proxy.begun(), before)
        await page.clock.fastForward(14_000)
        await until(isShown)
        assert.strictEqual(proxy.begun(), before + 1)
        assert.isFalse(await isTold())
        proxy.become("refused")
        proxy.drop()
        const from = await timeOf(page)
        await until(isTold)
        assert.isAtLeast(proxy.begun(), before + 3)
        // It is the failures that count: of a stream that is silent it is told after 75 seconds.
        assert.isBelow((await timeOf(page)) - from, 60_000)
      })
      yield* write
      yield* person(async () => {
        await later(page, isShown)
        assert.strictEqual(proxy.open(), 0)
        proxy.become("through")
        await later(page, async () => !(await isTold()))
        proxy.become("gathered")
        proxy.drop()
        await later(page, isTold, 5000)
      })
      yield* write
      yield* person(async () => {
        await later(page, isShown)
        proxy.become("through")
        proxy.drop()
        await later(page, async () => !(await isTold()))
        await turn(page, "hidden")
        await until(() => proxy.open() === 0)
      })
      const streams = proxy.begun()
      yield* write
      yield* api(stored(run.id, written))
      yield* person(async () => {
        await page.clock.fastForward(60_000)
        assert.strictEqual(proxy.begun(), streams)
        assert.notInclude(await numbersIn(page), written)
        await turn(page, "visible")
        await until(isShown)
        assert.strictEqual(proxy.open(), 1)
        assert.isFalse(await isTold())
        assert.deepStrictEqual(await numbersIn(page), everyLine())
      })
    }).pipe(Effect.scoped)
  )

  for (const by of ["loopback", "plain HTTP by a name"] as const) {
    it.effect(`see what changes in two tabs on ${by}, and have one session that ends in both`, () =>
      Effect.gen(function* () {
        const { api, key, origin } = yield* Room
        const proxy = yield* streamProxy(origin)
        const at = by === "loopback" ? proxy.origin : proxy.origin.replace("127.0.0.1", "room.test")
        const { context, page } = yield* signedOut({}, at)
        const put = (name: string) =>
          api(Assets.put(name, { name, bytes: new Uint8Array(1) }, { contentType: "text/plain" }))
        const seen = (page: Page, name: string) => page.getByRole("link", { name, exact: true }).waitFor()
        const other = yield* person(async () => {
          await signIn(page, key)
          await show(page, "#/assets")
          const other = await context.newPage()
          await other.goto(`${at}/console/#/assets`)
          await seen(other, "customers.json")
          return other
        })
        const name = `tabs on ${by}`
        yield* put(name)
        yield* person(async () => {
          await Promise.all([seen(page, name), seen(other, name)])
          // Browsers have locks on secure origins alone: elsewhere each tab has a stream.
          assert.strictEqual(proxy.open(), by === "loopback" ? 1 : 2)
          await page.close()
        })
        yield* put(`${name}, still`)
        yield* person(async () => {
          await seen(other, `${name}, still`)
          await until(() => proxy.open() === 1)
          const third = await context.newPage()
          await third.goto(`${at}/console/#/assets`)
          await third.getByRole("button", { name: "Sign out" }).click()
          await other.getByLabel("Key").waitFor()
        })
      }).pipe(Effect.scoped)
    )
  }
}
