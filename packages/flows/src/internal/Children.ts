/**
 * Executions that are started by others: what a body needs to start one and to await it, and who wakes those that wait.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { FlowDefect } from "../FlowDefect.ts"
import { ExecutionConflict, SignalConflict } from "../FlowErrors.ts"
import { type Entry, type Execution, hasEnded, type Journal, type NewExecution, type NewMessage } from "./Journal.ts"

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

const isStarted = Schema.is(Started)
/** Children that an entry has started and that are not to outlive their parent. */
const cancelledWith = ({ kind, value }: Entry): ReadonlyArray<string> =>
  kind === "child" && isStarted(value) && value.onParentEnd === "cancel" ? [value.execution] : []

type JournalOf = Journal["Service"]

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
