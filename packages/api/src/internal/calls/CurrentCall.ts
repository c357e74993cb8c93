/** What a call of the client with promises adds to its requests, and what has been received for it. */
import * as Context from "effect/Context"

/** The last response of the service to a call; it changes while the call is active. */
export interface Seen {
  status: number | null
  requestId: string | null
  /** How often the last request was sent. */
  attempts: number
}

export const nothingSeen = (): Seen => ({ status: null, requestId: null, attempts: 0 })

export interface CurrentCall {
  /** What was called; null: an effect of the program's own, in which functions have their own names. */
  readonly operation: string | null
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly seen: Seen
}

/** The call that a request belongs to; null outside of the client with promises. */
export const CurrentCall = Context.Reference<CurrentCall | null>("@signalbox/api/internal/calls/CurrentCall", {
  defaultValue: () => null
})
