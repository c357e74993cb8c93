/**
 * The client on Node: over undici, which is faster than `fetch`, with uploads from paths.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { basename } from "node:path"
import { ControlRoom, type Options } from "./ControlRoom.ts"
import { readCredentials } from "./Credentials.ts"
import { Uploads, UploadSourceError } from "./Upload.ts"

/** Opens paths for uploads. */
export const layerUploads: Layer.Layer<never> = Layer.effect(
  Uploads,
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const unreadable = (path: string) => (error: { readonly message: string }) =>
      new UploadSourceError({ name: basename(path), message: `cannot read ${path}: ${error.message}` })
    return {
      openPath: (path: string) =>
        Effect.map(Effect.mapError(fs.stat(path), unreadable(path)), (info) => ({
          name: basename(path),
          size: Number(info.size),
          stream: Stream.mapError(fs.stream(path), unreadable(path))
        }))
    }
  })
).pipe(Layer.provide(NodeFileSystem.layer))

/** A connection over undici. */
export const layer = (options: Options): Layer.Layer<ControlRoom> =>
  ControlRoom.layerHttpClient(options).pipe(Layer.provide(NodeHttpClient.layerUndici), Layer.provide(layerUploads))

/** Neither the environment nor a local control room says where to connect to. */
export class NotConfigured extends Schema.TaggedError<NotConfigured>()("NotConfigured", { message: Schema.String }) {}

/**
 * A connection as configured: by `SIGNALBOX_BASE_URL`, `SIGNALBOX_API_KEY` and `SIGNALBOX_WORKSPACE_ID`, else by the
 * `credentials.json` of a control room that runs from this folder (`.signalbox`, or `SIGNALBOX_DATA`).
 */
export const layerConfig: Layer.Layer<ControlRoom, NotConfigured> = Layer.unwrap(
  Effect.gen(function* () {
    const configured = yield* Effect.option(ControlRoom.config)
    if (Option.isSome(configured)) return layer(configured.value)
    const data = yield* Config.String("SIGNALBOX_DATA").pipe(Effect.orElseSucceed(() => ".signalbox"))
    const path = `${data}/credentials.json`
    const local = yield* readCredentials(path).pipe(
      Effect.mapError(
        () =>
          new NotConfigured({
            message: `set SIGNALBOX_BASE_URL, SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID, or start a control room here with \`signalbox up\` (no usable ${path})`
          })
      )
    )
    return layer(local)
  })
).pipe(Layer.provide(NodeFileSystem.layer))
