/**
 * What task code uses, wherever it runs: work items, secrets, assets and artifacts. The same code runs in a worker, in
 * a task package over HTTP, and on local files without a service.
 */
import { open as openSource, Uploads } from "@signalbox/api/Upload"
import * as SchemaProblem from "@signalbox/transport/SchemaProblem"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import type { Input, OutputFile } from "./internal/items/Item.ts"
import * as ItemLoop from "./internal/items/ItemLoop.ts"
import * as Environment from "./internal/robot/Chosen.ts"
import { Robot, type Secret } from "./internal/robot/RobotService.ts"
import {
  type AssetMissing,
  type RobotError,
  type RobotNotConfigured,
  SecretMissing,
  UnexpectedContent
} from "./RobotError.ts"

export type { Counts } from "./internal/items/ItemLoop.ts"
export { Robot, type Secret } from "./internal/robot/RobotService.ts"

/**
 * The robot of a task package: everything comes from a service, through the environment that a worker sets for a
 * package. Artifacts are files in `ROBOT_ARTIFACTS`, which the worker uploads. Fails with the names of missing
 * variables.
 */
export const layerHttp: Layer.Layer<
  Robot,
  RobotNotConfigured,
  HttpClient.HttpClient | FileSystem.FileSystem | Path.Path
> = Layer.effect(
  Robot,
  Effect.gen(function* () {
    return Robot.of({
      items: yield* Environment.remoteItems,
      ...(yield* Environment.remoteSecrets),
      ...(yield* Environment.remoteAssets),
      ...(yield* Environment.localArtifacts)
    })
  })
)

/**
 * The robot without a service: items from `RC_WORKITEM_INPUT_PATH` (or `RPA_INPUT_WORKITEM_PATH`; default: one empty
 * item), outputs to `RC_WORKITEM_OUTPUT_PATH` (`RPA_OUTPUT_WORKITEM_PATH`, `output/work-items-out/workitems.json`),
 * secrets from `RC_VAULT_SECRETS_FILE` (`RPA_SECRET_FILE`, `secrets.json`), assets in the folder `SIGNALBOX_ASSETS`
 * (`assets`), artifacts in `ROBOT_ARTIFACTS` (`output`).
 */
export const layerFiles: Layer.Layer<Robot, RobotNotConfigured, FileSystem.FileSystem | Path.Path> = Layer.effect(
  Robot,
  Effect.gen(function* () {
    return Robot.of({
      items: yield* Environment.localItems,
      ...(yield* Environment.localSecrets),
      ...(yield* Environment.localAssets),
      ...(yield* Environment.localArtifacts)
    })
  })
)

/**
 * The robot that the environment selects, each part by itself: items of a service in a run of a worker, or as
 * `RC_WORKITEM_ADAPTER` says (`RobocorpAdapter`, `FileAdapter`), secrets and assets of a service if its address is set,
 * or as `RC_VAULT_SECRET_MANAGER` says (`RobocorpVault`, `FileSecrets`); else local files.
 */
export const layer: Layer.Layer<Robot, RobotNotConfigured, HttpClient.HttpClient | FileSystem.FileSystem | Path.Path> =
  Layer.effect(
    Robot,
    Effect.gen(function* () {
      return Robot.of({
        items: yield* Environment.items,
        ...(yield* Environment.secrets),
        ...(yield* Environment.assets),
        ...(yield* Environment.localArtifacts)
      })
    })
  )

/**
 * Emits the work items, one at a time: an item is completed when the next is pulled or the stream ends, unless `fail`
 * was called on it. When the consumer of the stream fails, the reserved item fails with that type, code and message;
 * when it is interrupted, the item is left to the service.
 *
 * ```ts
 * import * as Robot from "@signalbox/worker/Robot"
 * import * as Task from "@signalbox/worker/Task"
 * import * as Stream from "effect/Stream"
 *
 * export const program = Stream.runForEach(Robot.inputs, (item) =>
 *   item.files.length === 0
 *     ? item.fail(
 *         new Task.BusinessFailure({
 *           code: "NO_FILE",
 *           message: "the item has no file"
 *         })
 *       )
 *     : item.createOutput({ files: item.files.length })
 * )
 * ```
 */
export const inputs: Stream.Stream<Input<Schema.Json>, RobotError, Robot> = Stream.unwrap(
  Effect.map(Robot, ({ items }) => ItemLoop.inputs(items))
)

