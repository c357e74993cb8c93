/**
 * What an upload takes its bytes from.
 */
import * as Stream from "effect/Stream"
import { SourceFailed, TransferError, transferError } from "../../TransferError.ts"
import type * as Reader from "./Reader.ts"

/** Bytes, or a stream of known size that emits the same bytes in every run; `from` starts it at an offset. */
export type UploadSource =
  | Uint8Array
  | { readonly size: number; readonly stream: Stream.Stream<Uint8Array, unknown> }
  | { readonly size: number; readonly from: (offset: number) => Stream.Stream<Uint8Array, unknown> }

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "the source failed")

export const sourceOf = (source: UploadSource, name: string | null): Reader.Source => {
  if (source instanceof Uint8Array) {
    return { name, size: source.length, from: (offset) => Stream.succeed(source.subarray(offset)) }
  }
  const failed = (error: unknown) =>
    error instanceof TransferError ? error : transferError(new SourceFailed({ message: messageOf(error) }), name)
  if ("from" in source) {
    return { name, size: source.size, from: (offset) => Stream.mapError(source.from(offset), failed) }
  }
  const from = (offset: number) => {
    let skip = offset
    return Stream.map(source.stream, (chunk) => {
      const part = chunk.subarray(Math.min(skip, chunk.length))
      skip -= chunk.length - part.length
      return part
    })
  }
  return {
    name,
    size: source.size,
    from: (offset) =>
      Stream.mapError(
        Stream.suspend(() => from(offset)),
        failed
      )
  }
}

/** Why a source cannot be; null: it can. */
export const sizeProblem = ({ size }: Reader.Source): string | null =>
  Number.isSafeInteger(size) && size >= 0 ? null : `size: ${size} is no number of bytes`
