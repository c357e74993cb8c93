/**
 * What a caller that stops waiting knows of its statements: whether one that changes something may have reached the
 * database.
 */
import * as Context from "effect/Context"

export interface Sent {
  /** Set before such a statement is handed to a connection. Inside a transaction that is its COMMIT. */
  isSent: boolean
}

/** The record of the current call; null when nobody reads it. */
export const Sent = Context.Reference<Sent | null>("@signalbox/sql/Sent", { defaultValue: () => null })
