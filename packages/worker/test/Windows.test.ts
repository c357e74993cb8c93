/** What the worker does on Windows, as far as it can be told without one: nothing of this was run there. */
import { assert, describe, it } from "@effect/vitest"
import * as Variables from "../src/internal/environments/Variables.ts"
import * as Windows from "../src/internal/process/Windows.ts"

describe("on Windows", () => {
  it("the programs of an environment are in Scripts, and those of conda also beside it", () => {
    const prefix = "C:\\worker\\environments\\1"
    assert.deepStrictEqual(Windows.binariesOf(prefix, "win32"), [
      prefix,
      `${prefix}\\Scripts`,
      `${prefix}\\Library\\bin`
    ])
    assert.strictEqual(Windows.pythonOf(prefix, "win32"), `${prefix}\\Scripts\\python.exe`)
    assert.deepStrictEqual(Windows.binariesOf("/e/1", "linux"), ["/e/1/bin"])
    assert.strictEqual(Windows.pythonOf("/e/1", "darwin"), "/e/1/bin/python")
    assert.deepStrictEqual(Windows.programSuffixes("win32"), [".exe", ".cmd", ".bat"])
  })

  it("a tree of processes is ended by taskkill, elsewhere by a signal to its group", () => {
    assert.deepStrictEqual(Windows.endTreeCommand(4711, "win32"), ["taskkill.exe", "/PID", "4711", "/T", "/F"])
    assert.isNull(Windows.endTreeCommand(4711, "linux"))
  })

  it("the start of a process, by which a later one of its number is told apart, is asked of PowerShell", () => {
    const [program, ...args] = Windows.startedCommand(4711, "win32")
    assert.strictEqual(program, "powershell.exe")
    assert.match(args.at(-1) ?? "", /Get-Process -Id 4711 .*StartTime/)
    assert.deepStrictEqual(Windows.startedCommand(4711, "darwin"), ["ps", "-o", "lstart=", "-p", "4711"])
  })

  it("variables are inherited whatever their case, and PATH under one name", () => {
    const own = { Path: "C:\\bin", SystemRoot: "C:\\Windows", UserProfile: "C:\\u", AWS_SECRET: "s" }
    assert.deepStrictEqual(Variables.inheritedFrom(own), {
      PATH: "C:\\bin",
      SystemRoot: "C:\\Windows",
      UserProfile: "C:\\u"
    })
  })
})
