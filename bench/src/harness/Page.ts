/**
 * docs/performance.md: between its marks stands what `bench/results` says, and around them what people have written.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { picture } from "./Picture.ts"
import { type Entry, read, type Results, type Row, type SuiteName, suiteNames } from "./Results.ts"
import { median, shown, shownRatio } from "./Statistics.ts"
import { ratioOf } from "./Turns.ts"

const docs = join(import.meta.dirname, "../../../docs")
const page = join(docs, "performance.md")
const imageOf = (suite: SuiteName) => `images/performance-${suite}.svg`

/** Padded, so that it can be read as text too. */
const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) => {
  const width = (column: number) => Math.max(...[head, ...rows].map((cells) => cells[column]?.length ?? 0))
  const widths = head.map((_cell, column) => width(column))
  const line = (cells: ReadonlyArray<string>, fill: string) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(" | ")} |`
  return [
    line(head, " "),
    line(
      head.map(() => ""),
      "-"
    ),
    ...rows.map((cells) => line(cells, " "))
  ].join("\n")
}

const cellsOf = (row: Row, entry: Entry): ReadonlyArray<string> => {
  const { failed, name, peer, values } = entry
  const named = peer ? name : `**${name}**`
  if (values.length === 0) return [named, "could not be measured", failed ?? "", ""]
  const ratio = ratioOf(row, entry)
  return [
    named,
    shown(median(values)),
    values.length === 1 ? "one round" : `${shown(Math.min(...values))} to ${shown(Math.max(...values))}`,
    ratio === null ? "" : name === row.reference ? "1" : shownRatio(ratio)
  ]
}

const tableOf = (rows: ReadonlyArray<Row>) =>
  table(
    ["what", "contender", "median", "spread", "ratio"],
    rows.flatMap((row) =>
      row.entries.map((entry, index) => [
        index === 0 ? `${row.what}, in ${row.unit} (${row.better} is better)` : "",
        ...cellsOf(row, entry)
      ])
    )
  )

/** Each said once, with the contenders for which it holds. */
const conditionsOf = (rows: ReadonlyArray<Row>) => {
  const names = new Map<string, Set<string>>()
  for (const { conditions, name } of rows.flatMap(({ entries }) => entries)) {
    names.set(conditions, (names.get(conditions) ?? new Set()).add(name))
  }
  return [...names].map(([conditions, those]) => `- ${[...those].join("; ")}: ${conditions}.`).join("\n")
}

const sectionOf = (suite: SuiteName, results: Results | null) => {
  if (results === null) return `No figures yet: \`npx -y pnpm@12 bench ${suite}\` takes them.`
  const { about, commit, date, machine, rounds, rows, seconds, versions } = results
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [
    about,
    ...(picture(results) === null ? [] : [`![${results.title}: medians of what is in the table](${imageOf(suite)})`]),
    tableOf(rows),
    conditionsOf(rows),
    [
      `Commit ${commit}, ${date.slice(0, 10)}, ${rounds} ${rounds === 1 ? "round" : "rounds"} in turns, ${seconds} s for what is timed.`,
      ...(named.length === 0 ? [] : [`Peers: ${named.join(", ")}.`]),
      `Node ${machine.node}, ${machine.system}, ${machine.cores} × ${machine.cpu}, ${machine.memoryGigabytes} GB;`,
      `a write of 4 KB with its sync takes ${machine.syncMillis} ms; load ${machine.load.join(" before, ")} after.`,
      `\`npx -y pnpm@12 bench ${suite}\` repeats it.`
    ].join("\n")
  ].join("\n\n")
}

/** The files as they should be, by their paths. */
const files = (): ReadonlyMap<string, string> => {
  const sections = new Map(suiteNames.map((suite) => [suite, read(suite)]))
  const before = readFileSync(page, "utf8")
  const missing = suiteNames.filter((suite) => !before.includes(`<!-- figures: ${suite} -->\n`))
  if (missing.length > 0) throw new Error(`docs/performance.md has no place for the figures of ${missing.join(", ")}`)
  const after = before.replaceAll(
    /(<!-- figures: ([a-z]+) -->\n)[^]*?(<!-- end of figures -->)/g,
    (_all, begin: string, name: SuiteName, end: string) =>
      `${begin}\n${sectionOf(name, sections.get(name) ?? null)}\n\n${end}`
  )
  const pictures = [...sections.values()].flatMap((results): ReadonlyArray<[string, string]> => {
    const drawn = results === null ? null : picture(results)
    return results === null || drawn === null ? [] : [[join(docs, imageOf(results.suite)), drawn]]
  })
  return new Map([[page, after], ...pictures])
}

export const write = () => {
  for (const [file, text] of files()) writeFileSync(file, text)
}

/** The files that are not what the results say. */
export const stale = () =>
  [...files()]
    .filter(([file, text]) => !existsSync(file) || readFileSync(file, "utf8") !== text)
    .map(([file]) => file.slice(join(docs, "..").length + 1))
