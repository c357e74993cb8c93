/**
 * Tables of text.
 */
import { displayWidth } from "effect/cli/CliOutput"

export interface Fitting {
  /** How many columns of characters a line may take; default: any number. */
  readonly width?: number
  /** Makes the head bold. */
  readonly color?: boolean
}

const gap = 2
/** A column is cut to this at the least, when a line is too long. */
const narrowest = 12

const pad = (text: string, width: number) => text + " ".repeat(Math.max(0, width - displayWidth(text)))

const cut = (text: string, width: number) => {
  if (displayWidth(text) <= width) return text
  let kept = ""
  for (const character of text) {
    if (displayWidth(kept + character) > width - 1) break
    kept += character
  }
  return `${kept}…`
}

/** Takes from the widest columns what does not fit. The first column has ids, which are copied and so never cut. */
const fit = (widths: ReadonlyArray<number>, limit: number): ReadonlyArray<number> => {
  const fitted = [...widths]
  const total = () => fitted.reduce((sum, width) => sum + width + gap, -gap)
  while (total() > limit) {
    const widest = Math.max(...fitted.slice(1))
    if (widest <= narrowest) break
    const rest = Math.max(narrowest, ...fitted.slice(1).filter((width) => width < widest))
    fitted[fitted.indexOf(widest, 1)] = Math.max(rest, widest - (total() - limit))
  }
  return fitted
}

/** Lines of columns, each as wide as its widest cell, under a head. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  { color = false, width = Number.POSITIVE_INFINITY }: Fitting = {}
): string => {
  const lines = [head, ...rows].map((line) => line.map((cell) => cell.replace(/\s*\n\s*/g, " ")))
  const widths = fit(
    head.map((_, column) => Math.max(...lines.map((line) => displayWidth(line[column] ?? "")))),
    width
  )
  const [first = "", ...rest] = lines.map((line) =>
    line
      .map((cell, column) => pad(cut(cell, widths[column] ?? 0), widths[column] ?? 0))
      .join(" ".repeat(gap))
      .trimEnd()
  )
  return [color ? `\u001B[1m${first}\u001B[0m` : first, ...rest].join("\n")
}
