/** `signalbox init`: a folder to begin with. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { basename, dirname, join, resolve } from "node:path"
import packageJson from "../../../../package.json" with { type: "json" }
import * as Scaffold from "../../files/Scaffold.ts"
import { word } from "../../text/ShellWord.ts"

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
    return yield* new InitError({
      message: `${folder} already has ${names}: choose a new folder, or one without these files`
    })
  }
  for (const [name, text] of files) {
    yield* fs.makeDirectory(dirname(join(folder, name)), { recursive: true })
    yield* fs.writeFileString(join(folder, name), text, name === ".env" ? { mode: 0o600 } : {})
  }
})

interface Said {
  /** What was written. */
  readonly made: string
  /** What comes after `npm install` and `npm test`. */
  readonly next: string
}

const dev = "  npm run dev           # a control room that reloads the tasks when they change\n"
const flow = "  npm run flow Ada      # from a second terminal: runs the flow"
const rest = "a flow of it (flow.ts) and a test (flow.test.ts)"

const backend: Said = {
  made: `a process (process.ts) with a task (tasks.ts), a durable flow of it (flow.ts), a server (server.ts) and a test (flow.test.ts)`,
  next:
    `${dev}  npm run deploy        # from a second terminal: the process\n` +
    "  npm run customers &   # in place of a service\n  npm start             # the backend; README.md has its requests"
}

const said: Readonly<Record<Scaffold.Form, Said>> = {
  typescript: { made: `a process (process.ts) with a task (tasks.ts), ${rest}`, next: dev + flow },
  python: {
    made: `a process (process.ts) with a task (tasks.ts) and a robot in Python (robots/letters), ${rest}`,
    next: `${dev}  npm run deploy        # from a second terminal: uploads the robot\n${flow}`
  },
  fastify: backend,
  express: backend,
  hono: backend
}

interface Flags {
  readonly durable: boolean
  readonly python: boolean
  readonly server: Option.Option<(typeof Scaffold.servers)[number]>
}

const formOf = ({ durable, python, server }: Flags): Effect.Effect<Scaffold.Form, InitError> => {
  if (durable && python) {
    return Effect.fail(new InitError({ message: "--durable and --python: use one of them" }))
  }
  if (durable) return Effect.succeed(Option.getOrElse(server, () => "fastify"))
  if (Option.isSome(server)) {
    return Effect.fail(
      new InitError({ message: `--server ${server.value}: add --durable; only a backend has a server` })
    )
  }
  return Effect.succeed(python ? "python" : "typescript")
}

export const init = Command.make(
  "init",
  {
    folder: Argument.String("folder").pipe(
      Argument.withDescription("The folder to create; default: the current folder"),
      Argument.withDefault(".")
    ),
    python: Flag.Boolean("python").pipe(
      Flag.withDescription("Add a robot in Python, robot.py"),
      Flag.withDefault(false)
    ),
    durable: Flag.Boolean("durable").pipe(
      Flag.withDescription("Create a backend with a durable flow, flow management and callbacks"),
      Flag.withDefault(false)
    ),
    server: Flag.Literals("server", Scaffold.servers).pipe(
      Flag.withDescription("The server of the backend, with --durable; default: fastify"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ folder, ...flags }) {
    const form = yield* formOf(flags)
    yield* Effect.catchTag(write(folder, form), "PlatformError", ({ message }) =>
      Effect.fail(new InitError({ message: `cannot write ${folder}: ${message}; check the path and its permissions` }))
    )
    const enter = folder === "." ? "" : `  cd ${word(folder)}\n`
    const { made, next } = said[form]
    yield* Console.log(
      `Created ${made}. Next:\n${enter}  npm install\n  npm test              # in memory, without a server\n${next}`
    )
  })
).pipe(
  Command.withDescription(
    "Creates a project with a process, a flow, a test, a workflow and package.json; existing files are never replaced"
  ),
  Command.withExamples([
    { command: "npx signalbox init greetings", description: "Then run npm install and npm run dev" },
    { command: "npx signalbox init letters --python", description: "Add a robot in Python" },
    { command: "npx signalbox init welcomes --durable --server express", description: "Create a backend on Express" }
  ])
)
