/**
 * Processes that stand still while they run a step: what is known of them, and the losses of the step when their lease expires.
 */
import { query } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import type { Keeper, Stalled, Standing } from "../../model/Execution.ts"
import { entryTable, processTable } from "./Rows.ts"
import type { Store } from "./Store.ts"
import * as Texts from "./Texts.ts"

const unknown: Keeper = { _tag: "Unknown" }

/** A process whose claims are about to be released. */
export const lapsedRow = processTable.pick("id", "host", "stood_millis", "stood_in")
type Lapsed = typeof lapsedRow.Type

export const toStanding = ({ stood_in, stood_millis }: Pick<Lapsed, "stood_in" | "stood_millis">): Standing | null =>
  stood_millis === null ? null : { millis: stood_millis, keeper: stood_in ?? unknown }

const runningRow = entryTable.pick("execution", "path", "attempt", "stalled")

export const make = ({ sql }: Pick<Store, "sql">) => {
  /** When the step is not known, all that the process ran may be the one. */
  const runningOf = (id: string, keeper: Keeper) => {
    const isIt =
      keeper._tag === "Step"
        ? sql`AND e.execution = ${Texts.toText(keeper.step.execution)} AND e.path = ${Texts.addressOf(keeper.step.path)}`
        : sql``
    return query(
      runningRow,
      sql`
        SELECT ${runningRow.of("e")} FROM flow_entry e JOIN flow_run r ON r.id = e.execution
        WHERE r.owner = ${Texts.toText(id)} AND e.aside = 0 AND e.kind = 'step' AND e.state = 'running' ${isIt}
        ORDER BY e.execution, e.path`
    )
  }

  /** Counts a loss of the step in which the process stood still, if it did. Once: in the transaction that ends its lease. */
  const count = Effect.fnUntraced(function* (process: Lapsed) {
    const standing = toStanding(process)
    if (standing === null || standing.keeper._tag === "Other") return
    for (const { attempt, execution, path, stalled } of yield* runningOf(process.id, standing.keeper)) {
      const next: Stalled = { times: (stalled?.times ?? 0) + 1, host: process.host, millis: standing.millis }
      // Its process may go on and end it at this moment.
      yield* sql`
        UPDATE flow_entry SET ${entryTable.update({ stalled: next })}
        WHERE execution = ${Texts.toText(execution)} AND aside = 0 AND path = ${path} AND attempt = ${attempt} AND state = 'running'`
    }
  })

  return { count }
}
