/** Opens a page in the browser of these tests, waits until the page has a title, and prints it: `node visit.ts ADDRESS`. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Chromium } from "./Chromium.ts"

const [, , address = ""] = process.argv

const program = Effect.gen(function* () {
  const browser = yield* Chromium
  const title = yield* Effect.promise(async () => {
    const page = await browser.newPage()
    await page.goto(address)
    await page.waitForFunction("document.title !== ''")
    return page.title()
  })
  yield* Console.log(title)
})

NodeRuntime.runMain(Effect.provide(program, Layer.provide(Chromium.layer, NodeServices.layer)))
