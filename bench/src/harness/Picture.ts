/**
 * The picture of a suite: for each row with several contenders their medians as bars, with lines from the lowest to the highest round.
 */
import type { Entry, Results, Row } from "./Results.ts"
import { median, shown } from "./Statistics.ts"

const width = 760
const left = 260
const right = 110
const bar = 14
const gap = 4
const heading = 26

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const style = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .what { font-weight: 600 }
  .ours { fill: #2563ab }
  .peer { fill: #a3adb8 }
  line { stroke: #1f2328; stroke-width: 1 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e9ed }
    .ours { fill: #6fa8e8 }
    .peer { fill: #667080 }
    line { stroke: #e6e9ed }
  }`

const barsOf = ({ better, entries, unit, what }: Row, top: number): string => {
  const most = Math.max(...entries.flatMap(({ values }) => values))
  const at = (value: number) => left + (value / most) * (width - left - right)
  const one = ({ name, peer, values }: Entry, index: number) => {
    const y = top + heading + index * (bar + gap)
    const middle = y + bar / 2
    const [low, high] = [Math.min(...values), Math.max(...values)]
    return [
      `<text x="${left - 8}" y="${y + 11}" text-anchor="end">${escaped(name)}</text>`,
      `<rect class="${peer ? "peer" : "ours"}" x="${left}" y="${y}" width="${(at(median(values)) - left).toFixed(1)}" height="${bar}"/>`,
      `<line x1="${at(low).toFixed(1)}" x2="${at(high).toFixed(1)}" y1="${middle}" y2="${middle}"/>`,
      `<text x="${(at(high) + 6).toFixed(1)}" y="${y + 11}">${shown(median(values))} ${escaped(unit)}</text>`
    ].join("\n")
  }
  return [
    `<text class="what" x="0" y="${top + 18}">${escaped(what)} (${escaped(unit)}, ${better} is better)</text>`,
    ...entries.map(one)
  ].join("\n")
}

/** Null: nothing has two contenders. */
export const picture = ({ rows, title }: Results): string | null => {
  const drawn = rows
    .map((row) => ({ ...row, entries: row.entries.filter(({ values }) => values.length > 0) }))
    .filter(({ entries }) => entries.length > 1)
  if (drawn.length === 0) return null
  let top = 0
  const parts = drawn.map((row) => {
    const text = barsOf(row, top)
    top += heading + row.entries.length * (bar + gap) + 8
    return text
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" role="img" aria-label="${escaped(title)}">
<style>${style}
</style>
${parts.join("\n")}
</svg>
`
}
