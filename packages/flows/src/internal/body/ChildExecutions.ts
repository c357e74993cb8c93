/**
 * Child executions: the service with which a body starts and awaits them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { FlowDefect } from "../../FlowDefect.ts"
import { ExecutionConflict, SignalConflict } from "../../FlowErrors.ts"
import { type Entry, type Execution, hasEnded, type NewExecution, type NewMessage } from "../model/Execution.ts"
import { type Journal } from "../journal/Journal.ts"
import type { When } from "../model/When.ts"

/** The end of an execution. */
export type Ended = Pick<Execution, "id" | "version" | "state" | "result" | "error" | "failure" | "deadlineAt">

/** What the end of an execution does to its children. */
export const ParentEnd = Schema.Literals(["cancel", "leave"])

/** The record of a started child. */
export const Started = Schema.Struct({ execution: Schema.String, onParentEnd: ParentEnd })
export type Started = typeof Started.Type

export interface NewChild extends Pick<NewExecution, "flow" | "version" | "key" | "input" | "tags" | "limits"> {
  readonly parent: string
  readonly onParentEnd: Started["onParentEnd"]
  readonly when: When
  /** Runs it concurrently with the parent, for a script. */
  readonly run: (id: string) => Effect.Effect<Ended>
}

export interface Children {
  /** Creates a child, or joins the execution of its flow and key; returns the id. */
  readonly start: (child: NewChild) => Effect.Effect<string>
  /** Returns the execution of a flow with this key; null when none exists. */
  readonly find: (flow: string, key: string) => Effect.Effect<string | null>
  /** Called when a wait for the end of an execution is recorded: ends the wait if the execution has already ended. */
  readonly awaited: (id: string) => Effect.Effect<void>
  /** Waits until an execution has ended. A halted one has not. */
  readonly ended: (id: string) => Effect.Effect<Ended>
  readonly send: (id: string, message: NewMessage) => Effect.Effect<void, SignalConflict | ExecutionConflict>
  readonly cancel: (id: string) => Effect.Effect<void>
  /** Cancels the children that must not outlive an execution that is about to end. */
  readonly endAll: (parent: string) => Effect.Effect<void>
}

const nowhere = () =>
  Effect.die(new FlowDefect({ message: "a child execution was used outside the body of a flow: see Flow.start" }))

/** The service with which bodies start children. */
export const Children = Context.Reference<Children>("@signalbox/flows/Children", {
  defaultValue: () => ({
    start: nowhere,
    find: nowhere,
    awaited: nowhere,
    ended: nowhere,
    send: nowhere,
    cancel: nowhere,
    endAll: () => Effect.void
  })
})

const isStarted = Schema.is(Started)
/** Returns the child of an entry if it must not outlive its parent. */
const cancelledWith = ({ kind, value }: Entry): ReadonlyArray<string> =>
  kind === "child" && isStarted(value) && value.onParentEnd === "cancel" ? [value.execution] : []

type JournalOf = Journal["Service"]

/** Cancels the children of an execution that must not outlive it; joined ones that were started elsewhere are left. */
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
