/**
 * Steps over processes as code: the functions of `@signalbox/api/Process` for the body of a flow, each part recorded. All need
 * `ControlRoom`. For a process of which only the id is known, use the steps of `ControlRoomSteps`.
 */
import { Conflict, ControlRoomError, InvalidRequest, NotFound } from "@signalbox/api/ControlRoomError"
import { ProcessId, ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import { WorkItemException } from "@signalbox/api/contract/WorkItems"
import * as Process from "@signalbox/api/Process"
import { UploadSourceError } from "@signalbox/api/Upload"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Steps from "./ControlRoomSteps.ts"
import type { FlowContext } from "./FlowContext.ts"
import { ready } from "./internal/body/ReadyStep.ts"

/** What each of these can fail with, for the `error` of a flow. */
export const error = Schema.Union([
  InvalidRequest,
  NotFound,
  Conflict,
  ControlRoomError,
  UploadSourceError,
  Steps.NotStarted,
  Process.NotDeployed,
  Process.InvalidPayload,
  Process.InvalidOutput,
  Process.RunUnresolved
])

const findProcess = ready("findProcess", {
  input: Schema.Struct({ name: Schema.String }),
  success: ProcessId,
  error: Schema.Union([InvalidRequest, ControlRoomError, Process.NotDeployed]),
  run: ({ name }) => Process.idByName(name)
})

const failedOf = ready("failedItems", {
  input: Schema.Struct({ process: ProcessId, run: ProcessRunId }),
  success: Schema.Array(
    Schema.Struct({
      id: WorkItemId,
      step: Schema.NullOr(Schema.String),
      exception: Schema.NullOr(WorkItemException)
    })
  ),
  error: Schema.Union([InvalidRequest, NotFound, ControlRoomError]),
  run: ({ process, run }) => Effect.catchTag(Process.failedItems(process, { run }), "NotDeployed", Effect.die)
})

const find = (process: Process.Process) => findProcess({ name: process.name })

/**
 * Creates work items in the queue of a process, 1,000 in one request, and returns their ids in the order of the payloads. A step that
 * is cut off runs again, and the service creates none of them twice.
 */
export const createWorkItems = Effect.fnUntraced(function* <P extends Process.Process>(
  process: P,
  payloads: ReadonlyArray<Process.Payload<P>>
) {
  const encoded = yield* Process.encodePayloads(process, payloads)
  return yield* Steps.createWorkItems({ process: yield* find(process), payloads: encoded })
})

/** Starts a run of a process with work items of its queue. */
export const startRun = Effect.fnUntraced(function* (
  process: Process.Process,
  input: { readonly workItems: ReadonlyArray<WorkItemId> }
) {
  return yield* Steps.startRun({ process: yield* find(process), workItems: input.workItems })
})

/** The outputs of a run, decoded, oldest first, for results of up to 1 MB in all: more is a defect. */
export const collectOutputs = Effect.fnUntraced(function* <P extends Process.Process>(
  process: P,
  input: { readonly run: ProcessRunId }
) {
  return yield* Process.decodeOutputs(process, yield* Steps.collectOutputs(input))
})

/** The failed work items of a run, newest first: at which step, and why. */
export const failedItems = Effect.fnUntraced(function* <P extends Process.Process>(
  process: P,
  input: { readonly run: ProcessRunId }
) {
  const failed = yield* failedOf({ process: yield* find(process), run: input.run })
  const names = new Set<string>(process.steps.map(({ name }) => name))
  return failed.map(({ exception, id, step }): Process.FailedItem<P> => ({
    id,
    // One of the names of the steps of `P`, as has just been seen.
    step: (step !== null && names.has(step) ? step : null) as Process.FailedItem<P>["step"],
    exception
  }))
})

export interface RunOptions<P extends Process.Process, E, R> {
  /**
   * What happens to failed items: `"fail"` (default) fails with `RunUnresolved`, `"settle"` marks all as done; a function
   * decides for each, and again in each round after a retry (`round` counts from 1). It can call steps and wait for signals.
   */
  readonly failures?:
    | "fail"
    | "settle"
    | ((item: Process.FailedItem<P>, round: number) => Effect.Effect<Process.Decision, E, FlowContext<R>>)
  /** Paths of the files of an item; default: none. */
  readonly files?: (payload: Process.Payload<P>, index: number) => ReadonlyArray<string>
  /** Fails with `ControlRoomError` (`Timeout`) after this time in a round; the run continues. Default: no limit. */
  readonly timeoutMillis?: number
}

/**
 * Runs a process from its payloads to its outputs: creates the items, attaches their files, starts a run, waits for its end,
 * handles failed items, and collects the outputs. Each part is a separate step, so that a durable execution resumes where it was, and
 * waits without being in memory. To run several in parallel, call it inside `Flow.forEach` or `Flow.all`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Process from "@signalbox/api/Process"
 * import * as Flow from "@signalbox/flows/Flow"
 * import * as ProcessSteps from "@signalbox/flows/ProcessSteps"
 *
 * const Order = Schema.Struct({ number: Schema.Finite })
 * const order = Process.packageTask({
 *   package: "orders",
 *   task: "order",
 *   input: Order,
 *   output: Order
 * })
 * const orders = Process.make("orders", { steps: [order] })
 *
 * export const daily = Flow.make("daily", {
 *   version: 1,
 *   input: Schema.Struct({ numbers: Schema.Array(Schema.Finite) }),
 *   success: Schema.Finite,
 *   error: ProcessSteps.error,
 *   idempotencyKey: ({ numbers }) => numbers.join(),
 *   run: Effect.fnUntraced(function* ({ numbers }) {
 *     const payloads = numbers.map((number) => ({ number }))
 *     const { outputs } = yield* ProcessSteps.run(orders, payloads, {
 *       failures: "settle"
 *     })
 *     return outputs.length
 *   })
 * })
 * ```
 */
export const run = Effect.fnUntraced(function* <P extends Process.Process, E = never, R = never>(
  process: P,
  payloads: ReadonlyArray<Process.Payload<P>>,
  options: RunOptions<P, E, R> = {}
) {
  const { failures = "fail", files, timeoutMillis } = options
  if (payloads.length === 0) {
    return yield* new Process.InvalidPayload({ message: "payloads: a run takes one at least" })
  }
  const items = yield* createWorkItems(process, payloads)
  for (const [index, workItem] of items.entries()) {
    const payload = payloads[index]
    const paths = files === undefined || payload === undefined ? [] : files(payload, index)
    if (paths.length > 0) yield* Steps.attachFiles({ workItem, files: paths })
  }
  const run = yield* startRun(process, { workItems: items })
  const settled: Array<WorkItemId> = []
  for (let round = 1; ; round++) {
    const { state } = yield* Steps.awaitCompletion({ run, ...defined({ timeoutMillis }) })
    if (state === "completed") break
    const failed = yield* failedItems(process, { run })
    const decisions: Record<Process.Decision, Array<WorkItemId>> = { retry: [], settle: [], fail: [] }
    for (const item of failed) {
      decisions[typeof failures === "string" ? failures : yield* failures(item, round)].push(item.id)
    }
    if (decisions.fail.length > 0) return yield* Process.RunUnresolved.of(run, failed)
    if (decisions.settle.length > 0) yield* Steps.markDone({ workItems: decisions.settle })
    settled.push(...decisions.settle)
    if (decisions.retry.length === 0) break
    yield* Steps.retryFailed({ workItems: decisions.retry })
  }
  const ran: Process.Ran<P> = { run, outputs: yield* collectOutputs(process, { run }), settled }
  return ran
})
