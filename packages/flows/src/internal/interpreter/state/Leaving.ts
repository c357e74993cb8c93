/**
 * Whether an execution leaves the memory before its end: then it begins nothing more, and is released when its running steps have
 * ended.
 */
import type { Operation } from "./Operation.ts"

/** `stays`: it runs. `suspends`: by a command, which its row shows. `closes`: another process may go on immediately. */
export type State = "stays" | "suspends" | "closes"

/** The state after each event. A suspend counts even if the process closes. */
const moves: Readonly<Record<"suspend" | "withdraw" | "close", Readonly<Record<State, State>>>> = {
  suspend: { stays: "suspends", suspends: "suspends", closes: "suspends" },
  withdraw: { stays: "stays", suspends: "stays", closes: "closes" },
  close: { stays: "closes", suspends: "suspends", closes: "closes" }
}

export type Leaving = ReturnType<typeof make>

export const make = () => {
  let state: State = "stays"
  let isAborted = false
  /** The numbers of the suspends that were read. */
  let suspends: ReadonlyArray<number> = []
  /** Operations that have ended since then: their branches go on when it is resumed. */
  const undelivered: Array<Operation> = []
  return {
    state: () => state,
    stays: () => state === "stays",
    suspends: () => suspends,
    close: () => {
      state = moves.close[state]
    },
    suspend: (seq: number) => {
      state = moves.suspend[state]
      suspends = [...suspends, seq]
    },
    /** Called when the suspends no longer count; returns them, and the operations to deliver. */
    withdraw: () => {
      state = moves.withdraw[state]
      const withdrawn = suspends
      suspends = []
      return { withdrawn, undelivered: undelivered.splice(0) }
    },
    /** Keeps the end of an operation back. */
    hold: (operation: Operation) => void undelivered.push(operation),
    /** Interrupts running steps too. */
    abort: () => {
      isAborted = true
    },
    isAborted: () => isAborted
  }
}
