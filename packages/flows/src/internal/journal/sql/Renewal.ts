/**
 * The renewal of a lease by the thread of a process, on Postgres: its text, and its parameters. Apart from the journal, of which
 * the thread has nothing.
 */
import type { Standing } from "../../model/Execution.ts"

/** The schema of the tables, unless a program names another. */
export const defaultSchema = "signalbox_flows"

export interface Renewal {
  readonly text: string
  readonly params: ReadonlyArray<unknown>
}

/** For a lease that ends now: a second ago, since processes know the clock of the server only roughly. */
export const endedMillis = -1_000

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
/** Milliseconds since 1970, by the clock of the server. */
const now = `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`

/**
 * Extends a lease that has not expired, and records for how long the process has stood still. With `endedMillis` as its length the
 * lease has expired. Returns a row when the lease was valid.
 */
export const renewal = (schema: string, process: string, leaseMillis: number, standing: Standing | null): Renewal => ({
  text: `UPDATE ${quoted(schema)}.flow_process
    SET expires_at = ${now} + CAST($2 AS BIGINT), stood_millis = CAST($3 AS BIGINT), stood_in = CAST($4 AS TEXT)
    WHERE id = $1 AND reaped = 0 AND expires_at > ${now} RETURNING id`,
  params: [
    process,
    leaseMillis,
    standing === null ? null : Math.round(standing.millis),
    standing === null ? null : JSON.stringify(standing.keeper)
  ]
})
