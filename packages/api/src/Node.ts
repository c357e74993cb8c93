/**
 * The client on Node: over undici, which is faster than `fetch`, with uploads from paths, and downloads to paths and folders.
 */
import * as NodeFileSystem from "@signalbox/platform/NodeFileSystem"
import * as NodeTransport from "@signalbox/transport/node"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { ControlRoom, type Options } from "./ControlRoom.ts"
import { findOptions, type NotConfigured, notConfigured } from "./internal/environment/Environment.ts"
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

export { NotConfigured } from "./internal/environment/Environment.ts"

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
  Effect.map(findOptions, connection)
).pipe(Layer.provide(NodeFileSystem.layer))
