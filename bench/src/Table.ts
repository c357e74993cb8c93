/**
 * The table of `all.ts`: each benchmark prints its figures, and gives those that matter to this as well.
 */
import { appendFileSync, readFileSync } from "node:fs"
import { basename } from "node:path"

/** A row. */
export interface Row {
  /** The file of the benchmark, without its ending. */
  readonly benchmark: string
  readonly what: string
  /** With its unit. */
  readonly figure: string
  /** To what stands in `than`, which was measured in turns with it. */
  readonly ratio?: string
  readonly than?: string
}

/** Names the file of rows; not set when a benchmark runs by itself. */
export const variable = "SIGNALBOX_BENCH_ROWS"

/** Adds a row, when a table is made. */
export const row = (what: string, figure: string, beside?: { readonly ratio: number; readonly than: string }) => {
  const file = process.env[variable]
  if (file === undefined) return
  const benchmark = basename(process.argv[1] ?? "", ".ts")
  const compared = beside === undefined ? {} : { ratio: beside.ratio.toFixed(2), than: beside.than }
  appendFileSync(file, `${JSON.stringify({ benchmark, what, figure, ...compared } satisfies Row)}\n`)
}

/** The rows of a file as a table in Markdown. */
export const tableOf = (file: string) => {
  const rows = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Row => JSON.parse(line))
  return [
    "| benchmark | what | figure | ratio | to |",
    "| --- | --- | --: | --: | --- |",
    ...rows.map(
      ({ benchmark, figure, ratio = "", than = "", what }) =>
        `| ${benchmark} | ${what} | ${figure} | ${ratio} | ${than} |`
    )
  ].join("\n")
}
