/**
 * The hash that drives keep for each file. 160 bits; each byte is XORed in 11 bits further than the one before, and the length
 * at the end. Bytes 160 apart meet in one place (11 · 160 is a multiple of 160), so it is enough to fold the contents into 160
 * cells.
 */
import * as Base64 from "effect/encoding/Base64"

const cells = 160
const registerBytes = 20

/** A hash in the making: bytes are added as they come. */
export interface QuickXorHash {
  /** Bytes so far. */
  readonly size: number
  readonly add: (chunk: Uint8Array) => void
  /** The hash of what was added so far, as base64; more may be added. */
  readonly digest: () => string
  /** Another one of the same bytes, to which others may be added. */
  readonly copy: () => QuickXorHash
}

const digestOf = (folded: Uint8Array, size: number): string => {
  const register = new Uint8Array(registerBytes)
  const xor = (at: number, byte: number) => {
    const place = at % registerBytes
    register[place] = (register[place] ?? 0) ^ byte
  }
  for (let i = 0; i < cells; i++) {
    const bit = (i * 11) % (registerBytes * 8)
    const spread = (folded[i] ?? 0) << (bit % 8)
    xor(bit >> 3, spread & 0xff)
    xor((bit >> 3) + 1, spread >> 8)
  }
  const length = new DataView(new ArrayBuffer(8))
  length.setBigUint64(0, BigInt(size), true)
  for (let i = 0; i < 8; i++) xor(12 + i, length.getUint8(i))
  return Base64.encode(register)
}

const from = (folded: Uint8Array, bytes: number): QuickXorHash => {
  let size = bytes
  return {
    get size() {
      return size
    },
    add: (chunk) => {
      let cell = size % cells
      for (let i = 0; i < chunk.length; i++) {
        folded[cell] = (folded[cell] ?? 0) ^ (chunk[i] ?? 0)
        if (++cell === cells) cell = 0
      }
      size += chunk.length
    },
    digest: () => digestOf(folded, size),
    copy: () => from(folded.slice(), size)
  }
}

/** A hash of nothing yet. */
export const make = (): QuickXorHash => from(new Uint8Array(cells), 0)

/**
 * The hash of bytes that are at hand.
 *
 * ```ts
 * import * as QuickXorHash from "@signalbox/graph/QuickXorHash"
 *
 * // "aCgDG9jwBhDc4Q1yawMZAAAAAAA="
 * export const hash = QuickXorHash.of(new TextEncoder().encode("hello world"))
 * ```
 */
export const of = (bytes: Uint8Array): string => {
  const hash = make()
  hash.add(bytes)
  return hash.digest()
}
