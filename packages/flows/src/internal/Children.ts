/**
 * Executions that are started by others: what a body needs to start one and to await it, and who wakes those that wait.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schema from "effect/Schema"
import { FlowDefect } from "../FlowDefect.ts"
import { ExecutionConflict, SignalConflict } from "../FlowErrors.ts"
import type { EngineParts } from "./Engine.ts"
import { type Awaiting, type Entry, type Execution, hasEnded, type Journal, type NewExecution } from "./Journal.ts"
import type { NewMessage } from "./Journal.ts"

/** How an execution ended. */
export type Ended = Pick<Execution, "id" | "version" | "state" | "result" | "error" | "failure">

/** What the end of an execution means for those that it has started. */
export const ParentEnd = Schema.Literals(["cancel", "leave"])

/** What is recorded of a child that was started. */
export const Started = Schema.Struct({ execution: Schema.String, onParentEnd: ParentEnd })
export type Started = typeof Started.Type

export interface NewChild extends Pick<NewExecution, "flow" | "version" | "key" | "input" | "tags" | "limits"> {
  readonly parent: string
  readonly onParentEnd: Started["onParentEnd"]
  /** Runs it beside the parent, for a script. */
  readonly run: (id: string) => Effect.Effect<Ended>
}

export interface Children {
  /** Creates a child, or joins the execution of its flow and key; returns the id. */
  readonly start: (child: NewChild) => Effect.Effect<string>
  /** A wait for the end of an execution is recorded: ends it when that has come already. */
  readonly awaited: (id: string) => Effect.Effect<void>
  /** Waits until an execution has ended. One that is halted has not. */
  readonly ended: (id: string) => Effect.Effect<Ended>
  readonly send: (id: string, message: NewMessage) => Effect.Effect<void, SignalConflict | ExecutionConflict>
  readonly cancel: (id: string) => Effect.Effect<void>
  /** The execution is about to end: cancels the children that are not to outlive it. */
  readonly endAll: (parent: string) => Effect.Effect<void>
}

const nowhere = () =>
  Effect.die(new FlowDefect({ message: "a child execution was used outside the body of a flow: see Flow.start" }))

/** Where the executions of a body start others. */
export const Children = Context.Reference<Children>("@signalbox/flows/Children", {
  defaultValue: () => ({
    start: nowhere,
    awaited: nowhere,
    ended: nowhere,
    send: nowhere,
    cancel: nowhere,
    endAll: () => Effect.void
  })
})

const prefix = "execution "
/** What tells an execution from all else that is awaited. */
export const subjectOf = (id: string): string => prefix + id
/** The execution that is awaited; null when it is something else. */
export const executionIn = (subject: string | null): string | null =>
  subject !== null && subject.startsWith(prefix) ? subject.slice(prefix.length) : null

const isStarted = Schema.is(Started)
/** Children that an entry has started and that are not to outlive their parent. */
const cancelledWith = ({ kind, value }: Entry): ReadonlyArray<string> =>
  kind === "child" && isStarted(value) && value.onParentEnd === "cancel" ? [value.execution] : []

type JournalOf = Journal["Service"]

/** So few are looked up one by one. */
const few = 3
/** Whoever awaits in another process is told so much later: most executions are awaited by none, and are asked for together. */
const gatherMillis = 50
const mostExpected = 10_000

/**
 * Wakes executions that await others. The process that ends one does it; what it did not get to is found when this process
 * begins, and whenever changes may have been missed.
 */
