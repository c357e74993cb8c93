/**
 * What the code of running steps says: details for the next attempt, and items of feeds. The next write of the execution has them, for
 * which a step asks at most once a second; what it said last is written with the end of its attempt.
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { type Activation, wake } from "./Activation.ts"
import type { Report } from "./calls/Spec.ts"
import { change } from "./Operations.ts"
import type { Operation } from "./state/Operation.ts"

const pauseMillis = 1_000

/** What an attempt has said since its last write. */
export interface Unreported {
  /** Undefined when it has recorded none. */
  details: Schema.Json | undefined
  /** From when on it is written. */
  dueAt: number
}

/** Begins the report of an attempt. */
export const open = (activation: Activation, operation: Operation): Report => {
  const said: Unreported = { details: undefined, dueAt: -Infinity }
  operation.report = said
  // The function of an interrupted attempt may go on for a while: nothing of that counts.
  const isOpen = () => operation.report === said
  const ask = () => {
    if (activation.reporting.has(operation)) return
    activation.reporting.set(operation, said)
    wake(activation)
  }
  return {
    details: operation.entry.details ?? null,
    record: (details) => {
      if (!isOpen()) return
      said.details = details
      ask()
    },
    append: (feed, value) =>
      Effect.map(activation.host.now, (at) => {
        if (!isOpen()) return
        activation.saying.appendLater(feed, value, at)
        ask()
      })
  }
}

/** Passes what an attempt has said to the next write. */
const pass = (activation: Activation, operation: Operation, said: Unreported) => {
  const { operations, reporting, saying } = activation
  reporting.delete(operation)
  saying.due()
  const { details } = said
  said.details = undefined
  // The end of one whose branch was cancelled has deleted them.
  if (details !== undefined && operations.isOpen(operation)) change(activation, operation, { details })
}

/** Passes what is due to the next write; returns whether there is something. */
export const take = (activation: Activation): boolean => {
  const { now, reporting } = activation
  let isDue = false
  for (const [operation, said] of reporting) {
    if (said.dueAt > now) continue
    said.dueAt = now + pauseMillis
    pass(activation, operation, said)
    isDue = true
  }
  return isDue
}

/** When something is due; `Infinity`: nothing was said. */
export const dueAt = ({ reporting }: Activation): number => {
  let first = Infinity
  for (const { dueAt } of reporting.values()) first = Math.min(first, dueAt)
  return first
}

/** Ends the report of an attempt. */
export const close = (activation: Activation, operation: Operation) => {
  const said = activation.reporting.get(operation)
  operation.report = null
  if (said !== undefined) pass(activation, operation, said)
}
