/** The help texts, and that the README has every command. */
import { assert, describe, it } from "@effect/vitest"
import { alertRuleTypes } from "@signalbox/api/contract/Alerts"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { signalbox, succeed } from "./support/Cli.ts"

const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8")

const namesIn = (help: string) =>
  [...(help.split("SUBCOMMANDS\n")[1] ?? "").matchAll(/^ {2}(\S+) {2,}\S/gm)].map(([, name = ""]) => name)

describe("the help", () => {
  it("lists every command, each has examples, and the README has each", async () => {
    const { stdout } = await succeed(["--help"])
    // In groups, each with a title.
    const commands = [...(stdout.split("GLOBAL FLAGS")[1]?.matchAll(/^ {2}([a-z]\S+) {2,}\S/gm) ?? [])].map(
      ([, name = ""]) => name
    )
    assert.isAtLeast([...stdout.matchAll(/^[A-Z].*:$/gm)].length, 6)
    assert.notInclude(stdout, "SUBCOMMANDS")
    assert.includeMembers(commands, [
      "up",
      "run",
      "keys",
      "worker",
      "workspaces",
      "apply",
      "check",
      "migrate",
      "vault",
      "config",
      "graph-sandbox"
    ])
    const check = async (path: ReadonlyArray<string>): Promise<void> => {
      const { stdout } = await succeed([...path, "--help"])
      const subcommands = namesIn(stdout)
      if (subcommands.length === 0) assert.match(stdout, /EXAMPLES\n/, path.join(" "))
      assert.match(readme, new RegExp(`signalbox ${path.join("[^\\n]* \\b")}\\b`))
      await Promise.all(subcommands.map((name) => check([...path, name])))
    }
    await Promise.all(commands.map((command) => check([command])))
  })

  it("has the rules of alerts with the parameters of each", async () => {
    const { stdout } = await succeed(["alerts", "create", "--help"])
    for (const rule of alertRuleTypes) assert.match(stdout, new RegExp(`^ +${rule} +\\S.*\\n +--set \\S`, "m"), rule)
    assert.match(stdout, /nothing_completed .*\n +--set process, seconds, \[hours\]\n/)
    const { stdout: group } = await succeed(["alerts", "--help"])
    assert.match(group, /create +Creates an alert\n/)
  })

  it("completes every command in bash, zsh and fish", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { stdout } = await succeed(["--completions", shell])
      assert.match(stdout, /processes[^]*deliveries|deliveries[^]*processes/, shell)
    }
  })

  it("is named by the error when a command line cannot be read, which exits with 2", async () => {
    for (const args of [["keys", "frob"], ["frob"], ["up", "--frob"]]) {
      const { status, stderr } = await signalbox(args)
      assert.strictEqual(status, 2, stderr)
      assert.match(stderr, /^signalbox: .*frob.*; see `signalbox.* --help`\n$/)
    }
  })
})
