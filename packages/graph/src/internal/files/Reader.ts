/**
 * Reads the source of an upload piece by piece, mostly forwards, with one piece in memory, and hashes every byte once.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as QuickXorHash from "../../QuickXorHash.ts"
import { SourceFailed, TransferError, transferError } from "../../TransferError.ts"

/** Bytes of a known size that can be read from any offset, as often as needed. */
export interface Source {
  readonly name: string | null
  /** Bytes. */
  readonly size: number
  readonly from: (offset: number) => Stream.Stream<Uint8Array, TransferError>
}

export interface Reader {
  /** Bytes from an offset on; they are there, or the source is not as long as it said. */
  readonly read: (offset: number, length: number) => Effect.Effect<Uint8Array, TransferError>
  /** The hash of the whole source; null while not all of it has been read. */
  readonly hash: () => string | null
}

const none = new Uint8Array()

/** An opened source: what comes next, and what of the last chunk is left. */
interface Opened {
  readonly scope: Scope.Closeable
  readonly pull: Pull.Pull<ReadonlyArray<Uint8Array>, TransferError>
  position: number
  waiting: Array<Uint8Array>
}

export const make = Effect.fnUntraced(function* (source: Source): Effect.fn.Return<Reader, never, Scope.Scope> {
  const { name, size } = source
  const outer = yield* Effect.scope
  const hash = QuickXorHash.make()
  let opened: Opened | undefined
  let kept = { from: 0, bytes: none }

  const wrong = (message: string) => transferError(new SourceFailed({ message }), name)

  const openAt = Effect.fnUntraced(function* (offset: number) {
    if (opened !== undefined) yield* Scope.close(opened.scope, Exit.void)
    const scope = yield* Scope.fork(outer)
    const pull = yield* Scope.provide(Stream.toPull(source.from(offset)), scope)
    const made: Opened = { scope, pull, position: offset, waiting: [] }
    opened = made
    return made
  })

  /** The next chunk that is not empty; null at the end. */
  const next = (open: Opened): Effect.Effect<Uint8Array | null, TransferError> =>
    Effect.suspend(() => {
      const chunk = open.waiting.shift()
      if (chunk !== undefined) return chunk.length > 0 ? Effect.succeed(chunk) : next(open)
      return Pull.matchEffect(open.pull, {
        onSuccess: (chunks) => {
          open.waiting = [...chunks]
          return next(open)
        },
        onFailure: (cause) => Effect.failCause(cause),
        onDone: () => Effect.succeed(null)
      })
    })

  /** Reads on into the target, and hashes what is read for the first time. */
  const fill = Effect.fnUntraced(function* (open: Opened, target: Uint8Array) {
    const start = open.position
    for (let at = 0; at < target.length;) {
      const chunk = yield* next(open)
      if (chunk === null) return yield* wrong(`the source ended after ${start + at} of ${size} bytes`)
      const part = chunk.subarray(0, target.length - at)
      if (part.length < chunk.length) open.waiting.unshift(chunk.subarray(part.length))
      target.set(part, at)
      at += part.length
      open.position += part.length
    }
    hash.add(target.subarray(Math.max(0, hash.size - start)))
    if (open.position < size) return
    if ((yield* next(open)) !== null)
      return yield* wrong(`the source has more than the ${size} bytes that were announced`)
  })

  const skipTo = Effect.fnUntraced(function* (open: Opened, offset: number) {
    const piece = new Uint8Array(Math.min(256 * 1024, offset - open.position))
    while (open.position < offset) yield* fill(open, piece.subarray(0, Math.min(piece.length, offset - open.position)))
  })

  return {
    read: Effect.fnUntraced(function* (offset: number, length: number) {
      const keptEnd = kept.from + kept.bytes.length
      const inside = offset >= kept.from && offset < keptEnd
      if (inside && offset + length <= keptEnd)
        return kept.bytes.subarray(offset - kept.from, offset - kept.from + length)
      const bytes = new Uint8Array(length)
      const head = inside && opened?.position === keptEnd ? kept.bytes.subarray(offset - kept.from) : none
      bytes.set(head)
      const from = offset + head.length
      // What was never read is hashed on the way, so that the hash is that of the whole.
      const start = Math.min(from, hash.size)
      const open =
        opened !== undefined && (opened.position === from || (opened.position === start && start < from))
          ? opened
          : yield* openAt(start)
      if (open.position < from) yield* skipTo(open, from)
      yield* fill(open, bytes.subarray(head.length))
      kept = { from: offset, bytes }
      return bytes
    }),
    hash: () => (hash.size === size ? hash.digest() : null)
  }
})
