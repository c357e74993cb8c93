/**
 * How commands connect to a control room, and what they print.
 */
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import { readCredentials } from "@signalbox/api/Credentials"
import { layer as connect, layerConfig, type NotConfigured } from "@signalbox/api/node"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Flag from "effect/cli/Flag"
import { join } from "node:path"

/** The folder given with `--data` has no usable credentials. */
export class NoCredentials extends Schema.TaggedError<NoCredentials>()("NoCredentials", { message: Schema.String }) {}

/** Flags of every command that talks to a control room. */
export const connectionFlags = {
  data: Flag.String("data").pipe(
    Flag.withDescription(
      "The data folder of a control room that runs on this machine; default: the one of SIGNALBOX_BASE_URL, SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID, which are needed together; with none of them set, .signalbox"
    ),
    Flag.optional
  ),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Print JSON, a line for each result"), Flag.withDefault(false))
}

const layerFor = (
  data: Option.Option<string>
): Layer.Layer<ControlRoom, NoCredentials | NotConfigured, FileSystem.FileSystem> => {
  if (Option.isNone(data)) return layerConfig
  const path = join(data.value, "credentials.json")
  const message = `no usable ${path}: start a control room there with \`signalbox up --data ${data.value}\``
  return Layer.unwrap(
    readCredentials(path).pipe(
      Effect.map(connect),
      Effect.mapError(() => new NoCredentials({ message }))
    )
  )
}

/** Connects a command by its flags. */
export const connected = (data: Option.Option<string>) => Effect.provide(layerFor(data))

/** The value of a flag, else of the variable, else none; an empty variable counts as unset. */
export const orVariable = Effect.fnUntraced(function* (flag: Option.Option<string>, variable: string) {
  if (Option.isSome(flag)) return flag.value
  const value = yield* Effect.option(Config.String(variable))
  return Option.getOrElse(value, () => "") || null
})

/** Prints a result as JSON, or as a line for people. */
export const print = <A>(json: boolean, value: A, line: (value: A) => string) =>
  Console.log(json ? JSON.stringify(value) : line(value))

/** Columns of a line, each as wide as given. */
export const columns = (...cells: ReadonlyArray<readonly [text: string, width: number]>) =>
  cells
    .map(([text, width]) => text.padEnd(width))
    .join("  ")
    .trimEnd()
