import * as Assets from "@signalbox/api/Assets"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { digestOf } from "../package/Delivery.ts"
import { fileDigest, resolve } from "./Content.ts"
import type { Asset, Document } from "./Document.ts"
import { type Section, type Step, unchanged } from "./Step.ts"

const encoder = new TextEncoder()

const contentOf = Effect.fnUntraced(function* (name: string, asset: Asset, folder: string) {
  if ("file" in asset) {
    const source = resolve(folder, asset.file)
    const digest = yield* fileDigest(`assets.${name}.file`, source)
    return { source, digest, contentType: asset.content_type ?? "application/octet-stream" }
  }
  const json = "json" in asset
  const bytes = encoder.encode(json ? JSON.stringify(asset.json) : asset.text)
  const contentType = json ? "application/json" : (asset.content_type ?? "text/plain")
  return { source: { name, bytes }, digest: yield* digestOf(Stream.succeed(bytes)), contentType }
})

/** Assets: content that differs, in bytes or in type, is uploaded. */
export const plan = Effect.fnUntraced(function* (wanted: NonNullable<Document["assets"]>, folder: string) {
  const existing = new Map(
    (yield* Stream.runCollect(Assets.stream({ limit: 500 }))).map(({ id, name }) => [name, id] as const)
  )
  const steps: Array<Step> = []
  for (const [name, asset] of Object.entries(wanted)) {
    const { contentType, digest, source } = yield* contentOf(name, asset, folder)
    const id = existing.get(name)
    const upload = Assets.put(name, source, { contentType })
    if (id === undefined) {
      steps.push({ kind: "asset", name, action: "create", detail: contentType, run: upload })
      continue
    }
    const { payload } = yield* Assets.get(id)
    // One that has no content yet was begun by a command that was killed: nothing of it is replaced.
    const action = payload.type === "empty" ? "create" : "change"
    const differences = [
      ...("content_type" in payload && payload.content_type === contentType ? [] : ["content type"]),
      ...((yield* digestOf(Assets.download(id))) === digest ? [] : ["content"])
    ]
    steps.push(
      differences.length === 0
        ? unchanged("asset", name)
        : { kind: "asset", name, action, detail: differences.join(", "), run: upload }
    )
  }
  const extra = [...existing]
    .filter(([name]) => !Object.hasOwn(wanted, name))
    .map(([name, id]): Step => ({ kind: "asset", name, action: "delete", detail: "", run: Assets.remove(id) }))
  const section: Section = { steps, extra }
  return section
})
