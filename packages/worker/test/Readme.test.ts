import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { convert, Rates } from "./examples/Convert.ts"
import type * as MemorySession from "./support/MemorySession.ts"
import { runOne } from "./support/RunOne.ts"

const run = (payload: MemorySession.MemoryItem["payload"]) =>
  Effect.provideService(runOne(convert, { payload }), Rates, Rates.of({ toEuro: () => Effect.succeed(0.5) }))

describe("the example of the README", () => {
  it("is the one that is compiled", () => {
    const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
    assert.include(read("../README.md"), `\`\`\`ts\n${read("./examples/Convert.ts")}\`\`\`\n`)
  })

  it.effect("does what it says", () =>
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
