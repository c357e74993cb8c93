/**
 * Secrets and assets of a service, as a robot offers them.
 */
import type { RunAssets } from "@signalbox/api/robot/RunAssets"
import type { Vault } from "@signalbox/api/robot/Vault"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { AssetMissing, SecretMissing } from "../../RobotError.ts"
import type { Robot } from "./RobotService.ts"

/** Each item separately; one that is not text as its JSON. */
export const redactedItems = (items: Readonly<Record<string, Schema.Json>>) =>
  Object.fromEntries(
    Object.entries(items).map(([name, item]) => [
      name,
      Redacted.make(typeof item === "string" ? item : JSON.stringify(item))
    ])
  )

export const secrets = (vault: Pick<Vault, "get">): Pick<Robot["Service"], "secret"> => ({
  secret: (name) =>
    vault.get(name).pipe(
      Effect.map((secret) => redactedItems(Redacted.value(secret.items))),
      Effect.catchTag("NotFound", () =>
        Effect.fail(new SecretMissing({ secret: name, message: `the vault of the workspace has no secret "${name}"` }))
      )
    )
})

export const assets = (remote: RunAssets): Pick<Robot["Service"], "asset" | "setAsset"> => ({
  asset: (name) =>
    Stream.catchTag(remote.download(name), "NotFound", () =>
      Stream.fail(new AssetMissing({ asset: name, message: `the workspace has no asset "${name}"` }))
    ),
  setAsset: (content, contentType) => remote.put(content.name, content, contentType)
})
