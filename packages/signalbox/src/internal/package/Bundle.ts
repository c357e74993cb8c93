/** Bundles a tasks file with what it imports, by the rolldown of its project. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { createRequire, isBuiltin } from "node:module"
import { basename, dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { stripVTControlCharacters } from "node:util"
import type * as Rolldown from "rolldown"
import { TasksPackageError } from "./TasksPackageError.ts"

/** One module in the format of ECMAScript. */
export interface Bundle {
  readonly code: string
  /** The files whose code it has. */
  readonly modules: ReadonlyArray<string>
  /** Compiled parts that some of them load, which it does not have. */
  readonly native: ReadonlyArray<string>
}

/** The bundler is not part of the command, since most never need it: its binary has 20 MB. */
const bundlerOf = Effect.fnUntraced(function* (file: string) {
  const path = yield* Effect.try({
    try: () => createRequire(file).resolve("rolldown"),
    catch: () =>
      new TasksPackageError({
        message: `cannot bundle ${basename(file)}: rolldown is not installed in its project; install it with \`npm install --save-dev rolldown\``
      })
  })
  return yield* Effect.tryPromise({
    try: (): Promise<typeof Rolldown> => import(pathToFileURL(path).href),
    catch: (cause) =>
      new TasksPackageError({
        message: `cannot load ${path}: ${String(cause)}; install rolldown in this project again`
      })
  })
})

/** The program of the package, which stands beside the tasks and imports what their project has. */
const programOf = (file: string) => `import * as Program from "@signalbox/worker/Program"
import { tasks } from ${JSON.stringify(`./${basename(file)}`)}
Program.run(tasks).pipe(Program.main)
`

/** The first line of the first error, without colors. */
const problemOf = (cause: unknown): string => {
  const errors = Predicate.hasProperty(cause, "errors") && Array.isArray(cause.errors) ? cause.errors : []
  const [first = cause]: ReadonlyArray<unknown> = errors
  const message = first instanceof Error ? first.message : String(first)
  return (stripVTControlCharacters(message).split("\n")[0] ?? "").replace(/^\[\w+\] /, "")
}

/** What a bundle still imports and Node does not have. */
const missingOf = ({ dynamicImports, fileName, imports }: Rolldown.OutputChunk) =>
  [...imports, ...dynamicImports].find((name) => name !== fileName && !isBuiltin(name))

/**
 * Bundles the program of a package. The same sources give the same code in every folder. Fails with `TasksPackageError` without rolldown,
 * for what does not compile, and for an import that leads nowhere.
 */
export const make = Effect.fn("Bundle.make")(function* (file: string, root: string) {
  const { build } = yield* bundlerOf(file)
  const program = join(dirname(file), "signalbox-program.mjs")
  const native = new Set<string>()
  const plugin: Rolldown.Plugin = {
    name: "signalbox",
    resolveId: (id) => (id === "signalbox-program" ? program : null),
    load: (id) => {
      if (id === program) return programOf(file)
      if (!id.endsWith(".node")) return null
      native.add(id)
      return "export default null"
    }
  }
  const { output } = yield* Effect.tryPromise({
    try: () =>
      build({
        input: "signalbox-program",
        cwd: root,
        platform: "node",
        write: false,
        logLevel: "silent",
        plugins: [plugin],
        // Comments with the paths of this machine.
        experimental: { attachDebugInfo: "none" },
        // Names stay as they are: they are in the stack of an error, and `error.name` may be the code of a failure.
        output: {
          format: "esm",
          codeSplitting: false,
          entryFileNames: "tasks.mjs",
          comments: { legal: true, jsdoc: false }
        }
      }),
    catch: (cause) => new TasksPackageError({ message: `cannot bundle ${basename(file)}: ${problemOf(cause)}` })
  })
  const [chunk] = output
  const missing = missingOf(chunk)
  if (missing !== undefined) {
    return yield* new TasksPackageError({
      message: `cannot bundle ${basename(file)}: ${missing} is not installed in its project; install it with \`npm install ${missing
        .split("/")
        .slice(0, missing.startsWith("@") ? 2 : 1)
        .join("/")}\``
    })
  }
  const modules = chunk.moduleIds.filter((id) => id !== program && !native.has(id))
  return { code: chunk.code, modules, native: [...native] } satisfies Bundle
})
