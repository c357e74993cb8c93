/** Projects of users: folders with a `package.json`, a tasks file, and what they have installed. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

const installed = join(import.meta.dirname, "..", "..", "node_modules")

/** What every project has installed that is packaged. */
const needed = ["@signalbox/worker", "effect", "rolldown"]

export type Files = Readonly<Record<string, string>>

export const write = (folder: string, files: Files) => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** A tasks file whose only task greets like this. */
export const tasks = (greeting: string, more = "") => `import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
${more}
const greet = Task.make("greet", {
  input: Schema.Struct({ name: Schema.String }),
  output: Schema.Struct({ greeting: Schema.String }),
  run: ({ payload }) => Effect.succeed({ greeting: \`${greeting}, \${payload.name}\` })
})

export const tasks = [greet]
`

/** Makes a project. `packages`: what it has installed of those that every project has. */
export const make = (folder: string, files: Files = {}, packages: ReadonlyArray<string> = needed) => {
  write(folder, {
    "package.json": JSON.stringify({ name: "@acme/greetings", type: "module" }),
    "tasks.ts": tasks("Hello"),
    ...files
  })
  for (const name of packages) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true })
    symlinkSync(join(installed, name), join(folder, "node_modules", name))
  }
  return folder
}