/**
 * Runs an effect for every item. An item whose effect fails is failed (`BusinessFailure` as BUSINESS, everything else
 * as APPLICATION), and the next follows. Returns how many completed and failed; fails itself only when items can be
 * neither reserved nor released.
 *
 * ```ts
 * import * as Robot from "@signalbox/worker/Robot"
 * import * as Console from "effect/Console"
 * import * as Effect from "effect/Effect"
 *
 * export const program = Robot.forEachInput((item) =>
 *   item.createOutput(item.payload)
 * ).pipe(
 *   Effect.flatMap(({ completed, failed }) =>
 *     Console.log(`${completed} done, ${failed} failed`)
 *   )
 * )
 * ```
 */
export const forEachInput = <E, R>(
  work: (item: Input<Schema.Json>) => Effect.Effect<unknown, E, R>
): Effect.Effect<ItemLoop.Counts, RobotError, Robot | R> =>
  Effect.flatMap(Robot, ({ items }) => ItemLoop.runEach(items, Effect.succeed(true), work))

/** Returns all items of a secret of the vault. */
export const secret = (name: string): Effect.Effect<Secret, SecretMissing | RobotError, Robot> =>
  Effect.flatMap(Robot, (robot) => robot.secret(name))

/**
 * Returns one item of a secret.
 *
 * ```ts
 * import * as Robot from "@signalbox/worker/Robot"
 *
 * export const password = Robot.secretItem("shop", "password")
 * ```
 */
export const secretItem = Effect.fnUntraced(function* (
  name: string,
  item: string
): Effect.fn.Return<Redacted.Redacted, SecretMissing | RobotError, Robot> {
  const items = yield* secret(name)
  const value = Object.hasOwn(items, item) ? items[item] : undefined
  if (value !== undefined) return value
  const names = Object.keys(items).map((known) => `"${known}"`)
  const message = `the secret "${name}" has no item "${item}"; its items: ${names.length === 0 ? "none" : names.join(", ")}`
  return yield* new SecretMissing({ secret: name, message })
})

/** Emits the content of an asset as it arrives. */
export const asset = (name: string): Stream.Stream<Uint8Array, AssetMissing | RobotError, Robot> =>
  Stream.unwrap(Effect.map(Robot, (robot) => robot.asset(name)))

/** Returns the whole content of an asset as UTF-8 text. */
export const assetText = (name: string): Effect.Effect<string, AssetMissing | RobotError, Robot> =>
  Stream.mkString(Stream.decodeText(asset(name)))

/** Returns the decoded JSON of an asset. Fails with `UnexpectedContent` when it is not JSON, or has another shape. */
export const assetJson = Effect.fnUntraced(function* <S extends Schema.ConstraintCodec<unknown, unknown>>(
  name: string,
  schema: S
): Effect.fn.Return<S["Type"], AssetMissing | UnexpectedContent | RobotError, Robot> {
  const text = yield* assetText(name)
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(schema), { reportInput: false })
  const json = yield* Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => new UnexpectedContent({ name, message: `the asset "${name}" is not JSON` })
  })
  return yield* Effect.mapError(
    decode(json),
    (error) => new UnexpectedContent({ name, message: `the asset "${name}": ${SchemaProblem.describe(error)}` })
  )
})

/**
 * Stores the content of an asset, and creates the asset if none has this name. The old content remains until the new
 * one is complete.
 */
export const setAsset = Effect.fnUntraced(function* (
  name: string,
  content: string | Uint8Array,
  options: {
    /** Default: `text/plain` for text, `application/octet-stream` for bytes. */ readonly contentType?: string
  } = {}
): Effect.fn.Return<void, RobotError, Robot> {
  const robot = yield* Robot
  const text = typeof content === "string"
  const bytes = text ? new TextEncoder().encode(content) : content
  const contentType = options.contentType ?? (text ? "text/plain" : "application/octet-stream")
  yield* robot.setAsset({ name, size: bytes.length, stream: Stream.succeed(bytes) }, contentType)
})

/** Stores JSON as the content of an asset. */
export const setAssetJson = (name: string, json: Schema.Json): Effect.Effect<void, RobotError, Robot> =>
  setAsset(name, JSON.stringify(json), { contentType: "application/json" })

/** Stores a file with the step run, such as a screenshot or a log. Its name may be a path with `/`. */
export const saveArtifact = Effect.fnUntraced(function* (file: OutputFile): Effect.fn.Return<void, RobotError, Robot> {
  const robot = yield* Robot
  yield* robot.saveArtifact(yield* openSource(yield* Uploads, file))
})
