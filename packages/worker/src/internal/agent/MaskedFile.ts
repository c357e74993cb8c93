/**
 * Files of a step run without the values of its secrets.
 */
import type { SizedBytes } from "@signalbox/api/Upload"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Mask } from "./Mask.ts"

/** Text is what is UTF-8 and has no NUL; null for what is not. */
const decoding = () => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  return (bytes?: Uint8Array): string | null => {
    if (bytes?.includes(0) === true) return null
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
    } catch {
      return null
    }
  }
}

const masked = (mask: Mask, { stream }: SizedBytes) =>
  Stream.suspend(() => {
    const decode = decoding()
    const masking = mask.stream()
    const encoder = new TextEncoder()
    const rest = Stream.sync(() => encoder.encode(masking.push(decode() ?? "") + masking.end()))
    return Stream.concat(
      Stream.map(stream, (bytes) => encoder.encode(masking.push(decode(bytes) ?? ""))),
      rest
    )
  })

/** Reads a file that is text once more, for its size without the values. Others stay as they are. */
export const hide = Effect.fnUntraced(function* (mask: Mask, file: SizedBytes) {
  if (mask.isEmpty()) return file
  const decode = decoding()
  const masking = mask.stream()
  const encoder = new TextEncoder()
  let isText = true
  let size = 0
  let shown = 0
  const read = (bytes?: Uint8Array) => {
    const text = decode(bytes)
    if (text === null) isText = false
    else shown += encoder.encode(bytes === undefined ? masking.push(text) + masking.end() : masking.push(text)).length
    size += bytes?.length ?? 0
    return isText
  }
  yield* Stream.runDrain(Stream.takeWhile(file.stream, (bytes) => read(bytes)))
  return isText && read() ? { ...file, size: shown, stream: masked(mask, file) } : file
})
