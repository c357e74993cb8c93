import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { ran } from "./examples/Throttled.ts"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

describe("the example of the README", () => {
  it("is the one that runs", () => {
    assert.include(read("../README.md"), `\`\`\`ts\n${read("./examples/Throttled.ts")}\`\`\`\n`)
  })

  it.live("is throttled once", () =>
    Effect.gen(function* () {
      const { requests, statuses } = yield* ran
      assert.deepStrictEqual(statuses, [429, 200])
      assert.deepStrictEqual(
        requests.map(({ faults }) => faults),
        [["throttle"], []]
      )
    })
  )
})
