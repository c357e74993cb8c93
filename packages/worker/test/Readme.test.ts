import { assert, describe, it } from "@effect/vitest"
import { WorkItemId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { runItem } from "../src/internal/ItemRun.ts"
import { convert, Rates } from "./examples/Convert.ts"
import * as MemorySession from "./support/MemorySession.ts"

const run = (payload: MemorySession.MemoryItem["payload"]) => {
  const { actions, session } = MemorySession.make({ one: { payload } })
  return runItem(convert, session, WorkItemId.make("one")).pipe(
    Effect.provideService(Rates, Rates.of({ toEuro: () => Effect.succeed(0.5) })),
    Effect.map((release) => ({ release, actions }))
  )
}

describe("the examples of the README", () => {
  it("are those that are compiled", () => {
    const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
    for (const example of ["Convert", "Robots"]) {
      assert.include(read("../README.md"), `\`\`\`ts\n${read(`./examples/${example}.ts`)}\`\`\`\n`)
    }
  })

  it.effect("do what they say", () =>
    Effect.gen(function* () {
      const good = yield* run({ number: "A-1", amount: 9.99, currency: "CHF" })
      assert.deepStrictEqual(good.release, { state: "COMPLETED" })
      assert.deepStrictEqual(good.actions, [
        { did: "output", of: "one", payload: { number: "A-1", euro: 5 } },
        { did: "file", on: "output-1", name: "A-1.txt", text: "A-1: EUR 5.00\n" }
      ])
      const bad = yield* run({ number: "A-2", amount: 0, currency: "CHF" })
      assert.deepStrictEqual(bad.release, {
        state: "FAILED",
        exception: { type: "BUSINESS", code: "BAD_AMOUNT", message: "invoice A-2 has no amount to pay" }
      })
    })
  )
})
