/**
 * Adds executions to the queues of their limits.
 */
import type { Fragment } from "effect/sql/Statement"
import type { Execution, FlowVersion, Limit } from "../../model/Execution.ts"
import type { Store } from "./Store.ts"
import * as Texts from "./Texts.ts"

/** The name of the bucket of a limit for a key, or for the whole flow. Begins with the index of the limit. */
export const bucketOf = (flow: string, index: number, { keyed }: Limit, key: string | null): string =>
  `${index} ${Texts.addressOf(JSON.stringify(keyed && key !== null ? [flow, key] : [flow]))}`

/** The name of the queue of executions with the same version and keys. */
const laneOf = ({ flow, version }: FlowVersion, keys: ReadonlyArray<string | null>): string =>
  Texts.addressOf(JSON.stringify([flow, version, ...keys]))

/** Returns the name of the queue that an execution is in; null when it is in none. */
export const queueOf = ({
  flow,
  limits,
  queuedAt,
  state,
  version
}: Pick<Execution, "flow" | "limits" | "queuedAt" | "state" | "version">): string | null =>
  state === "queued" && queuedAt !== null ? laneOf({ flow, version }, limits) : null

/** Updates the lane of an execution that is queued in the same transaction; `from` is empty if it is not queued. */
export const enqueued = (
  { sql }: Pick<Store, "sql">,
  { flow, limits, queuedAt, version }: Pick<Execution, "flow" | "version" | "limits" | "queuedAt">,
  from?: string
): Fragment => {
  const name = Texts.toText(flow)
  return sql`
    INSERT INTO flow_lane (flow, lane, version, keys, stamp, turn)
    SELECT CAST(${name} AS TEXT), CAST(${laneOf({ flow, version }, limits)} AS TEXT),
      CAST(${version} AS DOUBLE PRECISION), CAST(${JSON.stringify(limits)} AS TEXT), 1,
      CAST(${queuedAt} AS BIGINT)
    ${sql.literal(from === undefined ? "" : `FROM ${from}`)} WHERE TRUE
    ON CONFLICT (flow, lane) DO UPDATE SET stamp = flow_lane.stamp + 1`
}
