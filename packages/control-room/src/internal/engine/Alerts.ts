/** Firings of alerts: the table of their moves, and what may be told when. */
import type { AlertMessageKind, FiringState } from "@signalbox/api/contract/Alerts"

/** What happens to a firing. */
export type FiringEvent =
  /** Its subject is found again, or is found no more. */
  | "found"
  | "gone"
  /** Messages may be sent now. */
  | "tell"
  /** The time to repeat has come, and messages may be sent. */
  | "repeat"

export interface FiringMove {
  readonly to: FiringState
  readonly message: AlertMessageKind | null
}

/** Every other event leaves a firing as it is. */
export const firingMoves: Readonly<Record<FiringState, { readonly [E in FiringEvent]?: FiringMove }>> = {
  held: {
    tell: { to: "firing", message: "began" },
    gone: { to: "over", message: null }
  },
  firing: {
    repeat: { to: "firing", message: "repeated" },
    gone: { to: "ending", message: null }
  },
  ending: {
    found: { to: "firing", message: null },
    tell: { to: "over", message: "over" }
  },
  over: {}
}

export interface FiringNow {
  readonly state: FiringState
  /** Whether its subject was found. */
  readonly found: boolean
  /** Whether messages may be sent. */
  readonly mayTell: boolean
  /** Whether the time to repeat has come. */
  readonly repeat: boolean
}

/** The states that a firing passes through now, with the messages that are sent. */
export const advance = ({ found, mayTell, repeat, state }: FiringNow): FiringMove => {
  const events: ReadonlyArray<FiringEvent> = [
    found ? "found" : "gone",
    ...(mayTell ? (["tell"] as const) : []),
    ...(mayTell && repeat && state === "firing" ? (["repeat"] as const) : [])
  ]
  return events.reduce<FiringMove>(
    (now, event) => {
      const move = firingMoves[now.to][event]
      return move === undefined ? now : { to: move.to, message: move.message ?? now.message }
    },
    { to: state, message: null }
  )
}
