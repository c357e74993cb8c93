/**
 * Shared by the parts of the journal in a database.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { Database } from "../Database.ts"
import { isActive, type State } from "../../model/Execution.ts"
import type { Change } from "../Changes.ts"

/**
 * The clock of leases on Postgres: that of the server, inside the statement, so that nothing a process believes about time takes an
 * execution from another; or that of the journal, where tests have virtual time. On SQLite, which one process has to itself, it is
 * always that of the journal.
 */
export const LeaseClock = Context.Reference<"server" | "journal">("@signalbox/flows/LeaseClock", {
  defaultValue: () => "server"
})

export interface Store extends Pick<typeof Database.Service, "persist" | "transaction"> {
  readonly sql: SqlClient
  readonly isPostgres: boolean
  /** The services of statements that several callers share. */
  readonly context: Context.Context<never>
  /** Milliseconds since 1970, by the clock of the database. */
  readonly now: Effect.Effect<number>
  /** Returns the time of leases, by `LeaseClock`; `at` is the time of the journal. */
  readonly leaseNow: (at: number) => Fragment
  /**
   * Returns the identity of a call, which is stored in the rows that it changes. A call that is repeated because its response was lost
   * finds it there, and changes nothing twice.
   */
  readonly token: () => string
  /** Notifies subscribers, after a commit. */
  readonly publish: (change: Change) => void
}

interface Rest {
  readonly state: State
  readonly owner: string | null
  readonly wake_at: number | null
}

/** Whether an execution needs an owner now, and has none. */
export const isDue = ({ owner, state, wake_at }: Rest, at: number): boolean =>
  owner === null && wake_at !== null && wake_at <= at && isActive(state)
