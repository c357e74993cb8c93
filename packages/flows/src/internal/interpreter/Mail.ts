/**
 * Incoming events, one at a time: messages, signals, timers, ends of attempts.
 */
import * as Effect from "effect/Effect"
import type { Message } from "../model/Execution.ts"
import * as Operations from "./Operations.ts"
import type { Stay } from "./Activation.ts"
import * as Compensation from "./Compensation.ts"

/** Sorts the messages of the history. */
export const sortIn = (stay: Stay) => {
  for (const message of stay.history.messages) {
    stay.seen = Math.max(stay.seen, message.seq)
    if (message.kind === "signal" || message.kind === "inbox") stay.mailbox.put(message)
    else stay.mail.push(message)
  }
}

const isCancel = ({ kind }: Message) => kind === "cancel"

/** Goes on with what would have been suspended when its running steps end. */
const goOn = (stay: Stay) => {
  stay.closing = "no"
  // An older version lets a cancel come beside them.
  stay.taken.push(...stay.suspends)
  stay.suspends = []
  for (const operation of stay.undelivered.splice(0)) Operations.deliverSoon(stay, operation)
}

/** Reads messages that have arrived since. A suspend that is there no more was withdrawn, and a cancel ends it. */
export const read = Effect.fnUntraced(function* (stay: Stay) {
  stay.hasMail = false
  const messages = yield* stay.host.messages((stay.suspends[0] ?? stay.seen + 1) - 1)
  const isSuspended = messages.some(({ seq }) => stay.suspends.includes(seq))
  if (stay.closing === "suspend" && (!isSuspended || messages.some(isCancel))) goOn(stay)
  for (const message of messages) {
    if (message.seq <= stay.seen) continue
    stay.seen = message.seq
    stay.mail.push(message)
  }
})

const received = (stay: Stay, message: Message): Effect.Effect<void> =>
  Effect.suspend(() => {
    switch (message.kind) {
      case "signal":
      case "inbox":
        stay.mailbox.put(message)
        return Effect.void
      case "done": {
        stay.taken.push(message.seq)
        const operation = stay.operations.get(message.name)
        return operation === undefined
          ? Effect.void
          : Operations.waited(stay, operation, message.value, operation.entry.subject)
      }
      case "suspend":
        // A cancel that was read with it has withdrawn it.
        if (stay.mail.some(isCancel)) {
          stay.taken.push(message.seq)
          return Effect.void
        }
        // It stays where it is until the execution is suspended, by this process or the next one.
        stay.suspends.push(message.seq)
        stay.closing = "suspend"
        return Effect.void
      case "cancel":
        stay.taken.push(message.seq)
        // Once undoing has begun, a cancel changes nothing.
        stay.settled.push({ seq: message.seq, outcome: stay.isUndoing && !stay.cancelled ? "too late" : "applied" })
        if (!stay.isUndoing && !stay.cancelled) Compensation.cancel(stay)
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
  const { mail, mailbox, now, operations, ready, timers } = stay
  const first = ready.shift()
  if (first !== undefined) return first
  // After downtime the earliest event is first: the arrival of a message, or the time of a timer.
  const timer = timers.first()
  const message = mail[0]
  const signal = mailbox.next()
  const dueAt = timer !== undefined && timer.due <= now ? timer.due : Infinity
  const signalAt = signal?.message.at ?? Infinity
  const messageAt = message?.at ?? Infinity
  if (messageAt <= dueAt && messageAt <= signalAt && message !== undefined) {
    mail.shift()
    return () => received(stay, message)
  }
  if (signal !== null && signalAt <= dueAt) {
    const operation = operations.get(signal.path)
    mailbox.drop()
    return operation === undefined
      ? () => Effect.void
      : () => Operations.waited(stay, operation, signal.message.value, `${signal.message.seq}`)
  }
  if (timer === undefined || dueAt === Infinity) return null
  timers.shift()
  return () => Operations.due(stay, timer.item)
}
