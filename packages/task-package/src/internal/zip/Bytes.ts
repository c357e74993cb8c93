/**
 * Reads of a file at a position.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import type { InvalidZip } from "../../InvalidZip.ts"
import { damaged } from "./Refusal.ts"

/** Reads this many bytes from a position. Fails when the file ends before that. */
export type ReadAt = (position: number, size: number) => Effect.Effect<DataView, InvalidZip | PlatformError>

/** Opens a file until the scope closes. */
export const open = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.open(path, { flag: "r" })
  const readAt: ReadAt = Effect.fnUntraced(function* (position, size) {
    const buffer = new Uint8Array(size)
    let done = 0
    while (done < size) {
      const got = yield* file.read(buffer.subarray(done), { position: BigInt(position + done) })
      if (got === 0) return yield* damaged("it ends too early")
      done += got
    }
    return new DataView(buffer.buffer)
  })
  return { readAt, size: Number((yield* file.stat).size) }
})