export const makeWaker = (journal: JournalOf, poke: (id: string) => Effect.Effect<void>) => {
  const changed = Latch.makeUnsafe()
  const hurried = Latch.makeUnsafe()
  const over = new Set<string>()
  /** Known to be awaited: some, not all of them. */
  const expected = new Set<string>()
  let mayHaveMissed = false

  const complete = ({ execution, path }: Awaiting) =>
    Effect.andThen(journal.send(execution, { kind: "done", name: path, id: "", value: null }), poke(execution))
  const subjectIn =
    (ids: ReadonlySet<string>) =>
    ({ subject }: Awaiting): boolean => {
      const id = executionIn(subject)
      return id !== null && ids.has(id)
    }

  const wake = Effect.fnUntraced(function* (ids: ReadonlySet<string>) {
    const prefixes = ids.size > few ? [prefix] : [...ids].map(subjectOf)
    const waits = (yield* Effect.forEach(prefixes, journal.awaiting)).flat().filter(subjectIn(ids))
    yield* Effect.forEach(waits, complete, { discard: true })
  })
  const expect = (id: string) => {
    if (expected.size >= mostExpected) expected.clear()
    expected.add(id)
  }
  const sweep = Effect.gen(function* () {
    const awaited = new Set((yield* journal.awaiting(prefix)).flatMap(({ subject }) => executionIn(subject) ?? []))
    const ended = new Set<string>()
    for (const id of awaited) {
      const execution = yield* journal.find(id)
      if (execution === null || hasEnded(execution.state)) ended.add(id)
      else expect(id)
    }
    if (ended.size > 0) yield* wake(ended)
  })

  const hurry = () => {
    hurried.openUnsafe()
    changed.openUnsafe()
  }

  return {
    /** An execution of this process awaits this one. */
    awaited: expect,
    /** An execution has ended. */
    ended: (id: string) => {
      over.add(id)
      if (expected.delete(id)) hurry()
      else changed.openUnsafe()
    },
    /** Others may have ended, and nobody was told. */
    missed: () => {
      mayHaveMissed = true
      hurry()
    },
    loop: Effect.gen(function* () {
      yield* changed.await
      yield* Effect.timeoutOption(hurried.await, gatherMillis)
      changed.closeUnsafe()
      hurried.closeUnsafe()
      const ids = new Set(over)
      over.clear()
      if (ids.size > 0) yield* wake(ids)
      if (!mayHaveMissed) return
      mayHaveMissed = false
      yield* sweep
    }).pipe(
      // It must go on, whatever happens to one look.
      Effect.catchDefect((defect) => Effect.logWarning("executions that await others could not be woken", defect)),
      Effect.forever
    )
  }
}

/** Cancels the children of an execution that are not to outlive it; those that others had started are left. */
export const endAll = Effect.fnUntraced(function* <R>(
  journal: JournalOf,
  parent: string,
  cancel: (id: string) => Effect.Effect<void, never, R>
) {
  const history = yield* journal.history(parent)
  if (history === null) return
  const entries = [...history.entries, ...(yield* journal.aside(parent))]
  yield* Effect.forEach(
    new Set(entries.flatMap(cancelledWith)),
    (id) =>
      Effect.flatMap(journal.find(id), (child) =>
        child === null || child.parent !== parent || hasEnded(child.state) ? Effect.void : cancel(id)
      ),
    { concurrency: 8, discard: true }
  )
})

/** Between looks at a child that was ended and is under way again. */
const pause = "1 second"

/** Children that are executions of an engine. */
export const durable = (engine: EngineParts, cancel: (id: string) => Effect.Effect<void>): Children => {
  const { journal } = engine
  return {
    start: Effect.fnUntraced(function* ({ onParentEnd, run: _run, ...child }) {
      const { id } = yield* Effect.catchTag(engine.submit({ ...child, messages: [] }), "FlowExpired", Effect.die)
      // A parent that was terminated meanwhile has ended without this child.
      const parent = yield* journal.find(child.parent)
      if (onParentEnd === "cancel" && parent !== null && hasEnded(parent.state)) {
        const { parent: startedBy } = (yield* journal.find(id)) ?? { parent: null }
        if (startedBy === child.parent) yield* cancel(id)
      }
      return id
    }),
    awaited: (id) =>
      Effect.suspend(() => {
        engine.awaited(id)
        return Effect.map(journal.find(id), (execution) => {
          if (execution === null || hasEnded(execution.state)) engine.tellWaiting(id)
        })
      }),
    ended: Effect.fnUntraced(function* (id) {
      for (;;) {
        const execution = yield* engine.settled(id)
        if (execution === null) {
          const message = `the execution ${id} is awaited and no longer retained: retain executions for longer than others await them`
          return yield* Effect.die(new FlowDefect({ message }))
        }
        if (hasEnded(execution.state)) return execution
        yield* Effect.sleep(pause)
      }
    }),
    send: Effect.fnUntraced(function* (id, message) {
      const { outcome } = yield* journal.send(id, message)
      if (outcome === "conflict") return yield* new SignalConflict({ execution: id, signal: message.name })
      if (outcome === "ended" || outcome === "absent") {
        const { state } = (yield* journal.find(id)) ?? { state: "expired" }
        const text = `the execution ${id} has ended and takes no signals`
        return yield* new ExecutionConflict({ execution: id, state, message: text })
      }
      yield* engine.poke(id)
    }),
    cancel,
    endAll: (parent) => endAll(journal, parent, cancel)
  }
}
