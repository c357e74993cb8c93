/**
 * New executions that begin with the recorded results of another one.
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { FlowEngine } from "./FlowEngine.ts"
import { ExecutionConflict, ExecutionNotFound, StepNotFound } from "./FlowErrors.ts"
import type { FlowHistory } from "./FlowHistory.ts"
import * as Accepting from "./internal/engine/Accepting.ts"
import { isRecorded } from "./internal/model/Retrying.ts"
import { asCall } from "./internal/journal/Calling.ts"
import { forked } from "./internal/model/Forking.ts"
import { engineOf } from "./internal/engine/EngineOf.ts"
import { historyOf } from "./ExecutionQueries.ts"
import { runnable } from "./internal/operate/Runnable.ts"

export interface ForkOptions {
  /** The path of a recorded step or wait, or of a group or flow around it: the fork runs from there on. */
  readonly from: string
  /** The input, as JSON; default: that of the execution. The recorded results before `from` stay as they are. */
  readonly input?: Schema.Json
  /** The version that runs the fork; default: that of the execution. Where the recorded results do not fit it, the fork halts. */
  readonly version?: number
  /** The idempotency key; default: that of the execution with `~fork-1`, or the next number. */
  readonly key?: string
}

/** The tag of the forks of an execution. */
const forkOf = (execution: string) => `fork of ${execution}`

/**
 * Creates a new execution of the same flow, and of the same version unless another one is given, that begins with the recorded results of this one before a step, and runs on
 * from there; returns its id. The execution itself is not changed. Kept are what `retry` keeps, and the signals and messages that had
 * arrived when the step began. The steps of the fork have idempotency keys of its own, so the step and those after it have new effects;
 * when it fails, the undos of results that it has taken over run. It has the tags of the execution, and `fork of` its id.
 *
 * A repeat with the same `key` returns the same fork. Fails with `StepNotFound` when `from` is not recorded, and with
 * `ExecutionConflict` when no living process has registered the version, or the key belongs to another execution.
 *
 * ```ts
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 *
 * export const again = (execution: string) =>
 *   FlowExecutions.fork(execution, { from: "charge" })
 * // With the code that mends it.
 * export const mended = (execution: string) =>
 *   FlowExecutions.fork(execution, { from: "charge", version: 2 })
 * ```
 */
export const fork = Effect.fn("FlowExecutions.fork")(function* (
  execution: string,
  options: ForkOptions
): Effect.fn.Return<string, ExecutionNotFound | ExecutionConflict | StepNotFound, FlowEngine> {
  return yield* forkHistory(yield* historyOf(execution), options)
}, asCall)

/**
 * Like `fork`, of an exported history, which may be of another database: the new execution is one of this engine.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 * import * as FlowHistory from "@signalbox/flows/FlowHistory"
 *
 * export const here = (exported: unknown) =>
 *   Effect.flatMap(FlowHistory.decode(exported), (history) =>
 *     FlowExecutions.forkHistory(history, { from: "charge" })
 *   )
 * ```
 */
export const forkHistory = Effect.fn("FlowExecutions.forkHistory")(function* (
  { entries, execution: source, messages, undos }: Pick<FlowHistory, "execution" | "entries" | "undos" | "messages">,
  { from, input, key, version = source.version }: ForkOptions
): Effect.fn.Return<string, ExecutionConflict | StepNotFound, FlowEngine> {
  const { engine } = yield* engineOf
  const history = { entries, execution: source, messages, undos, redos: new Map<string, number>() }
  const execution = source.id
  yield* runnable(source, version, true)
  if (!isRecorded(history, from)) {
    const message = `from: the execution ${execution} has recorded no step ${from}`
    return yield* new StepNotFound({ execution, path: from, message })
  }
  const { flow, limits, tags } = source
  const tag = forkOf(execution)
  const now = yield* engine.journal.now
  const isQueued = limits.length > 0
  for (let number = 1; ; number++) {
    const made = yield* engine.journal.create({
      id: engine.newId(),
      flow,
      version,
      key: key ?? `${source.key}~fork-${number}`,
      input: input === undefined ? source.input : input,
      tags: [...tags.filter((one) => !one.startsWith(forkOf(""))), tag],
      parent: null,
      limits,
      state: isQueued ? "queued" : "waiting",
      owner: null,
      wakeAt: isQueued ? null : now,
      ...forked(history, from)
    })
    if (made._tag === "Created") {
      engine.metrics.entered(flow, made.execution.state)
      yield* engine.poke(made.execution.id)
      return made.execution.id
    }
    if (key === undefined) continue
    if (made._tag === "Existing" && made.execution.tags.includes(tag)) return made.execution.id
    return yield* Accepting.conflict(source, `key: another execution of ${flow} has the key ${JSON.stringify(key)}`)
  }
}, asCall)
