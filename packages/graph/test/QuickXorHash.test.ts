/**
 * The hash of drives, by values that other programs computed.
 */
import { assert, describe, it } from "@effect/vitest"
import * as QuickXorHash from "../src/QuickXorHash.ts"

const text = (value: string) => new TextEncoder().encode(value)

const vectors: ReadonlyArray<readonly [name: string, bytes: Uint8Array, hash: string]> = [
  ["nothing", text(""), "AAAAAAAAAAAAAAAAAAAAAAAAAAA="],
  ["one byte", text("a"), "YQAAAAAAAAAAAAAAAQAAAAAAAAA="],
  ["hello world", text("hello world"), "aCgDG9jwBhDc4Q1yawMZAAAAAAA="],
  ["20 bytes", text("A".repeat(20)), "YAADGMAABiAEIQhBHEIQghCEIAQ="],
  ["1000 bytes", text("x".repeat(1000)), "RS960Yte9KIXvehFx3nR8573vOc="],
  ["327,681 bytes", Uint8Array.from({ length: 327_681 }, (_, i) => i % 251), "CFxjLVlWbbPTEZb19KiSkx+BLpI="]
]

describe("QuickXorHash", () => {
  for (const [name, bytes, hash] of vectors) {
    it(`of ${name}`, () => {
      assert.strictEqual(QuickXorHash.of(bytes), hash)
      // In pieces of all sizes it is the same.
      for (const size of [1, 7, 160, 4096]) {
        const pieces = QuickXorHash.make()
        for (let at = 0; at < bytes.length; at += size) pieces.add(bytes.subarray(at, at + size))
        assert.strictEqual(pieces.digest(), hash)
        assert.strictEqual(pieces.size, bytes.length)
      }
    })
  }
})
