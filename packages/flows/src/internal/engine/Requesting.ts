/**
 * Requests from outside: sends them once, and waits for their answers.
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { ExecutionNotFound, InvalidSignal, SignalConflict } from "../../FlowErrors.ts"
import type { Signal } from "../../Signals.ts"
import { digestOf, sameJson } from "../journal/Common.ts"
import { type Execution, type Message, type NewMessage, versionName } from "../model/Execution.ts"
import { addressOf, nameOf } from "../model/Path.ts"
import type { Answer } from "../model/Said.ts"
import type { Codec } from "../model/Values.ts"
import * as Accepting from "./Accepting.ts"
import type { Engine } from "./Engine.ts"
import { follow } from "./Following.ts"
import { messageOf } from "./MessageCheck.ts"

export interface Sent {
  readonly execution: string
  /** The name of the request with its key. */
  readonly address: string
  readonly input: Schema.Json
  /** Identifies a request; undefined: a new one. An approval has none. */
  readonly id: string | undefined
  readonly waitMillis: number
}

/** What has become of a request; `pending`: it is not answered yet. */
export interface Answered {
  readonly id: string
  readonly state: Answer["state"] | "pending"
  readonly value: Schema.Json
}

type Outcome = Omit<Answered, "id">

const pending: Outcome = { state: "pending", value: null }
const abandoned: Outcome = { state: "abandoned", value: null }

/** Finds what is asked for among the signals of the flow. Null when the program has not registered it, which the check says. */
const requestable = Effect.fnUntraced(function* ({ registered }: Engine["Service"], there: Execution, address: string) {
  const signals: ReadonlyArray<Signal<Codec>> | null = registered.get(versionName(there))?.signals ?? null
  const listed = signals?.find(({ name }) => name === nameOf(address))
  if (listed !== undefined && listed.request === undefined) {
    const message = `request: ${listed.name} is ${listed.kind === "signal" ? "a signal" : "an inbox"}, which answers nothing: send it`
    return yield* new InvalidSignal({ signal: address, message })
  }
  return signals
})

/** Sends the message of a request, once. */
const sent = Effect.fnUntraced(function* ({ journal, poke }: Engine["Service"], there: Execution, message: NewMessage) {
  const { id } = there
  const { outcome } = yield* journal.send(id, message)
  if (outcome === "absent") return yield* new ExecutionNotFound({ execution: id })
  if (outcome === "sent") yield* poke(id)
  return outcome
})

/** Asks for the answer of a body. */
const answered = Effect.fnUntraced(function* (
  engine: Engine["Service"],
  there: Execution,
  { id, name, value }: NewMessage,
  waitMillis: number
) {
  const execution = there.id
  const { journal } = engine
  const conflict = new SignalConflict({ execution, signal: name })
  const look = journal.answer(execution, name, id)
  const before = yield* look
  if (before !== null) return before.asked === digestOf(value) ? before : yield* conflict
  const outcome = yield* sent(engine, there, { kind: "inbox", name, id, value })
  if (outcome === "conflict") return yield* conflict
  if (outcome === "ended") {
    return yield* Accepting.conflict(there, `the execution ${execution} has ended and accepts no requests`)
  }
  const found = yield* follow(engine, execution, waitMillis, (isOpen) =>
    Effect.map(look, (answer): Outcome | null => answer ?? (isOpen ? null : abandoned))
  )
  return found ?? pending
})

const isDecisionOf = (address: string) => (message: Message) => message.kind === "signal" && message.name === address

/** Asks whether a decision counts. */
const counted = Effect.fnUntraced(function* (
  engine: Engine["Service"],
  there: Execution,
  message: NewMessage,
  waitMillis: number
) {
  const execution = there.id
  const { journal } = engine
  const said = (counted: boolean, decision: Schema.Json): Outcome => ({
    state: "answered",
    value: { counted, decision }
  })
  let isSent = false
  const look = (isOpen: boolean) =>
    Effect.map(journal.history(execution), (history): Outcome | null => {
      if (history === null) return abandoned
      const decision = history.messages.find(isDecisionOf(message.name))
      // A chapter that ends deletes what it has received.
      if (decision === undefined && isSent) return said(true, message.value)
      if (decision !== undefined && !sameJson(decision.value, message.value)) return said(false, decision.value)
      const waits = history.entries.filter(({ kind, path }) => kind === "signal" && addressOf(path) === message.name)
      if (waits.some(({ state }) => state === "succeeded")) return said(true, message.value)
      const isDecided = waits.length > 0 && waits.every(({ state }) => state === "interrupted")
      return isDecided || !isOpen ? said(false, null) : null
    })
  const before = yield* look((yield* journal.unended([execution])).has(execution))
  if (before !== null) return before
  const outcome = yield* sent(engine, there, message)
  if (outcome === "ended") return said(false, null)
  isSent = true
  return (yield* follow(engine, execution, waitMillis, look)) ?? pending
})

/** Sends a request unless it was sent before, and waits for its answer. */
export const request = Effect.fnUntraced(function* (
  engine: Engine["Service"],
  { address, execution, id, input, waitMillis }: Sent
) {
  const there = (yield* engine.journal.find(execution)) ?? (yield* new ExecutionNotFound({ execution }))
  const signals = yield* requestable(engine, there, address)
  const message = yield* messageOf(there, signals, { address, value: input, id, field: "input" })
  const asking = message.kind === "signal" ? counted : answered
  const { state, value } = yield* asking(engine, there, message, waitMillis)
  return { id: message.id, state, value } satisfies Answered
})
