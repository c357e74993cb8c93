/**
 * The robot in TypeScript as a user runs it on local files. (`packages/signalbox/test/examples` has the robots in a control room.)
 */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

const robots = join(import.meta.dirname, "..", "robots")
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
