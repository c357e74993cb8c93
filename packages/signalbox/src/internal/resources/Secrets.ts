/** `signalbox secrets`: the vault. Values go in from variables and files, never from the command line, and never come out. */
import { TaggedError } from "@signalbox/transport/Printed"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import type { CallError } from "@signalbox/api/ControlRoomError"
import * as Secrets from "@signalbox/api/Secrets"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import { Stdio } from "effect/Stdio"
import { connected, connectionFlags, print } from "../connection/Connection.ts"
import * as FlagValues from "../settings/FlagValues.ts"
import { printFields } from "../output/List.ts"
import { readStandardInput } from "../files/StandardInput.ts"
import { deleteCommand, find, listCommand, nameArgument, type Noun, showCommand } from "./Resource.ts"

/** A flag of a secret is not usable. */
export class SecretFlagError extends TaggedError<SecretFlagError>()("SecretFlagError", {
  message: Schema.String
}) {}

export const secretNoun: Noun<Secrets.Secret> = {
  one: "secret",
  many: "secrets",
  command: "secrets",
  list: (only) => Secrets.stream(only),
  idOf: ({ name }) => name,
  nameOf: ({ name }) => name,
  columns: { name: ({ name }) => name, description: ({ description }) => description ?? "" },
  first: "create one with `signalbox secrets create`"
}

const unset = (what: string) => () => new SecretFlagError({ message: what })

/** Where the value of an item comes from; the line break at the end of a file is not part of it. */
const sources = {
  env: {
    expected: "ITEM=VARIABLE, such as password=SHOP_PASSWORD",
    read: (name: string) =>
      Effect.mapError(
        Config.String(name),
        unset(`--env: the environment variable ${name} is not set: set it, or name another`)
      )
  },
  file: {
    expected: "ITEM=PATH, such as key=shop.pem",
    read: Effect.fnUntraced(function* (path: string) {
      const fs = yield* FileSystem.FileSystem
      const text = yield* Effect.mapError(fs.readFileString(path), unset(`--file: cannot read ${path}`))
      return text.replace(/\r?\n$/, "")
    })
  }
} as const

const itemOf = Effect.fnUntraced(function* (source: keyof typeof sources, given: string) {
  const [, item, from] = /^([^=]+)=(.+)$/s.exec(given) ?? []
  const { expected, read } = sources[source]
  // What was given may be the value itself, so it is not repeated.
  if (item === undefined || from === undefined) {
    return yield* new SecretFlagError({ message: `--${source}: Expected ${expected}` })
  }
  return [item, Redacted.make(yield* read(from))] as const
})

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(
      Argument.withDescription("The name of the secret: letters, digits and underscores")
    ),
    env: Flag.String("env").pipe(
      Flag.withDescription("An item with the value of an environment variable; may be repeated"),
      Flag.withMetavar("ITEM=VARIABLE"),
      Flag.atLeast(0)
    ),
    file: Flag.String("file").pipe(
      Flag.withDescription("An item with the text of a file; may be repeated"),
      Flag.withMetavar("ITEM=PATH"),
      Flag.atLeast(0)
    ),
    host: Flag.String("host").pipe(
      Flag.withDescription(
        "A host to which the control room may send the secret, such as the host of a repository; may be repeated"
      ),
      Flag.withMetavar("HOST"),
      Flag.atLeast(0)
    ),
    description: Flag.String("description").pipe(Flag.withDescription("The description of the secret"), Flag.optional),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, description, env, file, host, json, name }) {
    const items = [
      ...(yield* Effect.forEach(env, (given) => itemOf("env", given))),
      ...(yield* Effect.forEach(file, (given) => itemOf("file", given)))
    ]
    if (items.length === 0) {
      return yield* new SecretFlagError({
        message: "a secret needs an item: use --env ITEM=VARIABLE or --file ITEM=PATH"
      })
    }
    const content = {
      items: Object.fromEntries(items),
      description: Option.getOrUndefined(description),
      hosts: host.length === 0 ? undefined : host
    }
    yield* printFields(json, yield* connected(data)(Secrets.put(name, content)))
  })
).pipe(
  Command.withDescription("Creates a secret, or replaces all items of an existing one"),
  Command.withExamples([
    {
      command: "signalbox secrets create shop --env user=SHOP_USER --env password=SHOP_PASSWORD",
      description: "Read values from variables or files, since other users can see command lines"
    }
  ])
)

/** From a file, a pipe or the terminal; never from an argument, which others could see. */
const readValue = Effect.fnUntraced(function* (file: Option.Option<string>) {
  const stdio = yield* Stdio
  const refuse = (message: string) => Effect.fail(new SecretFlagError({ message }))
  const value = yield* Effect.gen(function* () {
    if (Option.isSome(file)) {
      const fs = yield* FileSystem.FileSystem
      return yield* Effect.catch(fs.readFileString(file.value), () =>
        refuse(`--value-file: cannot read ${file.value}; check the path and its permissions`)
      )
    }
    if (!(yield* stdio.stdinIsTerminal)) return yield* readStandardInput
    const typed = Prompt.Password({ message: "The value" })
    return Redacted.value(yield* Effect.catch(typed, () => refuse("no value given: nothing was changed")))
  })
  const text = value.replace(/\r?\n$/, "")
  return text === ""
    ? yield* refuse("the value is empty: pass it with --value-file, on standard input, or on a terminal")
    : Redacted.make(text)
})

const set = Command.make(
  "set",
  {
    name: nameArgument(secretNoun),
    item: Argument.String("item").pipe(Argument.withDescription("The name of a new or existing item of the secret")),
    valueFile: FlagValues.text("value-file", "A file with the value; default: standard input", "PATH"),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, item, json, name, valueFile }) {
    const value = yield* readValue(valueFile)
    const written = yield* Secrets.setItems(name, { items: { [item]: value } }).pipe(
      // The list says which there are.
      Effect.catchTag("NotFound", (error) => Effect.andThen(find(secretNoun, name), Effect.fail(error))),
      connected(data)
    )
    yield* print(json, written, () => `set ${item} of the secret ${name}; other items are unchanged`)
  })
).pipe(
  Command.withDescription(
    "Sets one item of a secret and leaves the others unchanged. Prompts for the value, or reads it from a pipe or a file"
  ),
  Command.withExamples([
    { command: "signalbox secrets set shop password", description: "Enter the value at a prompt" },
    {
      command: "pass show shop | signalbox secrets set shop password",
      description: "Read the value from another program"
    },
    { command: "signalbox secrets set shop key --value-file shop.pem", description: "Read the value from a file" }
  ])
)

const lacksOperation = (error: CallError) =>
  error._tag === "NotFound" ||
  (error._tag === "ControlRoomError" &&
    error.reason._tag === "Unexpected" &&
    (error.reason.status === 405 || error.reason.status === 501))

/** Of a service that cannot get a secret, as the hosted one, what its list has: name and description. */
const show = (listed: Secrets.Secret): Effect.Effect<Secrets.Secret, CallError, ControlRoom> =>
  Effect.catchIf(Secrets.get(listed.name), lacksOperation, () => Effect.succeed(listed))

export const secrets = Command.make("secrets").pipe(
  Command.withDescription("Lists, shows, creates, changes and deletes secrets; their values are never shown"),
  Command.withSubcommands([
    listCommand(secretNoun),
    showCommand(secretNoun, show),
    create,
    set,
    deleteCommand(secretNoun, ({ name }) => Secrets.remove(name))
  ])
)
