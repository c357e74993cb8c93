/** Examples of the help: each is a command line that the command can read, with arguments, flags and choices that exist. */
import * as NodeServices from "@signalbox/platform/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Command from "effect/cli/Command"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as CommandLine from "../src/internal/main/CommandLine.ts"
import * as Program from "../src/internal/main/Program.ts"
import * as UsageErrors from "../src/internal/output/UsageErrors.ts"

const examplesOf = ({ examples, subcommands }: Command.Command.Any): ReadonlyArray<string> => [
  ...examples.map(({ command }) => command),
  ...subcommands.flatMap(({ commands }) => commands.flatMap(examplesOf))
]

/** A shell reads the examples, in which every `signalbox` only notes its arguments. */
const shell = `
signalbox() { printf '%s\\0' "$@" >&3; printf '\\n\\0' >&3; }
npx() { "$@"; }
eval() { :; }
source() { cat; }
`

/** The arguments of every \`signalbox\` in these lines. */
const argumentsIn = (lines: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-examples-"))
  try {
    execFileSync("bash", ["-c", `exec 3> noted 2> /dev/null\n${shell}${lines.join("\n")}\ntrue`], { cwd: folder })
    const noted = readFileSync(join(folder, "noted"), "utf8").split("\n\0").slice(0, -1)
    return noted.map((args) => args.split("\0").slice(0, -1))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The error of a test has what could not be read. */
const silent: Console.Console = Object.assign(Object.create(console), { error: () => {} })

/** Reads a command line as `Program.run` does, and runs nothing. */
const read = Effect.fnUntraced(
  function* (args: ReadonlyArray<string>) {
    const command = CommandLine.make(yield* Program.asked(args)).pipe(Command.withHandler(() => Effect.void))
    yield* Command.runWith(command, { version: "" })(args)
  },
  Effect.provide(Layer.mergeAll(NodeServices.layer, UsageErrors.layer, Layer.succeed(Console.Console, silent)))
)

describe("the examples of the help", () => {
  it.effect("can be read by the command", () =>
    Effect.gen(function* () {
      const examples = examplesOf(CommandLine.make(yield* Program.asked([])))
      const lines = argumentsIn(examples)
      assert.isAtLeast(lines.length, examples.length)
      for (const args of lines)
        yield* Effect.mapError(read(args), (error) =>
          [args.join(" "), error.message, ...("errors" in error ? error.errors : [])].map(String).join(": ")
        )
    })
  )

  it.effect("could not be with another flag, argument or choice", () =>
    Effect.gen(function* () {
      for (const args of [
        ["keys", "list", "--frob"],
        ["keys", "revoke"],
        ["alerts", "firings", "--state", "frob"]
      ])
        yield* Effect.flip(read(args))
    })
  )
})
