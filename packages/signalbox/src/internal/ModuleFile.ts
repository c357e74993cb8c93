/**
 * TypeScript and JavaScript files of the user that a command loads.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"

/** The file does not exist, does not compile, or throws when it is loaded. */
export class ModuleError extends Schema.TaggedError<ModuleError>()("ModuleError", { message: Schema.String }) {}

/** Imports a module by its path from the current folder, and returns what it exports, by name. */
export const load = (file: string): Effect.Effect<Readonly<Record<string, unknown>>, ModuleError> =>
  Effect.tryPromise({
    try: (): Promise<Readonly<Record<string, unknown>>> => import(pathToFileURL(resolve(file)).href),
    catch: (cause) => new ModuleError({ message: `cannot load ${file}: ${String(cause)}` })
  })
