/** TypeScript and JavaScript files of the user that a command loads. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"

/** The file does not exist, does not compile, or throws when it is loaded. */
export class ModuleError extends TaggedError<ModuleError>()("ModuleError", { message: Schema.String }) {}

/** Whether a path is that of a module. */
export const isModule = (path: string) => /\.[cm]?[jt]s$/.test(path)

/** Where Node found the error, `file:line`, which stands first in the stack of a syntax error. */
const placeOf = (error: Error) => /^(?:file:\/\/)?(\/[^\n?]*)(?:\?[^\n:]*)?(:\d+)\n/.exec(error.stack ?? "")

const problemOf = (file: string, cause: unknown): string => {
  if (!existsSync(resolve(file)))
    return `cannot load ${file}: the file does not exist; give its path relative to this folder`
  const code = Predicate.hasProperty(cause, "code") ? cause.code : null
  if (cause instanceof Error && code === "ERR_MODULE_NOT_FOUND") {
    const what = cause.message.replace(/ imported from [^]*$/, "").replace(/\?reload=\d+/, "")
    return `cannot load ${file}: ${what}; install the package that it imports, or correct the path`
  }
  if (cause instanceof SyntaxError) {
    const [, path = file, line = ""] = placeOf(cause) ?? []
    return `cannot load ${file}: ${cause.message} (${path}${line}); correct the syntax`
  }
  return `cannot load ${file}: ${String(cause)}`
}

/**
 * Imports a module by its path from the current folder, and returns what it exports, by name. `suffix`: what `Reloading` gives
 * to load it again.
 */
export const load = (file: string, suffix = ""): Effect.Effect<Readonly<Record<string, unknown>>, ModuleError> =>
  Effect.tryPromise({
    try: (): Promise<Readonly<Record<string, unknown>>> => import(`${pathToFileURL(resolve(file)).href}${suffix}`),
    catch: (cause) => new ModuleError({ message: problemOf(file, cause) })
  })

/** The path of what a file would import; none when the package is not installed for it. */
const resolveFrom = (file: string, specifier: string): Option.Option<string> =>
  Option.liftThrowable(createRequire(resolve(file)).resolve)(specifier)

/** An installed package: its name, a module of it, and the package that may bring it along. */
interface Installed {
  readonly name: string
  readonly module: string
  readonly broughtBy?: string
}

/**
 * Imports a module of a package as the file of the user imports it, and returns it with its path. The command is a bundle with its
 * own copy of `effect`, which does not understand all values of another copy: what runs code of the user comes from the user's.
 * `M`: the type of the module, which is of the version that the command was built with.
 */
export const importFor = Effect.fnUntraced(function* <M>(file: string, { broughtBy, module, name }: Installed) {
  const specifier = `${name}/${module}`
  const path = Option.orElse(resolveFrom(file, specifier), () =>
    // Of strict package managers, which do not let a file import what its packages depend on.
    broughtBy === undefined
      ? Option.none()
      : Option.flatMap(resolveFrom(file, broughtBy), (path) => resolveFrom(path, specifier))
  )
  if (Option.isNone(path)) {
    return yield* new ModuleError({
      message: `cannot find ${name} from ${file}; install it in the folder of the file: npm install ${name}`
    })
  }
  const { href } = pathToFileURL(path.value)
  const imported = yield* Effect.tryPromise({
    try: (): Promise<M> => import(href),
    catch: (cause) => new ModuleError({ message: `cannot load ${specifier} for ${file}: ${String(cause)}` })
  })
  return { module: imported, path: path.value }
})
