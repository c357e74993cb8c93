/**
 * Incoming events, one at a time: messages, signals, timers, ends of attempts.
 */
import * as Effect from "effect/Effect"
import type { Message } from "../model/Execution.ts"
import type { Stay } from "./Activation.ts"
import * as Compensation from "./Compensation.ts"
import { deliverSoon } from "./Operations.ts"
import * as Starts from "./Starts.ts"
import { isUndoing } from "./state/Phase.ts"

/** Sorts the messages of the history. */
export const sortIn = ({ history, inbox, mailbox }: Stay) => {
  for (const message of history.messages) {
    inbox.see(message)
    if (message.kind === "signal" || message.kind === "inbox") mailbox.put(message)
    else inbox.put(message)
  }
}

const isCancel = ({ kind }: Message) => kind === "cancel"

/** Goes on with what would have been suspended when its running steps end. */
const goOn = (stay: Stay) => {
  const { undelivered, withdrawn } = stay.leaving.withdraw()
  // An older version lets a cancel come beside them.
  stay.unwritten.take(...withdrawn)
  for (const operation of undelivered) deliverSoon(stay, operation)
}

/** Reads messages that have arrived since. A suspend that is there no more was withdrawn, and a cancel ends it. */
export const read = Effect.fnUntraced(function* (stay: Stay) {
  const { host, inbox, leaving } = stay
  inbox.reading()
  const [first] = leaving.suspends()
  const messages = yield* host.messages(first === undefined ? inbox.seen() : first - 1)
  const isSuspended = messages.some(({ seq }) => leaving.suspends().includes(seq))
  if (leaving.isSuspending() && (!isSuspended || messages.some(isCancel))) goOn(stay)
  for (const message of messages) if (inbox.see(message)) inbox.put(message)
})

const received = (stay: Stay, message: Message): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { inbox, leaving, operations, phase, unwritten } = stay
    switch (message.kind) {
      case "signal":
      case "inbox":
        stay.mailbox.put(message)
        return Effect.void
      case "done": {
        unwritten.take(message.seq)
        const operation = operations.at(message.name)
        return operation === undefined
          ? Effect.void
          : Starts.waited(stay, operation, message.value, operation.entry.subject)
      }
      case "suspend":
        // A cancel that was read with it has withdrawn it.
        if (inbox.hasCancel()) unwritten.take(message.seq)
        // It stays where it is until the execution is suspended, by this process or the next one.
        else leaving.suspend(message.seq)
        return Effect.void
      case "cancel":
        unwritten.settle({ seq: message.seq, outcome: isUndoing(phase) && !stay.cancelled ? "too late" : "applied" })
        if (!isUndoing(phase) && !stay.cancelled) Compensation.cancel(stay)
        return Effect.void
      default:
        // Of a newer version, which reads it.
        return Effect.logWarning(
          `the message ${message.seq} of the execution ${stay.execution.id} has a kind that this version does not support (${String(message.kind)}): a newer version processes it`
        )
    }
  })

/** Returns the handler of the next event, or null. */
export const next = (stay: Stay): (() => Effect.Effect<void>) | null => {
  const { inbox, mailbox, now, operations, ready } = stay
  const first = ready.shift()
  if (first !== undefined) return first
  // After downtime the earliest event is first: the arrival of a message, or the time of a timer.
  const timer = operations.timers.first()
  const message = inbox.first()
  const signal = mailbox.next()
  const dueAt = timer !== undefined && timer.due <= now ? timer.due : Infinity
  const signalAt = signal?.message.at ?? Infinity
  const messageAt = message?.at ?? Infinity
  if (messageAt <= dueAt && messageAt <= signalAt && message !== undefined) {
    inbox.shift()
    return () => received(stay, message)
  }
  if (signal !== null && signalAt <= dueAt) {
    const operation = operations.at(signal.path)
    mailbox.drop()
    return operation === undefined
      ? () => Effect.void
      : () => Starts.waited(stay, operation, signal.message.value, `${signal.message.seq}`)
  }
  if (timer === undefined || dueAt === Infinity) return null
  operations.timers.shift()
  return () => Starts.due(stay, timer.item)
}
