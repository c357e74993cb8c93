/**
 * Measures the contenders of a contest in turns (ours, a peer, ours, a peer …), so that what else the machine does is shared by all.
 */
import type { Entry, Row } from "./Results.ts"
import { median, shown, shownRatio } from "./Statistics.ts"
import type { Contender, Contest, Measured } from "./Suite.ts"

interface Turn {
  readonly contender: Contender
  readonly measured: Array<Measured>
  failed?: string
}

/** A contender that fails once is left out from then on; the others go on. */
const measure = async (turn: Turn, counts: boolean) => {
  if (turn.failed !== undefined) return
  try {
    const measured = await turn.contender.measure()
    if (counts) turn.measured.push(measured)
  } catch (cause) {
    turn.failed = (cause instanceof Error ? cause.message : String(cause)).split("\n")[0] ?? "it failed"
    console.log(`    ${turn.contender.name} failed: ${cause instanceof Error ? cause.stack : String(cause)}`)
  }
}

/** What was measured: a row for each figure, and the names of contenders that failed. */
export interface Outcome {
  readonly rows: ReadonlyArray<Row>
  readonly failed: ReadonlyArray<string>
}

export const run = async (contest: Contest, rounds: number): Promise<Outcome> => {
  const turns: ReadonlyArray<Turn> = contest.contenders.map((contender) => ({ contender, measured: [] }))
  if (contest.warm !== false) for (const turn of turns) await measure(turn, false)
  for (let round = 0; round < Math.min(rounds, contest.rounds ?? rounds); round++) {
    for (const turn of turns) await measure(turn, true)
  }
  const reference = contest.reference ?? contest.contenders.find(({ peer }) => peer === true)?.name ?? null
  const failed = turns.flatMap((turn) => (turn.failed === undefined ? [] : [turn.contender.name]))
  const rows = Object.entries(contest.figures).map(([key, { better, unit, what }]) => ({
    what: what === undefined ? contest.what : `${contest.what}: ${what}`,
    unit,
    better,
    reference,
    entries: turns.flatMap(({ contender, failed, measured }): ReadonlyArray<Entry> => {
      const values = measured.flatMap((all) => {
        const value = all[key]
        return value === undefined || !Number.isFinite(value) ? [] : [value]
      })
      const { conditions, name, peer = false } = contender
      if (values.length === 0 && failed === undefined) return []
      return [{ name, peer, conditions, values, ...(failed === undefined ? {} : { failed }) }]
    })
  }))
  return { rows: rows.filter(({ entries }) => entries.length > 0), failed }
}

/** The ratio of the median of an entry to that of the reference; null: there is none. */
export const ratioOf = ({ entries, reference }: Row, { values }: Entry): number | null => {
  const beside = entries.find(({ name }) => name === reference)
  if (beside === undefined || beside.values.length === 0 || values.length === 0) return null
  return median(values) / median(beside.values)
}

/** A row as lines of a terminal. */
export const lines = (row: Row): string =>
  [
    `  ${row.what} (${row.unit}, ${row.better} is better)`,
    ...row.entries.map((entry) => {
      const { failed, name, values } = entry
      if (values.length === 0) return `    ${name.padEnd(44)} failed: ${failed}`
      const ratio = ratioOf(row, entry)
      const spread = `${shown(Math.min(...values))} to ${shown(Math.max(...values))}`
      return `    ${name.padEnd(44)} ${shown(median(values)).padStart(10)}  ${spread.padStart(22)}  ${ratio === null ? "" : shownRatio(ratio)}`
    })
  ].join("\n")
