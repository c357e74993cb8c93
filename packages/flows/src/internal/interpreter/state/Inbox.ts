/**
 * The commands and results that were sent to an execution: read from the journal in the order of their numbers, and processed one at
 * a time. Signals and messages of inboxes are in the `Mailbox`.
 */
import type { Message } from "../../model/Execution.ts"

export type Inbox = ReturnType<typeof make>

const isCancel = ({ kind }: Message) => kind === "cancel"

/** `seen` is the number of the last message that was processed before, or is in the history. */
export const make = (seen: number) => {
  /** Those that are read and not processed yet. */
  const waiting: Array<Message> = []
  let last = seen
  let hasNews = false
  return {
    /** Called when there may be messages in the journal. */
    notify: () => {
      hasNews = true
    },
    hasNews: () => hasNews,
    /** Called before the journal is read. */
    reading: () => {
      hasNews = false
    },
    /** The number of the last message that was read. */
    seen: () => last,
    /** Notes that a message was read; returns false when it was read before. */
    see: ({ seq }: Message): boolean => {
      if (seq <= last) return false
      last = seq
      return true
    },
    put: (message: Message) => void waiting.push(message),
    /** Cancels an execution for its caller: no message of the journal does. */
    cancel: (now: number) => void waiting.push({ seq: last, kind: "cancel", name: "", id: "", value: null, at: now }),
    first: () => waiting[0],
    shift: () => void waiting.shift(),
    hasCancel: () => waiting.some(isCancel),
    takeCancel: (): Message | undefined => {
      const index = waiting.findIndex(isCancel)
      return index < 0 ? undefined : waiting.splice(index, 1)[0]
    },
    /**
     * Leaves the messages that were not received to the next chapter; returns the numbers of those among them that were, which it must
     * not get.
     */
    leave: ({ open, received }: { readonly open: ReadonlyArray<number>; readonly received: ReadonlyArray<number> }) => {
      const first = [...open, ...waiting.map(({ seq }) => seq)].reduce((least, seq) => Math.min(least, seq), last + 1)
      last = first - 1
      return received.filter((seq) => seq >= first)
    }
  }
}
