/**
 * What the command does on a terminal: it asks before it deletes several things, and fits its tables.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import * as Cli from "../support/Cli.ts"

const { folder, remove } = Cli.temporaryFolder("terminal")
const data = join(folder, "data")
const python = join(import.meta.dirname, "..", "support", "terminal.py")

let room: Cli.RoomHere
beforeAll(async () => {
  room = await Cli.upHere(data, ["--workers", "0"])
  for (const name of ["one", "two"]) await Cli.succeed(["groups", "create", name, "--data", data])
})
afterAll(async () => {
  await room.end()
  remove()
})

/** The command on a terminal; `key` is typed at its question. */
const onTerminal = (line: string, { env = {}, key = "" }: { readonly env?: Cli.Env; readonly key?: string } = {}) =>
  new Promise<{ readonly status: number | null; readonly shown: string }>((resolve) => {
    const room = line.startsWith("flows ") ? [] : ["--data", data]
    const args = [python, key, process.execPath, Cli.bin, ...line.split(" "), ...room]
    const child = spawn("python3", args, { env: { ...Cli.machine, TERM: "xterm", ...env } })
    let shown = ""
    child.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()))
    child.once("close", (status) => resolve({ status, shown }))
  })

describe("on a terminal", () => {
  it("several things are deleted after a yes to a question that says in which control room", async () => {
    const no = await onTerminal("groups delete one two", { key: "n" })
    assert.strictEqual(no.status, 1)
    const question = stripVTControlCharacters(no.shown).replace(/\s+/g, " ")
    assert.match(question, /Delete 2 worker groups \(workspace \S+ at http:\S+, of the folder \S+data\)\?/)
    assert.include(question, "signalbox: nothing was changed")
    assert.strictEqual((await onTerminal("groups delete one two", { key: "y" })).status, 0)
    assert.notMatch((await Cli.succeed(["groups", "list", "--data", data])).stdout, /\b(one|two)\b/)
  })

  it("a command for all executions of flows is carried out after a yes", async () => {
    const env = { SIGNALBOX_FLOWS_URL: "http://127.0.0.1:1", SIGNALBOX_FLOWS_TOKEN: "a token of some length" }
    const no = await onTerminal("flows cancel --flow payments", { key: "n", env })
    const question = stripVTControlCharacters(no.shown).replace(/\s+/g, " ")
    assert.include(
      question,
      "Cancel all executions that match (list them with `signalbox flows list` and the same flags)?"
    )
    assert.include(question, "signalbox: nothing was changed")
    const yes = await onTerminal("flows cancel --flow payments", { key: "y", env })
    assert.include(yes.shown, "cannot reach http://127.0.0.1:1")
  })

  it("a table fits its width, and its head is bold unless NO_COLOR is set", async () => {
    const args = ["keys", "create", "--name", "ci", "--permission", "Processes.read_processes", "--data", data]
    await Cli.succeed(args)
    const { shown } = await onTerminal("keys list")
    const lines = stripVTControlCharacters(shown).trimEnd().split("\r\n")
    assert.isAtLeast(lines.length, 3)
    // Ids are whole; the other columns are cut to 12 characters each at the least.
    for (const line of lines) assert.isAtMost(line.length, 36 + 2 + 12 + 2 + 12 + 2 + 12)
    assert.include(shown, "\u001B[1mid")
    assert.notInclude((await onTerminal("keys list", { env: { NO_COLOR: "1" } })).shown, "\u001B[1m")
  })

  it("what others have named or written cannot steer it, and keeps its colors", async () => {
    const name = "\u001B]0;a\u0007\u001B[2J\u009B3J\b\u001B[31mred"
    await Cli.succeed(["groups", "create", name, "--data", data])
    const { shown } = await onTerminal("groups list")
    assert.include(shown, "\uFFFD]0;a\uFFFD\uFFFD[2J\uFFFD3J\uFFFD\u001B[31mred")
    const { stdout } = await Cli.succeed(["groups", "list", "--data", data])
    assert.include(stdout, name)
    const failed = await onTerminal(`groups show ${name}x`)
    assert.notInclude(failed.shown, "\u0007")
  })
})
