/**
 * The robots as a user runs them on local files. (`packages/signalbox/test/examples` has the robots in a control room.)
 */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Environments from "@signalbox/worker/Environments"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"

const robots = join(import.meta.dirname, "..", "..", "robots")
const cwd = mkdtempSync(join(tmpdir(), "signalbox-robots-"))
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const node = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const machine = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }
  return spawnSync(process.execPath, args, { cwd, env: { ...machine, ...env }, encoding: "utf8" })
}

const invoices = [
  "Invoice 1001 for Ada Lovelace: EUR 14.88\n",
  "Invoice 1002 for Grace Hopper: EUR 117.81\n",
  "Invoice 1004 for Edsger Dijkstra: EUR 8.63\n"
]

describe("the robot in TypeScript, without a service", () => {
  it("runs on local files, one task after the other", () => {
    const main = join(robots, "typescript", "main.ts")
    const read = node([main, "read-orders"], { RC_WORKITEM_INPUT_PATH: join(robots, "items", "orders.json") })
    assert.strictEqual(read.status, 0, read.stderr)
    const made = node([main, "make-invoice"], {
      RC_WORKITEM_INPUT_PATH: "output/work-items-out/workitems.json",
      RC_WORKITEM_OUTPUT_PATH: "invoices/workitems.json"
    })
    assert.strictEqual(made.status, 0, made.stderr)
    assert.match(made.stdout, /BUSINESS NO_CUSTOMER: the order 1003 has no customer/)
    assert.match(made.stdout, /3 completed, 1 failed/)
    const outputs: ReadonlyArray<{ readonly files: Readonly<Record<string, string>> }> = JSON.parse(
      readFileSync(join(cwd, "invoices", "workitems.json"), "utf8")
    )
    const texts = outputs.flatMap(({ files }) =>
      Object.values(files).map((path) => readFileSync(join(cwd, "invoices", path), "utf8"))
    )
    assert.deepStrictEqual(texts, invoices)
    assert.deepStrictEqual(readdirSync(join(cwd, "output", "invoices")), ["1001.txt", "1002.txt", "1004.txt"])
  })
})

describe("the robot in Python, without a service", () => {
  const folder = join(cwd, "python")
  /** As `signalbox robot run`: what it said, and why it failed. */
  const python = Effect.fnUntraced(function* (task: string, item: string) {
    const said: Array<string> = []
    const write = (lines: ReadonlyArray<string>) => Effect.sync(() => void said.push(...lines))
    const options = { folder: join(cwd, "environments"), write, task, item }
    const failure = yield* Environments.runRobot(folder, options).pipe(
      Effect.as(null),
      Effect.catch(({ message }) => Effect.succeed(message))
    )
    return { said: said.join("\n"), failure }
  }, Effect.provide(NodeServices.layer))
  const output = join(folder, "output", "work-items-out", "workitems.json")
  const outputs = (): ReadonlyArray<{ readonly payload: object; readonly files: Readonly<Record<string, string>> }> =>
    JSON.parse(readFileSync(output, "utf8"))
  beforeAll(() => cpSync(join(robots, "python", "package"), folder, { recursive: true }))

  it.live("reads the files of local items, and runs one task after the other", () =>
    Effect.gen(function* () {
      const read = yield* python("read-orders", join(robots, "items", "orders.json"))
      assert.isNull(read.failure, read.said)
      assert.lengthOf(outputs(), 4)
      const items = join(folder, "orders.json")
      renameSync(output, items)
      const made = yield* python("make-invoice", items)
      assert.isNull(made.failure, made.said)
      assert.match(made.said, /item 3 failed: BUSINESS NO_CUSTOMER: the order 1003 has no customer/)
      const texts = outputs().flatMap(({ files }) =>
        Object.values(files).map((path) => readFileSync(join(output, "..", path), "utf8"))
      )
      assert.deepStrictEqual(texts, invoices)
      assert.deepStrictEqual(readdirSync(join(folder, "output", "invoices")), ["1001.txt", "1002.txt", "1004.txt"])
    })
  )

  it.live("says what is wrong with a list of items, and names a file that is missing", () =>
    Effect.gen(function* () {
      const items = join(folder, "items.json")
      writeFileSync(items, '[{"payload":{"file":"orders.csv"},"files":{}}]')
      const missing = yield* python("read-orders", items)
      assert.match(missing.said, /FILE_MISSING: the work item has no file "orders\.csv"; its files: none/)
      writeFileSync(items, '["no item"]')
      const wrong = yield* python("read-orders", items)
      assert.strictEqual(wrong.failure, "the task ended with exit code 1")
      assert.match(wrong.said, /items\.json: expected a list of/)
    })
  )
})
