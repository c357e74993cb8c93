import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { join } from "node:path"
import { filesIn, root, run, textOf } from "./Files.ts"

const packages = ["signalbox", "worker"].flatMap((name) => filesIn(`packages/${name}/src`))
/** The settings in a text; those of tests apart. */
const settingsIn = (text: string) => text.match(/SIGNALBOX_(?!TEST_)[A-Z0-9_]*[A-Z0-9]/g) ?? []

const known = new Set(packages.flatMap((path) => settingsIn(textOf(path))))

const pages = ["deploy", "kubernetes", "nodes", "upgrade", "keys"].map((name) => `docs/operate/${name}.md`)
const files = [...filesIn("deploy"), "examples/container/README.md", ...pages]

describe("files and pages of the deployment", () => {
  it("name settings that are read", () => {
    for (const path of files) {
      for (const name of settingsIn(textOf(path))) assert.ok(known.has(name), `${path}: ${name}`)
    }
  })

  it("give commands flags that they have", () => {
    const helps = new Map<string, string>()
    const helpOf = (command: string) => {
      const known = helps.get(command)
      if (known !== undefined) return known
      const bin = join(root, "packages/signalbox/src/bin.ts")
      const { output = "" } = run(process.execPath, [bin, ...command.split(" "), "--help"]) ?? {}
      helps.set(command, output)
      return output
    }
    // A command has one or two words; what follows is arguments, up to what ends the line or the code.
    const call =
      /signalbox[", ]+((?:up|worker|backup|restore|migrate|vault|check|resume|queue|keys|groups)\b(?:[", ]+(?:start|link-token|prepare|unlink|rotate-key|create|revoke)\b)?)([^|;\n`#)\]]*)/g
    let checked = 0
    for (const path of files) {
      for (const [, command = "", rest = ""] of textOf(path).replaceAll("\\\n", " ").matchAll(call)) {
        for (const [flag] of rest.matchAll(/--[a-z][a-z-]+/g)) {
          assert.ok(helpOf(command.replace(/[", ]+/g, " ")).includes(flag), `${path}: signalbox ${command} ${flag}`)
          checked += 1
        }
      }
    }
    assert.ok(checked > 5, `only ${checked} flags were found`)
  })
})
