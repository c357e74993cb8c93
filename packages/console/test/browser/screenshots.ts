/** Writes the pictures of the README and of the docs, of the room that the tests look at. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { Room } from "./Room.ts"
import { layer, person, show, signedInOf } from "./Sight.ts"

const folder = join(import.meta.dirname, "../../../../docs/images")

const picture = (page: Page, name: string) =>
  page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled", caret: "hide" })

const program = Effect.gen(function* () {
  const { ids } = yield* Room
  const { page } = yield* signedInOf({ viewport: { width: 1180, height: 800 } })
  yield* person(async () => {
    const take = async (name: string, address: string, see: string) => {
      await show(page, address)
      await page.getByText(see).first().waitFor()
      await picture(page, name)
    }
    await take("console-overview", "#/", "is unknown")
    await take("console-run", `#/runs/${ids.failed}?tab=failed`, "is unknown")
    await take("console-failures", "#/failures", "is unknown")
    await page.emulateMedia({ colorScheme: "dark" })
    await show(page, "#/items?state=failed")
    await page.getByText("is unknown").first().waitFor()
    const boxes = page.getByRole("checkbox", { name: "Select row" })
    for (const row of [3, 4, 5]) await boxes.nth(row).check()
    await picture(page, "console-items")
  })
}).pipe(Effect.scoped, Effect.provide(layer))

NodeRuntime.runMain(program)
