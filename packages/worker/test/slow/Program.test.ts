/**
 * A program of tasks as a worker or a person starts it: arguments, output, exit codes.
 */
import { assert, describe, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

const program = join(import.meta.dirname, "..", "support", "program.ts")
const folder = mkdtempSync(join(tmpdir(), "signalbox-program-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const machine = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }

const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...machine, ...env },
    encoding: "utf8"
  })

const withItems = (...payloads: ReadonlyArray<unknown>) => {
  writeFileSync(join(folder, "items.json"), JSON.stringify(payloads.map((payload) => ({ payload }))))
  writeFileSync(join(folder, "secrets.json"), JSON.stringify({ shop: { password: "hunter2" } }))
  return { RC_WORKITEM_INPUT_PATH: "items.json", RC_WORKITEM_OUTPUT_PATH: "out/items.json" }
}

const outputs = () => JSON.parse(readFileSync(join(folder, "out", "items.json"), "utf8"))

describe("a program", () => {
  it("prints its usage, whatever the environment", () => {
    const { status, stderr, stdout } = run(["--help"], { RC_WORKITEM_ADAPTER: "RobocorpAdapter" })
    assert.strictEqual(status, 0)
    assert.strictEqual(stderr, "")
    assert.match(stdout, /^Usage: <program> <task>[^]*Tasks:\n {2}work\n {2}other\n$/)
  })

  const wrong: ReadonlyArray<readonly [string, ReadonlyArray<string>, RegExp]> = [
    ["no task", [], /^name a task\n\nUsage/],
    ["an unknown task", ["nothing"], /^the task "nothing" does not exist\n\nUsage/],
    ["two tasks", ["work", "other"], /^name only one task\n\nUsage/]
  ]
  for (const [what, args, message] of wrong) {
    it(`refuses ${what}`, () => {
      const { status, stderr } = run(args)
      assert.strictEqual(status, 1)
      assert.match(stderr, message)
    })
  }

  it("ends well when items fail as the task says", () => {
    const { status, stdout } = run(["work"], withItems("one", "bad", "two"))
    assert.strictEqual(status, 0)
    assert.deepStrictEqual(outputs(), [
      { payload: "one", files: {} },
      { payload: "two", files: {} }
    ])
    assert.include(stdout, "item 2 of 3 failed: BUSINESS BAD: a bad one")
    assert.include(stdout, "work: 2 completed, 1 failed")
    assert.include(stdout, "<redacted>")
    assert.notInclude(stdout, "hunter2")
  })

  it("ends badly after a bug, once the other items are done", () => {
    const { status, stderr } = run(["work"], withItems("bug", "one"))
    assert.strictEqual(status, 1)
    assert.strictEqual(stderr, "1 of 2 items failed with an error that is not a declared failure of the task\n")
    assert.deepStrictEqual(outputs(), [{ payload: "one", files: {} }])
  })

  it("says which variables are missing in a run of a worker", () => {
    const { status, stderr } = run(["work"], {
      RC_WORKSPACE_ID: "w",
      RC_PROCESS_RUN_ID: "r",
      RC_ACTIVITY_RUN_ID: "s",
      RC_API_PROCESS_HOST: "http://127.0.0.1:1",
      RC_API_PROCESS_TOKEN: "secret-token"
    })
    assert.strictEqual(status, 1)
    assert.match(stderr, /missing: RC_API_WORKITEM_HOST, RC_API_WORKITEM_TOKEN, RC_PROCESS_ID\n$/)
    assert.notInclude(stderr, "secret-token")
  })

  it("ends immediately on a signal, and leaves the item alone", async () => {
    const env = { ...machine, ...withItems("one", "forever") }
    const child = spawn(process.execPath, [program, "work"], { cwd: folder, env })
    const ended = new Promise((resolve) => child.once("exit", resolve))
    await new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk: Buffer) => {
        if (chunk.toString().includes("logged in")) resolve()
      })
    })
    child.kill("SIGTERM")
    assert.strictEqual(await ended, 130)
  })
})
