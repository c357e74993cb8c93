/**
 * The hash that drives give for a file: each byte is XORed into 160 bits, 11 bits further than the one before, and at the
 * end the length into the last 8 bytes. Bytes 160 apart meet in one place (11 · 160 is a multiple of 160), so it is
 * enough to fold the contents into 160 cells. The order does not matter: parts can be folded as they come.
 */
import * as Base64 from "effect/encoding/Base64"

const cells = 160
const bytes = 20

export interface Folded {
  readonly cells: Uint8Array
  /** Folds in a chunk that starts at `offset` of the contents. */
  readonly add: (chunk: Uint8Array, offset: number) => void
  readonly merge: (other: Folded) => void
}

export const make = (): Folded => {
  const folded = new Uint8Array(cells)
  return {
    cells: folded,
    add: (chunk, offset) => {
      let cell = offset % cells
      for (let i = 0; i < chunk.length; i++) {
        folded[cell] = (folded[cell] ?? 0) ^ (chunk[i] ?? 0)
        if (++cell === cells) cell = 0
      }
    },
    merge: (other) => {
      for (let i = 0; i < cells; i++) folded[i] = (folded[i] ?? 0) ^ (other.cells[i] ?? 0)
    }
  }
}

/** The hash in base64, for contents of `length` bytes. */
export const digest = ({ cells: folded }: Folded, length: number): string => {
  const register = new Uint8Array(bytes)
  const xor = (at: number, byte: number) => {
    register[at % bytes] = (register[at % bytes] ?? 0) ^ byte
  }
  for (let i = 0; i < cells; i++) {
    const at = (i * 11) % (bytes * 8)
    const spread = (folded[i] ?? 0) << (at % 8)
    xor(at >> 3, spread & 0xff)
    xor((at >> 3) + 1, spread >> 8)
  }
  const tail = new Uint8Array(BigUint64Array.of(BigInt(length)).buffer)
  for (let i = 0; i < tail.length; i++) xor(12 + i, tail[i] ?? 0)
  return Base64.encode(register)
}

/** The hash of bytes that are at hand. */
export const of = (contents: Uint8Array): string => {
  const folded = make()
  folded.add(contents, 0)
  return digest(folded, contents.length)
}
