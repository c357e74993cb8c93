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
/** Columns are cut to the first of these at the least when a line is too long, and to the next when it is still too long. */
const narrowest = [12, 6]

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
  for (const least of narrowest) {
    while (total() > limit) {
      const widest = Math.max(...fitted.slice(1))
      if (widest <= least) break
      const rest = Math.max(least, ...fitted.slice(1).filter((width) => width < widest))
      fitted[fitted.indexOf(widest, 1)] = Math.max(rest, widest - (total() - limit))
    }
  }
  return fitted
}

/**
 * Lines of columns, each as wide as its widest cell, under a head. What is too long for the width all the same ends there,
 * after the whole id.
 */
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
  const [first = "", ...rest] = lines.map((line) => {
    const cells = line.map((cell, column) => pad(cut(cell, widths[column] ?? 0), widths[column] ?? 0))
    return cut(cells.join(" ".repeat(gap)).trimEnd(), Math.max(width, (widths[0] ?? 0) + gap))
  })
  return [color ? `\u001B[1m${first}\u001B[0m` : first, ...rest].join("\n")
}
