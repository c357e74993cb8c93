import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

describe("the example of the README", () => {
  it("is the one that runs", () => {
    const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
    assert.include(read("../README.md"), `\`\`\`ts\n${read("./examples/Orders.test.ts")}\`\`\`\n`)
  })
})
