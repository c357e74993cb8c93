import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as StorageFailure from "@signalbox/sql/StorageFailure"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { StorageHealth } from "../src/internal/storage/StorageHealth.ts"
import * as StorageLayers from "../src/internal/service/StorageLayers.ts"
import { temporaryFolder } from "./support/Service.ts"

describe("the check of the storage", () => {
  it.effect("writes to the folder of files again once a request was refused, though the last check is recent", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const checks = Effect.gen(function* () {
        const { check, report } = yield* StorageHealth
        assert.isNull(yield* check)
        const files = join(folder, "files")
        rmSync(files, { recursive: true })
        // In its place, so that nothing can be written below it.
        writeFileSync(files, "")
        assert.isNull(yield* check)
        yield* report(StorageFailure.make("full"))
        assert.strictEqual((yield* check)?.kind, "disk")
      })
      yield* Effect.provide(
        checks,
        StorageHealth.layer.pipe(
          Layer.provide(StorageLayers.layerStorage({ data: folder })),
          Layer.provide(NodeServices.layer)
        )
      )
    }).pipe(Effect.scoped)
  )
})
