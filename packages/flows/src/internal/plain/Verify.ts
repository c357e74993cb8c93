/**
 * Replays of a record without new effects, to check that the current code takes the recorded path.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { endPath, FlowChanged } from "../../FlowErrors.ts"
import { FlowEvents } from "../../FlowEvents.ts"
import { run } from "../interpreter/Interpreter.ts"
import { nowhere, type Where } from "../interpreter/Halts.ts"
import type { Body, Host, Outcome } from "../interpreter/Contract.ts"
import type { Entry, Execution, History, Write } from "../model/Execution.ts"
import * as Restless from "../model/Restless.ts"
import { canonical } from "../model/Values.ts"
import { isLate } from "../model/When.ts"

/** The end of a chapter of an execution, as far as its body decides it; null: it has not ended. */
export type Ending = Schema.Json

export const endingOf = (outcome: Outcome): Ending => {
  switch (outcome._tag) {
    case "Completed":
      return { completed: outcome.result }
    case "Failed":
      return { failed: outcome.error }
    case "Cancelled":
      return { cancelled: true }
    case "Continued":
      return { continued: outcome.input }
    default:
      return null
  }
}

/** Like `endingOf`, from the record. */
export const recordedEnding = ({ error, failure, result, state }: Execution): Ending => {
  if (state === "completed") return { completed: result }
  // A terminated execution ended without its body, and so may one at its deadline.
  if (isLate({ error, failure, state })) return null
  if (state === "failed" && failure?.kind === "failed") return { failed: error }
  return null
}

interface Record extends Pick<History, "entries" | "undos" | "messages" | "redos"> {
  readonly execution: Pick<Execution, "id" | "flow" | "version" | "chapter">
  readonly durable: boolean
  /** The recorded end; null when there is none. */
  readonly ending: Ending
}

const silent = { publish: () => Effect.void }

/** Why a body does not take the recorded path. */
export interface Misfit {
  readonly cause: Cause.Cause<unknown>
  readonly where: Where
}

/** Replays a record; returns why the body halts if it does not take the recorded path. */
export const replayed = Effect.fnUntraced(function* (
  { durable, ending, entries, execution, messages, redos, undos }: Record,
  body: Body
): Effect.fn.Return<Misfit | null> {
  let reached: ReadonlyArray<string> = []
  const host: Omit<Host, "restless"> = {
    durable,
    name: "replay",
    process: null,
    // At time 0 no timer is due.
    now: Effect.succeed(0),
    write: () => Effect.succeed(true),
    messages: () => Effect.succeed([]),
    isCrowded: () => false,
    outside: () => Effect.void,
    gates: null,
    onEdge: (paths) => {
      reached = paths
    }
  }
  const outcome = yield* Restless.around((restless) =>
    run({
      execution: { ...execution, state: "running", mail: 0, startsAt: null, deadlineAt: null },
      history: {
        entries,
        undos,
        redos,
        messages: messages.filter(({ kind }) => kind === "signal" || kind === "inbox")
      },
      host: { ...host, restless },
      body: { ...body, context: Context.add(body.context, FlowEvents, silent) },
      onSession: () => {}
    })
  ).pipe(Effect.orDie)
  if (outcome._tag === "Halted") return outcome
  const today = endingOf(outcome)
  if (ending === null || canonical(today) === canonical(ending)) return null
  const { flow, id, version } = execution
  const changed = new FlowChanged({
    flow,
    version,
    execution: id,
    recorded: endPath,
    reached: reached[0] ?? null,
    inputs: today === null ? null : { recorded: ending, reached: today }
  })
  return { cause: Cause.die(changed), where: nowhere }
})

/** Collects the record of an execution, for a replay. */
export const makeRecorder = () => {
  const entries = new Map<string, Entry>()
  const undos = new Map<string, History["undos"][number]>()
  return {
    write: (write: Write) =>
      Effect.sync(() => {
        for (const entry of write.entries) entries.set(`${entry.path} ${entry.attempt}`, entry)
        for (const undo of write.undos) undos.set(undo.path, undo)
        return true
      }),
    /** Returns everything recorded since the last call. */
    take: () => {
      const all = {
        entries: [...entries.values()].sort((one, other) => one.begun - other.begun),
        undos: [...undos.values()]
      }
      entries.clear()
      undos.clear()
      return all
    }
  }
}
