/** Executions of durable flows put right. Part of the journeys, whose room it shares. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import { hands } from "./Hands.ts"
import { Room } from "./Room.ts"
import { type Operators, person, settled, show, signedIn, signedOut } from "./Sight.ts"

const row = (page: Page, flow: string, key: string) =>
  page.getByRole("region", { name: "Executions" }).getByRole("row").filter({ hasText: flow }).filter({ hasText: key })

export const flows = (it: Operators) => {
  for (const by of ["mouse", "keyboard"] as const) {
    it.effect(`find a halted execution, read why, and resume it by ${by}`, () =>
      Effect.gen(function* () {
        const { page, reports } = yield* signedIn
        const { choose, press } = hands(page, by)
        const result = yield* person(async () => {
          await press(page.getByRole("link", { name: "Flows", exact: true }))
          await settled(page)
          await choose(page.getByLabel("State", { exact: true }), "halted")
          await press(row(page, "pay suppliers", `by ${by}`).getByRole("link"))
          await settled(page)
          const why = await page.getByRole("note", { name: "Cause and remedy" }).innerText()
          assert.include(why, "the bank did not answer")
          assert.include(why, "Remedy: correct the program")
          await press(page.getByRole("button", { name: "Resume…" }))
          await press(page.getByRole("dialog").getByRole("button", { name: "Resume" }))
          await page.getByText("Execution resumed.").waitFor()
          return page.getByRole("region", { name: "Result" }).innerText()
        })
        assert.deepStrictEqual(JSON.parse(result), ["Adler", "Meyer"])
        assert.deepStrictEqual(reports, [])
      }).pipe(Effect.scoped)
    )

    it.effect(
      `send what an execution waits for, read what it says, and learn whether a decision counted, by ${by}`,
      () =>
        Effect.gen(function* () {
          const { page, reports } = yield* signedIn
          const { fill, press } = hands(page, by)
          yield* person(async () => {
            await show(page, "#/flows?flow=month+end")
            await press(row(page, "month end", `by ${by}`).getByRole("link"))
            await settled(page)
            const send = async (value: string) => {
              await press(page.getByRole("button", { name: "Send day…" }))
              const dialog = page.getByRole("dialog")
              await fill(dialog.getByLabel("Value"), value)
              await press(dialog.getByRole("button", { name: "Send" }))
              return dialog
            }
            const dialog = await send("yes")
            await dialog.getByText("invalid JSON").waitFor()
            await press(dialog.getByRole("button", { name: "Cancel" }))
            await (await send("1")).getByRole("alert").getByText("does not fit").waitFor()
            await press(dialog.getByRole("button", { name: "Cancel" }))
            await page.getByRole("region", { name: "States" }).getByText("collecting").waitFor()
            await send('"Monday"')
            await page.getByRole("region", { name: "Feed log" }).getByText("day Monday").waitFor()
            await press(page.getByRole("button", { name: "Request total…" }))
            await fill(dialog.getByLabel("Value"), "21")
            await press(dialog.getByRole("button", { name: "Send request" }))
            await dialog.getByText("42").waitFor()
            await press(dialog.getByRole("button", { name: "Close" }))
            await page.getByRole("region", { name: "States" }).getByText("deciding").waitFor()
            await press(page.getByRole("button", { name: "Approve… approval" }))
            await press(dialog.getByRole("button", { name: "Approve" }))
            await dialog.getByText("The flow has received this decision.").waitFor()
            await press(dialog.getByRole("button", { name: "Close" }))
            await page.getByRole("region", { name: "Result" }).getByText("closed by first key").waitFor()
          })
          assert.deepStrictEqual(reports, [])
        }).pipe(Effect.scoped)
    )
  }

  it.effect("see executions with a key that only reads, and are offered nothing that changes them", () =>
    Effect.gen(function* () {
      const { readOnlyKey } = yield* Room
      const { page } = yield* signedOut()
      const offered = yield* person(async () => {
        await page.getByLabel("Key").fill(readOnlyKey)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("navigation", { name: "Workspace" }).waitFor()
        await show(page, "#/flows")
        await row(page, "pay suppliers", "by mouse").getByRole("link").click()
        await settled(page)
        await page.getByRole("region", { name: "Input" }).waitFor()
        return page.locator("main").getByRole("button").allTextContents()
      })
      assert.deepStrictEqual(offered, [])
    }).pipe(Effect.scoped)
  )
}
