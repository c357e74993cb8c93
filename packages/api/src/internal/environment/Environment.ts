/** The options of a connection, as the environment has them: variables, or the credentials of a local control room. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { ControlRoom, type Options } from "../../ControlRoom.ts"
import { readCredentials } from "../../Credentials.ts"

/** The environment configures a connection partly or invalidly, or not at all and no local control room exists. */
export class NotConfigured extends TaggedError<NotConfigured>()("NotConfigured", { message: Schema.String }) {}

const variables = ["SIGNALBOX_BASE_URL", "SIGNALBOX_API_KEY", "SIGNALBOX_WORKSPACE_ID"]

const list = new Intl.ListFormat("en")

/** The variables that are set; an empty one is not. */
const findVariables = Effect.gen(function* () {
  const values = yield* Effect.forEach(variables, (name) => Effect.option(Config.NonEmptyString(name)))
  const isSet = (_: string, index: number) => values[index]?._tag === "Some"
  return { set: variables.filter(isSet), missing: variables.filter((name, index) => !isSet(name, index)) }
})

/** Says what is wrong with a variable, never its value. */
export const notConfigured = (error: Config.ConfigError): NotConfigured => {
  const text = error.message.replace(/^SchemaError\((.*)\)$/s, "$1")
  return new NotConfigured({ message: text.replace(/^(.*)\n *at \["(\w+)"\].*$/s, "$2: $1") })
}

/**
 * The options of a connection: of the variables `SIGNALBOX_BASE_URL`, `SIGNALBOX_API_KEY` and `SIGNALBOX_WORKSPACE_ID`, or, when none
 * of them is set, of the `credentials.json` of a control room that runs from this folder.
 */
export const findOptions: Effect.Effect<Options, NotConfigured, FileSystem.FileSystem> = Effect.gen(function* () {
  const { missing, set } = yield* findVariables
  if (missing.length === 0) return yield* Effect.mapError(ControlRoom.config, notConfigured)
  if (set.length > 0) {
    const names = `${list.format(missing)} ${missing.length === 1 ? "is" : "are"} not set, but ${list.format(set)}`
    const remedy = "set all three, or none to use the control room that runs from this folder"
    return yield* new NotConfigured({ message: `${names} ${set.length === 1 ? "is" : "are"}: ${remedy}` })
  }
  const data = yield* Effect.orElseSucceed(Config.NonEmptyString("SIGNALBOX_DATA"), () => ".signalbox")
  const path = `${data}/credentials.json`
  return yield* readCredentials(path).pipe(
    Effect.mapError(
      () =>
        new NotConfigured({
          message: `set SIGNALBOX_BASE_URL, SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID, or start a control room here with \`signalbox up\` (no usable ${path})`
        })
    )
  )
})
