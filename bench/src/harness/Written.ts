/**
 * What is written for one operation: statements, waits for the disk and bytes of the log, as the difference of counts.
 */
import type { Counts } from "./Postgres.ts"
import type { Figure, Measured } from "./Suite.ts"

export const figures: Readonly<Record<keyof Counts, Figure>> = {
  statements: { what: "statements for each", unit: "statements", better: "less" },
  commits: { what: "transactions for each", unit: "transactions", better: "less" },
  syncs: { what: "waits for the disk for each", unit: "syncs", better: "less" },
  walBytes: { what: "log for each", unit: "bytes", better: "less" }
}

/** What does the operation so often as it returns, between two looks at the counts. */
export const between = async (look: () => Promise<Counts>, operations: () => Promise<number>): Promise<Measured> => {
  const before = await look()
  const count = await operations()
  const after = await look()
  const { commits } = after
  return {
    statements: (after.statements - before.statements) / count,
    commits: commits === undefined ? undefined : (commits - (before.commits ?? 0)) / count,
    syncs: (after.syncs - before.syncs) / count,
    walBytes: (after.walBytes - before.walBytes) / count
  }
}

/** How each is counted, for the conditions of a row. */
export const how = {
  sqlite: "statements of node:sqlite and waits for the disk, counted in the process; log: frames of the WAL",
  postgres:
    "pg_stat_statements, pg_stat_database, pg_stat_io and pg_current_wal_lsn, with all else that the process does meanwhile"
}
