/**
 * What the conformance suite of the journal is run on, and the rows that it writes.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { LeaseClock } from "../../../src/internal/journal/sql/Store.ts"
import type {
  Entry,
  Execution,
  Message,
  NewExecution,
  NewMessage,
  Undo,
  Write
} from "../../../src/internal/model/Execution.ts"
import type { Journal } from "../../../src/internal/journal/Journal.ts"

export type TheJournal = typeof Journal.Service

/** A storage for journals. */
export interface Place {
  readonly name: string
  /** Opens a journal on new storage; its `open` returns other processes on that storage, or the same one if there is only one. */
  readonly make: Effect.Effect<Opened, never, Scope.Scope>
  /** Whether the response of each statement is lost once, so that all of them are repeated. */
  readonly losesAnswers?: boolean
}

export interface Opened {
  readonly open: Effect.Effect<TheJournal, never, Scope.Scope>
}

export interface Bench extends Opened {
  readonly journal: TheJournal
  readonly time: Time
  readonly losesAnswers: boolean
}

/** A clock that stands still until a test advances it; sleeps are real. */
export interface Time {
  readonly now: () => number
  readonly pass: (millis: number) => void
}

export const begin = 1_700_000_000_000

const makeTime = (real: Clock.Clock) => {
  let at = begin
  const millis = () => at
  const nanos = () => BigInt(at) * 1_000_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => real.sleep(duration)
  }
  const time: Time = {
    now: millis,
    pass: (passed) => {
      at += passed
    }
  }
  return { clock, time }
}

export type Test = (title: string, body: (bench: Bench) => Effect.Effect<void, unknown, Scope.Scope>) => void

/** A part of the suite, on a place. */
export const part = (name: string, tests: (test: Test) => void) => (place: Place) => {
  const test: Test = (title, body) =>
    it.live(title, () =>
      Effect.gen(function* () {
        const { clock, time } = makeTime(yield* Clock.Clock)
        yield* Effect.gen(function* () {
          const { open } = yield* place.make
          yield* body({ open, journal: yield* open, time, losesAnswers: place.losesAnswers === true })
        }).pipe(Effect.provideService(Clock.Clock, clock), Effect.provideService(LeaseClock, "journal"))
      }).pipe(Effect.scoped)
    )
  describe(`the journal ${place.name}: ${name}`, () => tests(test))
}

export const orders = { flow: "orders", version: 1 }
export const hour = 3_600_000

/** An execution without an owner that is due immediately. */
export const order = (key: string, more: Partial<NewExecution> = {}): NewExecution => ({
  ...orders,
  id: `id-${key}`,
  key,
  input: { order: key },
  tags: [],
  parent: null,
  limits: [],
  state: "running",
  owner: null,
  wakeAt: begin,
  messages: [],
  ...more
})

/** The execution that `create` returns for `order`. */
export const created = (key: string, more: Partial<Execution> = {}): Execution => {
  const { messages, ...fields } = order(key)
  return {
    ...fields,
    result: null,
    error: null,
    failure: null,
    chapter: 0,
    round: 0,
    queuedAt: null,
    startsAt: null,
    priority: 0,
    deadlineAt: null,
    epoch: 0,
    mail: messages.length,
    startedAt: begin,
    changedAt: begin,
    endedAt: null,
    ...more
  }
}

export const entry = (path: string, more: Partial<Entry> = {}): Entry => ({
  path,
  attempt: 1,
  redo: 0,
  name: path,
  kind: "step",
  input: { of: path },
  state: "running",
  value: null,
  failure: null,
  begun: 1,
  ended: null,
  startedAt: begin,
  endedAt: null,
  due: null,
  subject: null,
  host: "here",
  ...more
})

export const succeeded = (path: string, begun: number, more: Partial<Entry> = {}): Entry =>
  entry(path, { state: "succeeded", value: path, begun, ended: begun + 1, endedAt: begin, ...more })

export const undo = (path: string, more: Partial<Undo> = {}): Undo => ({
  path,
  redo: 0,
  state: "pending",
  position: 1,
  failure: null,
  ...more
})

export const write = (more: Partial<Write> = {}): Write => ({
  execution: {},
  entries: [],
  undos: [],
  taken: [],
  seen: 0,
  ...more
})

export const signal = (name: string, more: Partial<NewMessage> = {}): NewMessage => ({
  kind: "signal",
  name,
  id: "",
  value: true,
  ...more
})

export const message = (seq: number, more: NewMessage, at = begin): Message => ({ ...more, seq, at })

export const boom = { kind: "failed", tag: "Boom", message: "it went wrong" } as const

/** What `create` created. */
export const create = Effect.fnUntraced(function* (journal: TheJournal, execution: NewExecution) {
  const answer = yield* journal.create(execution)
  assert(answer._tag === "Created")
  return answer.execution
})

/** Creates an execution that a process owns, and returns its fence. */
export const owned = (journal: TheJournal, key: string, more: Partial<NewExecution> = {}) =>
  Effect.map(create(journal, order(key, { owner: "me", ...more })), ({ epoch, id }) => ({ id, epoch }))

/** All of an execution that is there. */
export const historyOf = Effect.fnUntraced(function* (journal: TheJournal, id: string) {
  const history = yield* journal.history(id)
  assert(history !== null)
  return history
})

export const found = Effect.fnUntraced(function* (journal: TheJournal, id: string) {
  const execution = yield* journal.find(id)
  assert(execution !== null)
  return execution
})

/** Ends an execution that a process owns. */
export const end = (journal: TheJournal, fence: { readonly id: string; readonly epoch: number }, at: number) =>
  journal.write(
    fence,
    write({ execution: { state: "completed", result: "done", owner: null, wakeAt: null, endedAt: at } })
  )

export const register = (journal: TheJournal, id: string, leaseMillis: number | null = null) =>
  journal.renew({ id, host: `host of ${id}`, flows: [orders], leaseMillis })

export const idsOf = (executions: ReadonlyArray<{ readonly id: string }>) => executions.map(({ id }) => id)
