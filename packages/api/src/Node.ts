/**
 * The client on Node: over undici, which is faster than `fetch`, with uploads from paths, and downloads to paths and folders.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as NodeFileSystem from "@signalbox/platform/NodeFileSystem"
import * as NodeTransport from "@signalbox/transport/node"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ControlRoom, type Options } from "./ControlRoom.ts"
import { readCredentials } from "./Credentials.ts"
import { openPath } from "./internal/files/LocalFiles.ts"
import { Uploads } from "./Upload.ts"

export {
  downloadTo,
  LocalFailed,
  uploadAll,
  type UploadAllOptions,
  type Uploaded,
  type UploadProgress
} from "./internal/files/LocalFiles.ts"

/** Opens paths for uploads. */
export const layerUploads: Layer.Layer<never> = Layer.effect(
  Uploads,
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    return { openPath: (path: string) => openPath(fs, path) }
  })
).pipe(Layer.provide(NodeFileSystem.layer))

/** The options of a connection, and how it leaves this computer. */
export interface NodeOptions extends Options, NodeTransport.Options {}

const overUndici = (options: NodeOptions): Layer.Layer<ControlRoom, Config.ConfigError> =>
  ControlRoom.layerHttpClient(options).pipe(
    Layer.provide(NodeTransport.layerWith(options)),
    Layer.provide(layerUploads)
  )

/**
 * A connection over undici, through `proxy`, or the proxies of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`). A variable
 * that is not the address of a proxy is a defect, which names it.
 *
 * ```ts
 * import type { Options } from "@signalbox/api/ControlRoom"
 * import { layer } from "@signalbox/api/node"
 * import { readFileSync } from "node:fs"
 *
 * export const ofCompany = (options: Options) =>
 *   layer({
 *     ...options,
 *     proxy: "http://proxy.example.com:3128",
 *     ca: readFileSync("company.pem", "utf8")
 *   })
 * ```
 */
export const layer = (options: NodeOptions): Layer.Layer<ControlRoom> => Layer.orDie(overUndici(options))

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
const notConfigured = (error: Config.ConfigError) => {
  const text = error.message.replace(/^SchemaError\((.*)\)$/s, "$1")
  return new NotConfigured({ message: text.replace(/^(.*)\n *at \["(\w+)"\].*$/s, "$2: $1") })
}

const connection = (options: Options): Layer.Layer<ControlRoom, NotConfigured> =>
  Layer.catch(overUndici(options), (error) => Layer.unwrap(Effect.fail(notConfigured(error))))

/**
 * A connection from the environment: by `SIGNALBOX_BASE_URL`, `SIGNALBOX_API_KEY` and `SIGNALBOX_WORKSPACE_ID`, or,
 * when none of them is set, by the `credentials.json` of a control room that runs from this folder (`.signalbox`, or
 * `SIGNALBOX_DATA`). Empty variables count as not set.
 *
 * Fails with `NotConfigured` when some of the three are set and others are not, so that a partly configured program
 * never changes the local control room instead, when a value is invalid, and when no usable credentials exist.
 */
export const layerConfig: Layer.Layer<ControlRoom, NotConfigured> = Layer.unwrap(
  Effect.gen(function* () {
    const { missing, set } = yield* findVariables
    if (missing.length === 0) return connection(yield* Effect.mapError(ControlRoom.config, notConfigured))
    if (set.length > 0) {
      const names = `${list.format(missing)} ${missing.length === 1 ? "is" : "are"} not set, but ${list.format(set)}`
      const remedy = "set all three, or none to use the control room that runs from this folder"
      return yield* new NotConfigured({ message: `${names} ${set.length === 1 ? "is" : "are"}: ${remedy}` })
    }
    const data = yield* Effect.orElseSucceed(Config.NonEmptyString("SIGNALBOX_DATA"), () => ".signalbox")
    const path = `${data}/credentials.json`
    const local = yield* readCredentials(path).pipe(
      Effect.mapError(
        () =>
          new NotConfigured({
            message: `set SIGNALBOX_BASE_URL, SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID, or start a control room here with \`signalbox up\` (no usable ${path})`
          })
      )
    )
    return connection(local)
  })
).pipe(Layer.provide(NodeFileSystem.layer))
