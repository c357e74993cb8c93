/** `signalbox init`: a folder to begin with. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { basename, join, resolve } from "node:path"
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

const write = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const files = Object.entries(Scaffold.files(packageName(folder), packageJson.version))
  const there = yield* Effect.filter(files, ([name]) => fs.exists(join(folder, name)))
  if (there.length > 0) {
    const names = there.map(([name]) => name).join(", ")
    return yield* new InitError({ message: `${folder} has ${names} already: give a folder that is new or has none` })
  }
  yield* fs.makeDirectory(folder, { recursive: true })
  yield* Effect.forEach(files, ([name, text]) => fs.writeFileString(join(folder, name), text), { discard: true })
})

export const init = Command.make(
  "init",
  {
    folder: Argument.String("folder").pipe(
      Argument.withDescription("The folder to make; default: this one"),
      Argument.withDefault(".")
    )
  },
  Effect.fnUntraced(function* ({ folder }) {
    yield* Effect.catchTag(write(folder), "PlatformError", ({ message }) =>
      Effect.fail(new InitError({ message: `cannot write ${folder}: ${message}; check the path and its permissions` }))
    )
    const enter = folder === "." ? "" : `  cd ${word(folder)}\n`
    yield* Console.log(
      `A task (tasks.ts), a flow of it (flow.ts) and a test (flow.test.ts) are there. Next:\n${enter}` +
        "  npm install\n  npm test              # in memory, without a server\n" +
        "  npm run dev           # a control room here, with the tasks loaded again when they change\n" +
        "  npm run flow Ada      # from a second terminal: runs the flow"
    )
  })
).pipe(
  Command.withDescription("Writes a folder with a task, a flow, a test and package.json; replaces nothing"),
  Command.withExamples([{ command: "npx signalbox init greetings", description: "Then: npm install, npm run dev" }])
)
