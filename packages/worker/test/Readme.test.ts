import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { convert, Rates } from "./examples/Convert.ts"
import type * as MemorySession from "./support/MemorySession.ts"
import { runOne } from "./support/RunOne.ts"

const run = (payload: MemorySession.MemoryItem["payload"]) =>
  Effect.provideService(runOne(convert, { payload }), Rates, Rates.of({ toEuro: () => Effect.succeed(0.5) }))

describe("the examples of the README", () => {
  for (const example of ["Convert", "Robots", "Quote"]) {
    it(`${example} is the one that is compiled`, () => {
      const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
      assert.include(
        read("../README.md").replace(/^```ts title=".*"$/gm, "```ts"),
        `\`\`\`ts\n${read(`./examples/${example}.ts`)}\`\`\`\n`
      )
    })
  }

  it("a program runs on local files", () => {
    const cwd = mkdtempSync(join(tmpdir(), "signalbox-readme-"))
    const write = (path: string, json: unknown) => {
      mkdirSync(dirname(join(cwd, path)), { recursive: true })
      writeFileSync(join(cwd, path), JSON.stringify(json))
    }
    write("output/work-items-in/workitems.json", [{ payload: { customer: "Ada", pages: 3 } }])
    write("secrets.json", { shop: { account: "CH93" } })
    write("assets/prices.json", { perPage: 2 })
    const program = join(import.meta.dirname, "examples", "Quote.ts")
    const env = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }
    const { status, stderr } = spawnSync(process.execPath, [program], { cwd, env, encoding: "utf8" })
    const read = (path: string) => readFileSync(join(cwd, path), "utf8")
    assert.strictEqual(status, 0, stderr)
    assert.deepStrictEqual(JSON.parse(read("output/work-items-out/workitems.json")), [
      { payload: { customer: "Ada", price: 6 }, files: {} }
    ])
    assert.strictEqual(read("output/letters/Ada.txt"), "Ada: 6, payable to CH93\n")
    rmSync(cwd, { recursive: true })
  })

  it.effect("a task does what it says", () =>
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
