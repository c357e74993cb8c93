/**
 * Incoming events, one at a time: messages, signals, timers, ends of attempts.
 */
import * as Effect from "effect/Effect"
import * as Cause from "effect/Cause"
import { isSealed, unreadable } from "../model/Envelope.ts"
import type { Message } from "../model/Execution.ts"
import { type Activation, deadlineOf } from "./Activation.ts"
import * as Compensation from "./Compensation.ts"
import * as Halting from "./Halting.ts"
import { deliverSoon } from "./Operations.ts"
import * as Starts from "./Starts.ts"
import { isUndoing } from "./state/Phase.ts"

/** Sorts the messages of the history. */
export const sortIn = ({ history, inbox, mailbox }: Activation) => {
  for (const message of history.messages) {
    inbox.see(message)
    if (message.kind === "signal" || message.kind === "inbox") mailbox.put(message)
    else inbox.put(message)
  }
}

const isCancel = ({ kind }: Message) => kind === "cancel"

/** Goes on with what would have been suspended when its running steps end. */
const goOn = (activation: Activation) => {
  const { undelivered, withdrawn } = activation.leaving.withdraw()
  // An older version lets a cancel come beside them.
  activation.unwritten.take(...withdrawn)
  for (const operation of undelivered) deliverSoon(activation, operation)
}

/** Reads messages that have arrived since. A suspend that is there no more was withdrawn, and a cancel ends it. */
export const read = Effect.fnUntraced(function* (activation: Activation) {
  const { host, inbox, leaving } = activation
  inbox.reading()
  const [first] = leaving.suspends()
  const messages = yield* host.messages(first === undefined ? inbox.seen() : first - 1)
  const isSuspended = messages.some(({ seq }) => leaving.suspends().includes(seq))
  if (leaving.isSuspending() && (!isSuspended || messages.some(isCancel))) goOn(activation)
  for (const message of messages) {
    // It stays unread for a process that can read it.
    if (isSealed(message.value)) return Halting.halt(activation, Cause.die(unreadableMessage(activation, message)))
    if (inbox.see(message)) inbox.put(message)
  }
})

/** Whether a cancel comes too late: the body has ended otherwise, or its deadline has cancelled it. */
const isEndingOtherwise = ({ cancelled, phase }: Activation): boolean =>
  cancelled === "deadline" || (cancelled === null && isUndoing(phase))

const unreadableMessage = ({ execution }: Activation, { name, value }: Message) =>
  unreadable(execution.id, `the message ${name}`, isSealed(value) ? value : "")

const received = (activation: Activation, message: Message): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { inbox, leaving, operations, phase, unwritten } = activation
    switch (message.kind) {
      case "signal":
      case "inbox":
        activation.mailbox.put(message)
        return Effect.void
      case "done": {
        unwritten.take(message.seq)
        const operation = operations.at(message.name)
        return operation === undefined
          ? Effect.void
          : Starts.waited(activation, operation, message.value, operation.entry.subject)
      }
      case "suspend":
        // A cancel that was read with it has withdrawn it.
        if (inbox.hasCancel()) unwritten.take(message.seq)
        // It stays where it is until the execution is suspended, by this process or the next one.
        else leaving.suspend(message.seq)
        return Effect.void
      case "cancel":
        unwritten.settle({
          seq: message.seq,
          outcome: isEndingOtherwise(activation) ? "too late" : "applied"
        })
        if (!isUndoing(phase) && activation.cancelled === null) Compensation.cancel(activation, "cancel")
        return Effect.void
      default:
        // Of a newer version, which reads it.
        return Effect.logWarning(
          `the message ${message.seq} of the execution ${activation.execution.id} has a kind that this version does not support (${String(message.kind)}): a newer version processes it`
        )
    }
  })

/** Returns the handler of the next event, or null. */
export const next = (activation: Activation): (() => Effect.Effect<void>) | null => {
  const { inbox, mailbox, now, operations, ready } = activation
  const first = ready.shift()
  if (first !== undefined) return first
  // After downtime the earliest event is first: the arrival of a message, or the time of a timer.
  const timer = operations.timers.first()
  const message = inbox.first()
  const signal = mailbox.next()
  const dueAt = timer !== undefined && timer.due <= now ? timer.due : Infinity
  const signalAt = signal?.message.at ?? Infinity
  const messageAt = message?.at ?? Infinity
  const deadlineAt = deadlineOf(activation)
  if (deadlineAt <= now && deadlineAt < Math.min(dueAt, signalAt, messageAt)) {
    return () => Effect.sync(() => Compensation.cancel(activation, "deadline"))
  }
  if (messageAt <= dueAt && messageAt <= signalAt && message !== undefined) {
    inbox.shift()
    return () => received(activation, message)
  }
  if (signal !== null && signalAt <= dueAt) {
    const operation = operations.at(signal.path)
    mailbox.drop()
    return operation === undefined
      ? () => Effect.void
      : () => Starts.waited(activation, operation, signal.message.value, `${signal.message.seq}`)
  }
  if (timer === undefined || dueAt === Infinity) return null
  operations.timers.shift()
  return () => Starts.due(activation, timer.item)
}
