/** Splits the output of a process into lines of text. */
import type { Masking } from "../agent/Mask.ts"

/** In UTF-16 units: a longer line is split, so that memory stays bounded. */
const maxLine = 65_536

export interface Lines {
  /** The lines that these bytes complete. */
  readonly push: (bytes: Uint8Array) => ReadonlyArray<string>
  /** The remaining text without an end of line. */
  readonly end: () => ReadonlyArray<string>
}

/** `masking`: what hides values of secrets, also where a value has several lines. */
export const make = (masking?: Masking): Lines => {
  const decoder = new TextDecoder()
  const shown = masking?.push ?? ((text: string) => text)
  let rest = ""
  const cut = (text: string): ReadonlyArray<string> => {
    const lines = (rest + text).split(/\r?\n/)
    rest = lines.pop() ?? ""
    if (rest.length >= maxLine) {
      lines.push(rest)
      rest = ""
    }
    return lines
  }
  return {
    push: (bytes) => cut(shown(decoder.decode(bytes, { stream: true }))),
    end: () => {
      const lines = cut(shown(decoder.decode()) + (masking?.end() ?? ""))
      return rest === "" ? lines : [...lines, rest.replace(/\r$/, "")]
    }
  }
}
