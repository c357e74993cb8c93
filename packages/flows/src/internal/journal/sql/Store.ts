/**
 * Shared by the parts of the journal in a database.
 */
import type * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Database } from "../../sql/Database.ts"
import { isActive, type State } from "../../Journal.ts"
import type { Change } from "../Changes.ts"

export interface Store extends Pick<typeof Database.Service, "persist" | "transaction"> {
  readonly sql: SqlClient
  readonly isPostgres: boolean
  /** Milliseconds since 1970, by the clock of the database. */
  readonly now: Effect.Effect<number>
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
