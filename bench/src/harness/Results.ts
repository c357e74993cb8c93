/**
 * The figures of a suite as they are kept with the commit: `bench/results/<suite>.json`.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Machine } from "./Machine.ts"
import type { Figure } from "./Suite.ts"

/** The suites in the order of the page. */
export const suiteNames = [
  "server",
  "client",
  "queue",
  "flows",
  "graph",
  "start",
  "memory",
  "crowds",
  "bundle",
  "growth"
] as const
export type SuiteName = (typeof suiteNames)[number]

export interface Entry {
  readonly name: string
  readonly peer: boolean
  readonly conditions: string
  /** One for each round, in their order. */
  readonly values: ReadonlyArray<number>
  /** Why there are no more values. */
  readonly failed?: string
}

export interface Row {
  readonly what: string
  readonly unit: string
  readonly better: Figure["better"]
  /** The name of the entry to which ratios are. */
  readonly reference: string | null
  readonly entries: ReadonlyArray<Entry>
}

export interface Results {
  readonly suite: SuiteName
  readonly title: string
  readonly about: string
  readonly commit: string
  readonly date: string
  readonly machine: Machine
  readonly rounds: number
  /** How long a timed measurement takes. */
  readonly seconds: number
  readonly versions: Readonly<Record<string, string>>
  readonly rows: ReadonlyArray<Row>
}

export const folder = join(import.meta.dirname, "../../results")

const fileOf = (suite: SuiteName) => join(folder, `${suite}.json`)

/** Null: none were taken yet. */
export const read = (suite: SuiteName): Results | null =>
  existsSync(fileOf(suite)) ? JSON.parse(readFileSync(fileOf(suite), "utf8")) : null

/** Three or four digits are kept: more are noise. */
const rounded = (value: number) => (Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4)))

/** A row on a line of the file, so that a difference between two commits can be read. */
export const write = ({ rows, ...head }: Results) => {
  mkdirSync(folder, { recursive: true })
  const text = JSON.stringify(head, null, 2).replace(/\n\}$/, ",\n")
  const lines = rows.map(
    (row) =>
      `    ${JSON.stringify(row, (_key, value: unknown) => (typeof value === "number" ? rounded(value) : value))}`
  )
  writeFileSync(fileOf(head.suite), `${text}  "rows": [\n${lines.join(",\n")}\n  ]\n}\n`)
}
