/** Assets with their content, which is downloaded under a number. */
import { Asset, type AssetSummary } from "@signalbox/api/contract/Assets"
import * as AssetList from "@signalbox/api/Assets"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Assets from "../apply/Assets.ts"
import { bounds } from "./Bounds.ts"
import type { Gaps } from "./Gaps.ts"
import * as Parts from "./Parts.ts"
import { Source } from "./Source.ts"
import type { ImportStep } from "./Step.ts"

const kind = "asset"

export const plan = Effect.fnUntraced(function* (assets: ReadonlyArray<AssetSummary>, gaps: Gaps) {
  const { download, get } = yield* Source
  const empty: Array<string> = []
  const entries: Array<readonly [string, unknown]> = []
  for (const { id, name } of assets) {
    const asset = yield* gaps.orNull(kind, name, get(["assets", id], Asset), "not found")
    if (asset === null) continue
    const { payload } = asset
    if (!("url" in payload)) {
      if (payload.type === "empty") empty.push(name)
      else gaps.add(kind, name, `its content has the unknown type ${payload.type}`)
      continue
    }
    const file = yield* gaps.orNull(kind, name, download(payload.url, bounds.file), "its content is not found")
    if (file !== null) entries.push([name, { file: file.path, content_type: payload.content_type }])
  }
  const wanted = (yield* Parts.accepted(kind, "assets", entries, gaps)) ?? {}
  const steps = yield* Parts.stepsOf(kind, wanted, (some) => Assets.plan(some, ""), gaps)
  return [...steps, ...(yield* emptyOnes(empty))]
})

/** Assets without content, which a file for `apply` cannot describe. */
const emptyOnes = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  if (names.length === 0) return []
  const ids = new Map((yield* Stream.runCollect(AssetList.stream({ limit: 500 }))).map(({ id, name }) => [name, id]))
  return yield* Effect.forEach(names, (name) => {
    const id = ids.get(name)
    const step = { kind, name, detail: "without content" } as const
    if (id === undefined) return Effect.succeed<ImportStep>({ ...step, action: "create", run: AssetList.create(name) })
    return Effect.map(AssetList.get(id), ({ payload }): ImportStep => {
      const action = payload.type === "empty" ? "unchanged" : "different"
      return { ...step, action, run: Effect.void }
    })
  })
})
