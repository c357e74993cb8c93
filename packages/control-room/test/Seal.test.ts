import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { join } from "node:path"
import { Seal } from "../src/vault/Seal.ts"
import { temporaryFolder } from "./support/Service.ts"

const sealIn = (folder: string) => Effect.provide(Seal, Seal.layerFile(join(folder, "master.key")))

it.effect("a sealed text opens with its key and its context alone, and only unchanged", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const { open, seal } = yield* sealIn(folder)
    for (const text of ["", "secret", "ÄÖ✓ 𝕏", "x".repeat(100_000)]) {
      const sealed = yield* seal(text, "webhook/1")
      assert.strictEqual(Redacted.value(yield* open(sealed, "webhook/1")), text)
      assert.notInclude(sealed, text === "" ? " " : text)
      assert.notStrictEqual(sealed, yield* seal(text, "webhook/1"))
      const after = yield* sealIn(folder)
      assert.strictEqual(Redacted.value(yield* after.open(sealed, "webhook/1")), text)
      const changed = Buffer.from(sealed.slice(3), "base64url")
      changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1)
      const other = yield* sealIn(yield* temporaryFolder)
      for (const broken of [
        open(sealed, "webhook/2"),
        open(sealed, ""),
        open(sealed.slice(0, -4), "webhook/1"),
        open(`s1.${changed.toString("base64url")}`, "webhook/1"),
        open("", "webhook/1"),
        open("s1.", "webhook/1"),
        other.open(sealed, "webhook/1")
      ]) {
        const error = yield* Effect.flip(broken)
        assert.strictEqual(error._tag, "SealBroken")
        assert.notInclude(error.message, "webhook/1")
      }
    }
  }).pipe(Effect.provide(NodeServices.layer))
)
