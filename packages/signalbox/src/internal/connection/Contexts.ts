/** Named connections, which `signalbox login` keeps in the user's own configuration folder. */
import { TaggedError } from "@signalbox/transport/Printed"
import { Credentials } from "@signalbox/api/Credentials"
import * as Config from "effect/Config"
import * as Folder from "@signalbox/transport/Folder"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { dirname, join } from "node:path"
import { suggest } from "@signalbox/transport/Suggestions"

/** There is no context of this name, or the file of contexts cannot be used. */
export class ContextError extends TaggedError<ContextError>()("ContextError", { message: Schema.String }) {}

/** What a context may be called: something that needs no quotes in a shell. */
export const ContextName = Schema.String.check(
  Schema.isPattern(/^[\w.-]{1,64}$/, { message: "Expected 1 to 64 letters, digits, dots, dashes and underscores" })
)

const Contexts = Schema.Record(Schema.String, Credentials)
export type Contexts = typeof Contexts.Type

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Contexts))

const folderOf = Effect.gen(function* () {
  const given = yield* Effect.option(Config.NonEmptyString("XDG_CONFIG_HOME"))
  if (Option.isSome(given)) return given.value
  const home = yield* Effect.mapError(
    Config.NonEmptyString("HOME"),
    () => new ContextError({ message: "contexts are stored in your home folder: set HOME or XDG_CONFIG_HOME" })
  )
  return join(home, ".config")
})

/** The file of the contexts. */
export const file = Effect.map(folderOf, (folder) => join(folder, "signalbox", "contexts.json"))

/** All contexts; none while there is no file. */
export const read = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* file
  const unusable = (problem: string) =>
    new ContextError({ message: `${path} ${problem}: correct it, or remove it and log in again` })
  if (!(yield* Effect.orElseSucceed(fs.exists(path), () => false))) return {} satisfies Contexts
  const text = yield* Effect.mapError(fs.readFileString(path), () => unusable("cannot be read"))
  return yield* Effect.mapError(decode(text), () => unusable("contains no contexts"))
})

/** Written under a temporary name and renamed, so that readers never see a partial file. It holds keys: 0600. */
const write = Effect.fnUntraced(function* (contexts: Contexts) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* file
  const temporary = `${path}.new`
  yield* Effect.gen(function* () {
    yield* Folder.check(dirname(path))
    yield* fs.makeDirectory(dirname(path), { recursive: true, mode: 0o700 })
    yield* fs.remove(temporary, { force: true })
    yield* fs.writeFileString(temporary, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600, flag: "wx" })
    yield* fs.rename(temporary, path)
  }).pipe(
    Effect.mapError(() => new ContextError({ message: `cannot write ${path}: check the permissions of its folder` }))
  )
  return path
})

/** Keeps a context under a name, in place of an older one; returns the path of the file. */
export const save = Effect.fn("Contexts.save")(function* (name: string, credentials: Credentials) {
  return yield* write({ ...(yield* read), [name]: credentials })
})

/** One context, by its name. */
export const get = Effect.fn("Contexts.get")(function* (name: string) {
  const contexts = yield* read
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined
  if (found !== undefined) return found
  const known = Object.keys(contexts)
  const remedy =
    known.length === 0
      ? `create it with \`signalbox login ${name}\``
      : `${suggest(name, known)} (signalbox contexts list)`
  return yield* new ContextError({ message: `no context has the name ${name}: ${remedy}` })
})

/** Forgets a context; the key in it stays valid. */
export const remove = Effect.fn("Contexts.remove")(function* (name: string) {
  yield* get(name)
  const { [name]: _, ...rest } = yield* read
  yield* write(rest)
})
