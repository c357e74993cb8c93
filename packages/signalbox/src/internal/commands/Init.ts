/** `signalbox init`: a folder to begin with. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { basename, dirname, join, resolve } from "node:path"
import packageJson from "../../../package.json" with { type: "json" }
import * as Scaffold from "../Scaffold.ts"
import { word } from "../ShellWord.ts"

/** The folder cannot be written, or has files that would be replaced. */
export class InitError extends TaggedError<InitError>()("InitError", { message: Schema.String }) {}

/** A name that npm takes. */
const packageName = (folder: string) =>
  basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "") || "automation"

const write = Effect.fnUntraced(function* (folder: string, form: Scaffold.Form) {
  const fs = yield* FileSystem.FileSystem
  const files = [...(yield* Scaffold.files(form, packageName(folder), packageJson.version))]
  const there = yield* Effect.filter(files, ([name]) => fs.exists(join(folder, name)))
  if (there.length > 0) {
    const names = there.map(([name]) => name).join(", ")
    return yield* new InitError({ message: `${folder} has ${names} already: give a folder that is new or has none` })
  }
  for (const [name, text] of files) {
    yield* fs.makeDirectory(dirname(join(folder, name)), { recursive: true })
    yield* fs.writeFileString(join(folder, name), text)
  }
})

/** What each form is, and the commands that it needs besides. */
const made: Readonly<Record<Scaffold.Form, { readonly what: string; readonly before: string }>> = {
  typescript: { what: "A process (process.ts) with a task (tasks.ts)", before: "" },
  python: {
    what: "A process (process.ts) with a task (tasks.ts) and a robot in Python (robots/letters)",
    before: "  npm run deploy        # from a second terminal: uploads the robot\n"
  }
}

export const init = Command.make(
  "init",
  {
    folder: Argument.String("folder").pipe(
      Argument.withDescription("The folder to make; default: this one"),
      Argument.withDefault(".")
    ),
    python: Flag.Boolean("python").pipe(
      Flag.withDescription("With a robot in Python, with robot.py"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ folder, python }) {
    const form = python ? "python" : "typescript"
    yield* Effect.catchTag(write(folder, form), "PlatformError", ({ message }) =>
      Effect.fail(new InitError({ message: `cannot write ${folder}: ${message}; check the path and its permissions` }))
    )
    const enter = folder === "." ? "" : `  cd ${word(folder)}\n`
    yield* Console.log(
      `${made[form].what}, a flow of it (flow.ts) and a test (flow.test.ts) are there. Next:\n${enter}` +
        "  npm install\n  npm test              # in memory, without a server\n" +
        `  npm run dev           # a control room here, with the tasks loaded again when they change\n${made[form].before}` +
        "  npm run flow Ada      # from a second terminal: runs the flow"
    )
  })
).pipe(
  Command.withDescription(
    "Writes a folder with a process, a flow, a test, a workflow and package.json; replaces nothing"
  ),
  Command.withExamples([
    { command: "npx signalbox init greetings", description: "Then: npm install, npm run dev" },
    { command: "npx signalbox init letters --python", description: "With a robot in Python" }
  ])
)
