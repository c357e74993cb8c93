/**
 * Processes that stand still while they run a step: what is known of them, and the losses of the step when their lease expires.
 */
import * as Effect from "effect/Effect"
import type { Keeper, Stalled, Standing } from "../../model/Execution.ts"
import { fromStalled, toStalled } from "./Rows.ts"
import type { Store } from "./Store.ts"
import * as Texts from "./Texts.ts"

const unknown: Keeper = { _tag: "Unknown" }

/** Columns of `flow_process`, which its thread writes (`Renewal.ts`). */
export interface StandingRow {
  readonly stood_millis: number | null
  readonly stood_in: string | null
}

/** Parses the columns. */
export const toStanding = ({ stood_in, stood_millis }: StandingRow): Standing | null => {
  if (stood_millis === null) return null
  // The thread wrote it from a `Standing`.
  const keeper = stood_in === null ? unknown : (JSON.parse(stood_in) as Keeper)
  return { millis: stood_millis, keeper }
}

/** A process whose claims are about to be released. */
export interface Lapsed extends StandingRow {
  readonly id: string
  readonly host: string
}

interface Running {
  readonly execution: string
  readonly path: string
  readonly attempt: number
  readonly stalled: string | null
}

export const make = ({ sql }: Pick<Store, "sql">) => {
  /** When the step is not known, all that the process ran may be the one. */
  const runningOf = (id: string, keeper: Keeper) => {
    const isIt =
      keeper._tag === "Step"
        ? sql`AND e.execution = ${Texts.toText(keeper.step.execution)} AND e.path = ${Texts.addressOf(keeper.step.path)}`
        : sql``
    return sql<Running>`
      SELECT e.execution, e.path, e.attempt, e.stalled FROM flow_entry e JOIN flow_run r ON r.id = e.execution
      WHERE r.owner = ${id} AND e.aside = 0 AND e.kind = 'step' AND e.state = 'running' ${isIt}
      ORDER BY e.execution, e.path`
  }

  /** Counts a loss of the step in which the process stood still, if it did. Once: in the transaction that ends its lease. */
  const count = Effect.fnUntraced(function* (process: Lapsed) {
    const standing = toStanding(process)
    if (standing === null || standing.keeper._tag === "Other") return
    for (const { attempt, execution, path, stalled } of yield* runningOf(process.id, standing.keeper)) {
      const next: Stalled = {
        times: (fromStalled(stalled)?.times ?? 0) + 1,
        host: Texts.fromText(process.host),
        millis: standing.millis
      }
      // Its process may go on and end it at this moment.
      yield* sql`
        UPDATE flow_entry SET stalled = ${toStalled(next)}
        WHERE execution = ${execution} AND aside = 0 AND path = ${path} AND attempt = ${attempt} AND state = 'running'`
    }
  })

  return { count }
}
