/** Files of a repository that compress to less than a 200th: refused while they are packed, not when all of it is. */
import { assert, describe, it } from "@effect/vitest"
import * as Packing from "@signalbox/task-package/Packing"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import * as Hollow from "../src/internal/git/Hollow.ts"

const kilobyte = 1024
const megabyte = 1024 * kilobyte
const limit = megabyte

/** Packs files of one byte after the other, and returns the refusal, and which files were begun, and how much was read of the last. */
const packed = Effect.fnUntraced(function* (
  files: ReadonlyArray<readonly [name: string, size: number, "zeros" | "noise"]>
) {
  const begun: Array<string> = []
  let read = 0
  const hollow = Hollow.counter(limit)
  const result = yield* Stream.fromIterable(files).pipe(
    Stream.map(([name, size, kind]) => {
      const piece = Math.min(size, megabyte)
      const chunk = kind === "zeros" ? new Uint8Array(piece) : new Uint8Array(randomBytes(piece))
      const body = Stream.range(1, size / piece).pipe(
        Stream.rechunk(1),
        Stream.map((index) => {
          if (index === 1) begun.push(name)
          read = index * piece
          return chunk
        })
      )
      return { name, size, mode: 0o644, body }
    }),
    hollow.files,
    Packing.encode,
    hollow.zip,
    Stream.runDrain,
    Effect.result
  )
  return { begun, read, refused: Result.isFailure(result) ? result.failure.message : null }
})

describe("hollow files", () => {
  it.effect("are taken up to the limit, whatever stands between them", () =>
    Effect.gen(function* () {
      const { begun, refused } = yield* packed([
        ["a", 512 * kilobyte, "zeros"],
        ["b", 30 * megabyte, "noise"],
        ["c", 512 * kilobyte, "zeros"],
        ["d", megabyte, "noise"]
      ])
      assert.isNull(refused)
      assert.deepStrictEqual(begun, ["a", "b", "c", "d"])
    })
  )

  it.effect("are refused as soon as they are more, also behind files that are not hollow", () =>
    Effect.gen(function* () {
      const { begun, refused } = yield* packed([
        ["a", 30 * megabyte, "noise"],
        ["b", 512 * kilobyte, "zeros"],
        ["c", 576 * kilobyte, "zeros"],
        ["d", megabyte, "zeros"]
      ])
      assert.match(
        refused ?? "",
        /files of the repository that compress to less than a 200th have more than the 1048576/
      )
      assert.deepStrictEqual(begun, ["a", "b", "c"])
    })
  )

  it.effect("are refused before they are read to the end", () =>
    Effect.gen(function* () {
      const { read, refused } = yield* packed([["a", 500 * megabyte, "zeros"]])
      assert.match(refused ?? "", /compress to less than a 200th/)
      assert.isBelow(read, 100 * megabyte)
    })
  )
})
