/**
 * Values as a reader sees them: withheld from one who may not see values, and without ciphertext where a key is not there.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Failure } from "../../FlowEvents.ts"
import * as Envelope from "../model/Envelope.ts"
import type { History } from "../model/Execution.ts"
import { converter } from "../model/ValueMembers.ts"

/** Whether the reader may see values. A token may be for less. */
export const SeesValues = Context.Reference<boolean>("@signalbox/flows/SeesValues", { defaultValue: () => true })

/** The failure without what may quote a value. */
const withoutText = (failure: Failure): Failure => {
  const { kind, tag } = failure
  const message = tag ?? kind
  if (!Predicate.hasProperty(failure, "halt") || !Predicate.isObject(failure.halt)) return { kind, tag, message }
  // As of any failure with a halt; what its value is has no place in the type of a failure.
  const halted: Failure & { readonly halt: object } = {
    kind,
    tag,
    message,
    halt: { ...failure.halt, value: null }
  }
  return halted
}

const withheld = converter({ value: () => null, failure: withoutText })

const readable = converter({
  value: Envelope.emptied,
  failure: (failure) =>
    Envelope.isSealed(failure.message)
      ? { ...failure, message: Envelope.cannotRead("its message", failure.message) }
      : failure
})

/** Returns how the current reader sees what is recorded. */
export const seen = Effect.map(SeesValues, (sees) => (sees ? readable : withheld))

/** Returns the history as the current reader sees it. */
export const historySeen = <H extends Pick<History, "execution" | "entries" | "undos" | "messages">>(history: H) =>
  Effect.map(seen, ({ entry, execution, message, undo }): H => ({
    ...history,
    execution: execution(history.execution),
    entries: history.entries.map(entry),
    undos: history.undos.map(undo),
    messages: history.messages.map(message)
  }))

/** Returns the name of the key that is missing for a value of an execution; undefined when all can be read. */
export const missingKeyOf = ({
  entries,
  execution: { error, input, result },
  messages
}: Pick<History, "execution" | "entries" | "messages">): string | undefined => {
  const all: ReadonlyArray<Schema.Json> = [
    input,
    result,
    error,
    ...entries.flatMap((entry) => [entry.input, entry.value]),
    ...messages.map(({ value }) => value)
  ]
  const first = all.find(Envelope.isSealed)
  return first === undefined ? undefined : Envelope.keyNameOf(first)
}
