/**
 * Signals and messages that have arrived, and the paths that wait for them.
 */
import type { EntryKind, History, Message } from "../../model/Execution.ts"
import * as Timers from "../../model/Timers.ts"

interface Match {
  readonly path: string
  readonly message: Message
}

export type Mailbox = ReturnType<typeof make>

export const make = ({ entries }: Pick<History, "entries">) => {
  const isMessage = (kind: EntryKind) => kind === "signal" || kind === "inbox"
  const received = new Set(
    entries.flatMap(({ kind, subject }) => (isMessage(kind) && subject !== null ? [subject] : []))
  )
  /** Their ids, by their numbers. */
  const arrived = new Map<number, string>()
  const signals = new Map<string, Message>()
  const inboxes = new Map<string, Array<Message>>()
  const waiting = new Map<string, Set<string>>()
  /** Messages of inboxes that a path is about to receive. */
  const promised = new Map<string, Message>()
  // In the order of arrival.
  const matches = Timers.make<Match>(
    ({ item: { message, path } }) => message.kind === "signal" || promised.get(path) === message
  )
  const match = (path: string, message: Message) => {
    if (message.kind === "inbox") promised.set(path, message)
    matches.add(message.seq, { path, message })
  }
  const boxOf = (address: string) => {
    const box = inboxes.get(address) ?? []
    inboxes.set(address, box)
    return box
  }
  const putInBox = (message: Message) => {
    const [first] = waiting.get(message.name) ?? []
    if (first === undefined) {
      const box = boxOf(message.name)
      const later = box.findIndex(({ seq }) => seq > message.seq)
      box.splice(later === -1 ? box.length : later, 0, message)
    } else {
      waiting.get(message.name)?.delete(first)
      match(first, message)
    }
  }
  return {
    put: (message: Message) => {
      arrived.set(message.seq, message.id)
      if (message.kind === "inbox") {
        if (!received.has(`${message.seq}`)) putInBox(message)
        return
      }
      if (signals.has(message.name)) return
      signals.set(message.name, message)
      for (const path of waiting.get(message.name) ?? []) match(path, message)
    },
    /** Called when a path waits for a signal or message of a name. */
    open: (kind: EntryKind, address: string, path: string) => {
      if (!isMessage(kind)) return
      const there = kind === "signal" ? signals.get(address) : boxOf(address).shift()
      if (there !== undefined) return match(path, there)
      waiting.set(address, (waiting.get(address) ?? new Set()).add(path))
    },
    /** Called when a path no longer waits: the message that it was to receive goes to the next. */
    close: (kind: EntryKind, address: string, path: string) => {
      if (!isMessage(kind)) return
      const paths = waiting.get(address)
      if (paths?.delete(path) === true && paths.size === 0) waiting.delete(address)
      const message = promised.get(path)
      promised.delete(path)
      if (message !== undefined) putInBox(message)
    },
    next: (): Match | null => matches.first()?.item ?? null,
    /** Marks the next message as received. */
    drop: () => {
      const match = matches.first()?.item
      if (match !== undefined) {
        promised.delete(match.path)
        received.add(`${match.message.seq}`)
      }
      matches.shift()
    },
    /** Returns the id of a message, by its number as an entry has it. */
    idOf: (seq: string | null): string => arrived.get(Number(seq)) ?? "",
    /** Returns the numbers of received messages and of others. */
    split: () => {
      const isReceived = (seq: number) => received.has(`${seq}`)
      const all = [...arrived.keys()]
      return { received: all.filter(isReceived), open: all.filter((seq) => !isReceived(seq)) }
    }
  }
}
