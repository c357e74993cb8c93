/** Medians and spreads. */

/** The place in a list of which so much, from 0 to 1, is smaller. */
export const quantile = (values: ReadonlyArray<number>, part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(Math.floor(values.length * part), values.length - 1)] ?? Number.NaN

export const median = (values: ReadonlyArray<number>) => quantile(values, 0.5)

/** With as many digits as matter, and thousands apart. */
export const shown = (value: number): string => {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits })
}

/** Two digits after the point say nothing of a ratio of a hundred. */
export const shownRatio = (ratio: number) =>
  ratio >= 20 ? ratio.toFixed(0) : ratio >= 0.1 ? ratio.toFixed(2) : ratio.toPrecision(1)
