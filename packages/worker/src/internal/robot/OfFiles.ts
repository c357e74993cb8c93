/**
 * Secrets, assets and artifacts in local files.
 */
import * as Effect from "effect/Effect"
import * as Yaml from "effect/encoding/Yaml"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { AssetMissing, SecretMissing } from "../../RobotError.ts"
import type { LocalFiles } from "../items/LocalFiles.ts"
import { redactedItems } from "./OfService.ts"
import type { Robot } from "./RobotService.ts"

const Secrets = Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Json))

/** `file`: JSON or YAML of the items of each secret, by its name. Read at every call. */
export const secrets = (local: LocalFiles, file: string): Pick<Robot["Service"], "secret"> => ({
  secret: Effect.fnUntraced(function* (name) {
    const missing = (message: string) => new SecretMissing({ secret: name, message })
    if (!(yield* local.exists(file))) {
      return yield* missing(
        `no secret "${name}": ${file} does not exist; set RC_VAULT_SECRETS_FILE to a file of secrets`
      )
    }
    const parse = /\.ya?ml$/.test(file) ? Yaml.parse : JSON.parse
    const all = yield* local.readJson(file, Secrets, "the items of each secret, by its name", parse)
    const items = Object.hasOwn(all, name) ? all[name] : undefined
    if (items === undefined) return yield* missing(`${file} has no secret "${name}"`)
    return redactedItems(items)
  })
})

/** `folder`: has one file per asset, with its name. */
export const assets = (local: LocalFiles, folder: string): Pick<Robot["Service"], "asset" | "setAsset"> => ({
  asset: (name) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const file = yield* local.below(folder, name)
        if (yield* local.exists(file)) return local.stream(file)
        return yield* new AssetMissing({ asset: name, message: `the asset "${name}" does not exist: no file ${file}` })
      })
    ),
  setAsset: (content) => Effect.flatMap(local.below(folder, content.name), (file) => local.write(file, content))
})

export const artifacts = (local: LocalFiles, folder: string): Pick<Robot["Service"], "saveArtifact"> => ({
  saveArtifact: (file) => Effect.flatMap(local.below(folder, file.name), (place) => local.write(place, file))
})
