/**
 * How commands connect to a control room, and what they print.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import { readCredentials } from "@signalbox/api/Credentials"
import { layer as connect, layerConfig } from "@signalbox/api/node"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Folder from "@signalbox/transport/Folder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Flag from "effect/cli/Flag"
import { join } from "node:path"
import { ContextFlag } from "./ContextFlag.ts"
import * as Contexts from "./Contexts.ts"
import { variable } from "../settings/FlagValues.ts"
import { word } from "../text/ShellWord.ts"

/** It is not clear which control room is meant, or there is no way to reach it. */
export class ConnectionError extends TaggedError<ConnectionError>()("ConnectionError", {
  message: Schema.String
}) {}

/** Flags of every command that talks to a control room. */
export const connectionFlags = {
  data: Flag.String("data").pipe(
    Flag.withDescription(
      "The data folder of a control room that runs on this machine; default: the control room of SIGNALBOX_BASE_URL, SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID, which must be set together; without them, .signalbox"
    ),
    Flag.optional
  ),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Print JSON, a line for each result"), Flag.withDefault(false))
}

/** Where the connection of a command comes from, as questions and `doctor` name it. */
export const ConnectionName = Context.Reference<string>("signalbox/ConnectionName", {
  defaultValue: () => "this program"
})

const setVariables = (names: ReadonlyArray<string>) =>
  Effect.filter(names, (name) => Effect.map(Effect.option(Config.NonEmptyString(name)), Option.isSome))

const refuse = (message: string) => Effect.fail(new ConnectionError({ message }))

const ofFolder = (folder: string) => {
  const path = join(folder, "credentials.json")
  const message = `no usable credentials in ${path}: start a control room there with \`signalbox up --data ${word(folder)}\``
  const read = Effect.mapError(readCredentials(path), (error) =>
    error._tag === "PlatformError" && error.reason._tag === "PermissionDenied"
      ? error
      : new ConnectionError({ message })
  )
  return Effect.map(Effect.andThen(Folder.check(folder), read), (options) => ({
    name: `the folder ${folder}`,
    room: connect(options)
  }))
}

const ofContext = (name: string) =>
  Effect.map(Contexts.get(name), ({ api_key, base_url, workspace_id }) => ({
    name: `the context ${name}`,
    room: connect({ baseUrl: base_url, workspaceId: workspace_id, apiKey: Redacted.make(api_key) })
  }))

/** Without a flag. A connection that is set in part, or in two ways, is refused: it might change the wrong control room. */
const ofEnvironment = Effect.gen(function* () {
  const [stray] = yield* setVariables(["SIGNALBOX_URL"])
  if (stray !== undefined) {
    return yield* refuse(`${stray} is not read: set SIGNALBOX_BASE_URL, SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID`)
  }
  const set = yield* setVariables(["SIGNALBOX_BASE_URL", "SIGNALBOX_API_KEY", "SIGNALBOX_WORKSPACE_ID"])
  const context = yield* variable("SIGNALBOX_CONTEXT")
  if (context === null) {
    const folder = (yield* variable("SIGNALBOX_DATA")) ?? ".signalbox"
    return { name: set.length > 0 ? "the environment" : `the folder ${folder}`, room: layerConfig }
  }
  if (set.length > 0) {
    return yield* refuse(
      `SIGNALBOX_CONTEXT and ${set.join(", ")} are set: unset one of the two, or choose with --context`
    )
  }
  return yield* ofContext(context)
})

const layerFor = (data: Option.Option<string>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const context = yield* ContextFlag
      if (Option.isSome(data) && Option.isSome(context)) {
        return yield* refuse("--data and --context name two control rooms: use one of them")
      }
      const { name, room } = Option.isSome(data)
        ? yield* ofFolder(data.value)
        : Option.isSome(context)
          ? yield* ofContext(context.value)
          : yield* ofEnvironment
      return Layer.merge(room, Layer.succeed(ConnectionName, name))
    })
  )

/** Connects a command by its flags. */
export const connected = (data: Option.Option<string>) => Effect.provide(layerFor(data))

/** Prints a result as JSON, or as a line for people. */
export const print = <A>(json: boolean, value: A, line: (value: A) => string) =>
  Console.log(json ? JSON.stringify(value) : line(value))

/** Columns of a line, each as wide as given. */
export const columns = (...cells: ReadonlyArray<readonly [text: string, width: number]>) =>
  cells
    .map(([text, width]) => text.padEnd(width))
    .join("  ")
    .trimEnd()
