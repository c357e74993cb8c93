/** What `signalbox flows check` finds: for each version how many executions fit, and where the others differ. */
import type { State } from "@signalbox/flows/FlowExecutions"
import type { Misfit } from "../../files/FlowChecker.ts"
import { table } from "../../text/Table.ts"

/** An execution that was replayed. */
export interface Checked {
  readonly id: string
  readonly flow: string
  readonly version: number
  readonly state: State
  /** Null when it fits. */
  readonly misfit: Misfit | null
}

/** A place where executions differ: the recorded step, and the one that the body reaches instead. */
interface Difference {
  readonly recorded: string
  readonly reached: string | null
  count: number
}

/** The executions of a version. */
interface Tally {
  readonly flow: string
  readonly version: number
  checked: number
  fit: number
  /** Those whose steps differ, or whose code breaks or is missing. */
  unfit: number
  /** Those with a recorded value that the schemas do not accept. */
  unreadable: number
  readonly differences: Array<Difference>
}

export const versionOf = (flow: string, version: number): string => `${flow}@${version}`

const isUnreadable = ({ code, tag }: Misfit) => code === "RECORD_UNREADABLE" || tag === "RecordUnreadable"

/** Counts executions by version. */
export const make = () => {
  const tallies = new Map<string, Tally>()
  const of = (flow: string, version: number): Tally => {
    const name = versionOf(flow, version)
    const tally = tallies.get(name) ?? { flow, version, checked: 0, fit: 0, unfit: 0, unreadable: 0, differences: [] }
    tallies.set(name, tally)
    return tally
  }
  return {
    /** Lists a version, also when it has no executions. */
    known: (flow: string, version: number) => void of(flow, version),
    add: ({ flow, misfit, version }: Checked) => {
      const tally = of(flow, version)
      tally.checked++
      if (misfit === null) {
        tally.fit++
        return
      }
      tally[isUnreadable(misfit) ? "unreadable" : "unfit"]++
      const { reached = null, recorded } = misfit
      if (recorded === undefined) return
      const same = tally.differences.find((one) => one.recorded === recorded && one.reached === reached)
      if (same === undefined) tally.differences.push({ recorded, reached, count: 1 })
      else same.count++
    },
    all: (): ReadonlyArray<Tally> => [...tallies.values()],
    /** How many do not fit. */
    unfit: () => [...tallies.values()].reduce((sum, { unfit, unreadable }) => sum + unfit + unreadable, 0)
  }
}

/** The most places of a version in the table; JSON has all. */
const mostDifferences = 3

const differencesOf = ({ differences }: Tally): string => {
  const first = differences
    .slice(0, mostDifferences)
    .map(({ count, reached, recorded }) => `${recorded}, reached ${reached ?? "the end"} (${count})`)
  return [...first, ...(differences.length > mostDifferences ? ["…"] : [])].join("; ")
}

export const report = (tallies: ReadonlyArray<Tally>): string =>
  table(
    ["version", "checked", "fit", "differ", "unreadable", "recorded step"],
    tallies.map((tally) => [
      versionOf(tally.flow, tally.version),
      ...[tally.checked, tally.fit, tally.unfit, tally.unreadable].map(String),
      differencesOf(tally)
    ])
  )
