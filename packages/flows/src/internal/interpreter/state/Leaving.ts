/**
 * Whether an execution leaves the memory before its end: then it begins nothing more, and is released when its running steps have
 * ended.
 */
import type { Operation } from "./Operation.ts"

export type Leaving = ReturnType<typeof make>

export const make = () => {
  /** Another process may go on immediately. */
  let isClosing = false
  let isAborted = false
  /** The numbers of the suspends that were read. */
  let suspends: ReadonlyArray<number> = []
  /** Operations that have ended since then: their branches go on when it is resumed. */
  const undelivered: Array<Operation> = []
  return {
    stays: () => suspends.length === 0 && !isClosing,
    suspends: () => suspends,
    /** Whether it is suspended when it leaves, which its row shows; also when the process closes. */
    isSuspending: () => suspends.length > 0,
    close: () => {
      isClosing = true
    },
    suspend: (seq: number) => {
      suspends = [...suspends, seq]
    },
    /** Called when the suspends no longer count; returns them, and the operations to deliver: none if it closes. */
    withdraw: () => {
      const withdrawn = suspends
      suspends = []
      return { withdrawn, undelivered: isClosing ? [] : undelivered.splice(0) }
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
