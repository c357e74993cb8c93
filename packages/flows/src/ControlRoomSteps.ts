/**
 * Ready steps over a control room: create work items, run a process on them, wait, collect outputs. All need `ControlRoom`.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { Conflict, ControlRoomError, InvalidRequest, NotFound, Timeout } from "@signalbox/api/ControlRoomError"
import { File } from "@signalbox/api/contract/Files"
import { ProcessId, ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import { whenReferenceExists } from "@signalbox/api/contract/Order"
import { WorkItemException } from "@signalbox/api/contract/WorkItems"
import * as Outputs from "@signalbox/api/Outputs"
import { RetryPolicy } from "@signalbox/api/Policy"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import { open, UploadSourceError } from "@signalbox/api/Upload"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Flow from "./Flow.ts"
import { FlowCallbacks } from "./FlowCallbacks.ts"
import { collect } from "./internal/model/Collect.ts"
import { WaitIsOver } from "./internal/interpreter/calls/Steps.ts"
import { ready } from "./internal/body/ReadyStep.ts"
import { subjectOf, Watching } from "./internal/engine/RunWatchers.ts"

/** The service accepted the request but started no run. */
export class NotStarted extends TaggedError<NotStarted>()("NotStarted", { process: ProcessId }) {
  override get message(): string {
    return `no run of the process ${this.process} was started`
  }
}

const pageSize = 500

/** Returns a member of a payload as JSON text; undefined when the payload is no object or lacks it. */
const memberOf = (payload: unknown, name: string): string | undefined =>
  Predicate.isObject(payload) && Object.hasOwn(payload, name) ? JSON.stringify(payload[name]) : undefined

/** How urgent items are, and how they are found: as in `WorkItems.create` of the client. */
const order = {
  priority: Schema.optionalKey(Schema.Int),
  dueAt: Schema.optionalKey(Schema.String),
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  whenReferenceExists: Schema.optionalKey(Schema.Literals(whenReferenceExists))
}

const NewWorkItem = Schema.Struct({
  process: ProcessId,
  payload: Schema.optionalKey(Schema.NullOr(Schema.Json)),
  reference: Schema.optionalKey(Schema.String),
  ...order,
  /** The member of the payload that identifies an item of the process. */
  lookup: Schema.optionalKey(Schema.String)
}).check(
  Schema.makeFilter(({ lookup, payload }) =>
    lookup === undefined || memberOf(payload, lookup) !== undefined
      ? undefined
      : { path: ["lookup"], issue: "Expected the name of a member of the payload" }
  )
)

/** Finds the newest item of the process whose payload has the same member. */
const sameItem = (process: ProcessId, lookup: string, wanted: string | undefined) =>
  WorkItems.stream({ process, includeData: true, limit: pageSize }).pipe(
    Stream.filter(({ payload }) => memberOf(payload, lookup) === wanted),
    Stream.map(({ id }) => id),
    Stream.runHead
  )

/**
 * Creates a work item in the queue of a process, and returns its id.
 *
 * An interrupted step runs again. By the idempotency key of its request the service creates no second item, but a service that
 * ignores such keys would, as the hosted one may. For those set `lookup`, the name of a member of the payload that identifies an
 * item, such as `"orderId"`: an item of the process with the same value, in any state, is returned instead of a new one. That reads
 * all items of the process, so it suits processes with some thousands.
 */
export const createWorkItem = ready("createWorkItem", {
  input: NewWorkItem,
  success: WorkItemId,
  error: Schema.Union([InvalidRequest, NotFound, Conflict, ControlRoomError]),
  run: Effect.fnUntraced(function* ({ lookup, ...input }) {
    const create = Effect.map(WorkItems.create(input), ({ id }) => id)
    if (lookup === undefined) return yield* create
    const there = sameItem(input.process, lookup, memberOf(input.payload, lookup))
    const found = yield* there
    if (Option.isSome(found)) return found.value
    return yield* Effect.catchTag(create, "ControlRoomError", (error) =>
      // The item may have been created although the response was lost.
      error.reason._tag === "Unreachable" && error.reason.sent === "maybe"
        ? Effect.flatMap(there, (found) => (Option.isSome(found) ? Effect.succeed(found.value) : Effect.fail(error)))
        : Effect.fail(error)
    )
  })
})

/**
 * Creates a work item of each payload in the queue of a process, with one request for each 1,000, and returns their ids in that
 * order. An attempt that is cut off is repeated with the same idempotency keys; a service that ignores them would create the
 * items again. An extension of the hosted service's interface: there, `createWorkItem` in `Flow.forEach`.
 */
export const createWorkItems = ready("createWorkItems", {
  input: Schema.Struct({
    process: ProcessId,
    payloads: Schema.Array(Schema.Json),
    /** One for each payload, null for none. */
    references: Schema.optionalKey(Schema.Array(Schema.NullOr(Schema.String))),
    ...order
  }),
  success: Schema.Array(WorkItemId),
  error: Schema.Union([InvalidRequest, NotFound, Conflict, ControlRoomError]),
  // What exists is found again by the keys of the requests, when the step is retried.
  run: (input) => Effect.catchTag(WorkItems.createMany(input), "PartlyCreated", ({ cause }) => Effect.fail(cause))
})

/** Uploads files from paths, one after the other, and returns their names and sizes in bytes. Safe to repeat. */
export const attachFiles = ready("attachFiles", {
  input: Schema.Struct({ workItem: WorkItemId, files: Schema.Array(Schema.String) }),
  success: Schema.Array(Schema.Struct({ name: Schema.String, size: Schema.Finite })),
  error: Schema.Union([InvalidRequest, NotFound, Conflict, ControlRoomError, UploadSourceError]),
  run: Effect.fnUntraced(function* ({ files, workItem }) {
    const { uploads } = yield* ControlRoom
    const total = files.length
    return yield* Effect.forEach(files, (path, index) =>
      Effect.gen(function* () {
        const file = yield* open(uploads, path)
        yield* Flow.progress({ done: index, total, message: file.name })
        yield* WorkItems.attachFile(workItem, file)
        yield* Flow.progress({ done: index + 1, total, message: file.name })
        return { name: file.name, size: file.size }
      })
    )
  })
})

const StartRun = Schema.Struct({
  process: ProcessId,
  workItems: Schema.optionalKey(Schema.Array(WorkItemId)),
  /** Of the items that are made with the run, 1 to 1,000. */
  payloads: Schema.optionalKey(Schema.Array(Schema.Json).check(Schema.isBetweenLength(1, 1000)))
}).check(
  Schema.makeFilter(({ payloads, workItems }) =>
    (payloads === undefined) === (workItems === undefined)
      ? { path: ["payloads"], issue: "Expected either workItems or payloads" }
      : undefined
  )
)

/** Starts a run of a process: with work items of its queue, or with an item for each of `payloads`, in one request. */
export const startRun = ready("startRun", {
  input: StartRun,
  success: ProcessRunId,
  error: Schema.Union([InvalidRequest, NotFound, Conflict, ControlRoomError, NotStarted]),
  run: Effect.fnUntraced(function* ({ payloads, process, workItems = [] }) {
    const callbacks = yield* FlowCallbacks
    const callback =
      callbacks === null ? {} : { callback: { ...callbacks, events: ["completed", "unresolved"] as const } }
    const run = yield* ProcessRuns.start(process, payloads === undefined ? { workItems } : { payloads }, callback)
    return run.started ? run.id : yield* new NotStarted({ process })
  })
})

const mostCounted = 2_000
/** The pause after counting, for each page that was read: small runs are polled often, large ones rarely. */
const pausePerPageMillis = 250

/**
 * Reports how many of a run's current items are done or failed, a few times a second at most. For a run with too many items to list,
 * it reports only the state.
 */
const makeItemCounter = (run: ProcessRunId) => {
  let known: { readonly done: number; readonly total: number | null } = { done: 0, total: null }
  let next = 0
  const count = Stream.runFold(
    Stream.take(WorkItems.stream({ processRun: run, limit: pageSize }), mostCounted + 1),
    () => ({ done: 0, total: 0 }),
    ({ done, total }, item) => ({
      done: item.state === "done" || item.state === "failed" ? done + 1 : done,
      total: total + 1
    })
  ).pipe(
    // The count is only displayed. It must neither delay nor fail the wait, which has separate calls and retries.
    Effect.updateService(RetryPolicy, (policy) => ({ ...policy, attempts: 1, attemptTimeoutMillis: 5_000 })),
    Effect.orElseSucceed(() => ({ ...known, total: known.total ?? 0 }))
  )
  return Effect.fnUntraced(function* (current: ProcessRuns.ProcessRun) {
    const due = next <= (yield* Clock.currentTimeMillis) || ProcessRuns.hasEnded(current)
    if (due && next !== Infinity) {
      const counted = yield* count
      const pages = Math.max(1, Math.ceil(counted.total / pageSize))
      const tooMany = counted.total > mostCounted
      known = tooMany || counted.total === 0 ? { done: 0, total: null } : counted
      next = tooMany ? Infinity : (yield* Clock.currentTimeMillis) + pages * pausePerPageMillis
    }
    yield* Flow.progress({ ...known, message: current.state.replaceAll("_", " ") })
  })
}

const endOf = ({ duration, state }: ProcessRuns.ProcessRun) => {
  const how: "completed" | "unresolved" = state === "unresolved" ? "unresolved" : "completed"
  return { state: how, durationSeconds: duration }
}

const tooLate = (run: ProcessRunId, afterMillis: number) =>
  new ControlRoomError({
    reason: new Timeout({
      message: `the run did not end within ${afterMillis} ms`,
      afterMillis,
      waitedFor: "outcome"
    }),
    request: {
      operation: "ProcessRuns.awaitEnd",
      method: "GET",
      path: `/process-runs/${run}`,
      attempts: 1,
      requestId: null
    }
  })

/**
 * Waits until a run has ended, and reports how many of its work items are done or failed. A run that ended `unresolved` has
 * failed items: a result, not an error. With `timeoutMillis` it fails with `ControlRoomError` (`Timeout`) after that.
 * `durationSeconds` is null when the service does not return it. A durable execution is parked until then.
 */
export const awaitCompletion = ready(
  "awaitCompletion",
  {
    input: Schema.Struct({
      run: ProcessRunId,
      timeoutMillis: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0)))
    }),
    success: Schema.Struct({
      state: Schema.Literals(["completed", "unresolved"]),
      durationSeconds: Schema.NullOr(Schema.Finite)
    }),
    error: Schema.Union([NotFound, ControlRoomError]),
    run: Effect.fnUntraced(function* ({ run, timeoutMillis }) {
      const room = yield* ControlRoom
      const report = makeItemCounter(run)
      if (timeoutMillis !== undefined && (yield* WaitIsOver)) {
        const current = yield* ProcessRuns.get(run)
        return ProcessRuns.hasEnded(current) ? endOf(current) : yield* tooLate(run, timeoutMillis)
      }
      const ended = yield* ProcessRuns.awaitEnd(run, {
        pollInterval: "250 millis",
        onPoll: (current) => Effect.provideService(report(current), ControlRoom, room),
        timeout: timeoutMillis
      })
      return endOf(ended)
    })
  },
  ({ run, timeoutMillis }) =>
    Effect.gen(function* () {
      const room = yield* ControlRoom
      const watchers = yield* Watching
      return {
        subject: subjectOf(room.workspaceId, run),
        timeoutMillis: timeoutMillis ?? null,
        recorded: watchers === null ? Effect.void : watchers.notice(room)
      }
    })
)

const CollectedOutput = Schema.Struct({
  id: WorkItemId,
  payload: Schema.NullOr(Schema.Json),
  files: Schema.Array(File)
})

const collectedOf = (run: ProcessRunId) =>
  collect(
    Stream.map(Outputs.stream(run), ({ files, id, payload }) => ({ id, payload, files })),
    { what: `the outputs of the run ${run}`, instead: "stream them with Outputs.stream" }
  )

/**
 * Returns the outputs of a run, the oldest first. Results of more than 1 MB in all are a defect. The addresses of files are valid
 * for one hour; `Files.download` takes such a file. For a process as code, `collectOutputs` of `ProcessSteps` decodes them.
 */
export const collectOutputs = ready("collectOutputs", {
  input: Schema.Struct({ run: ProcessRunId }),
  success: Schema.Array(CollectedOutput),
  error: Schema.Union([InvalidRequest, NotFound, ControlRoomError]),
  run: ({ run }) => collectedOf(run)
})

/** Returns the failed work items of a run, the newest first, with the reasons. */
export const failedItems = ready("failedItems", {
  input: Schema.Struct({ run: ProcessRunId }),
  success: Schema.Array(Schema.Struct({ id: WorkItemId, exception: Schema.NullOr(WorkItemException) })),
  error: Schema.Union([InvalidRequest, ControlRoomError]),
  run: ({ run }) =>
    WorkItems.stream({ processRun: run, state: "failed", limit: pageSize }).pipe(
      Stream.map(({ exception, id }) => ({ id, exception })),
      Stream.runCollect
    )
})

const settleError = Schema.Union([InvalidRequest, NotFound, Conflict, ControlRoomError])

/** Marks failed work items as done, all or none. Safe to repeat. */
export const markDone = ready("markDone", {
  input: Schema.Struct({ workItems: Schema.Array(WorkItemId) }),
  success: Schema.Void,
  error: settleError,
  run: ({ workItems }) => Effect.asVoid(WorkItems.markAsDone(workItems))
})

/** Retries failed work items, all or none. Their run is in progress again: await it once more, with a key. */
export const retryFailed = ready("retryFailed", {
  input: Schema.Struct({ workItems: Schema.Array(WorkItemId) }),
  success: Schema.Void,
  error: settleError,
  run: ({ workItems }) => Effect.asVoid(WorkItems.retry(workItems))
})

/** Asks a run to stop; `accepted` is false when it had already ended. Use `awaitCompletion` to wait for its end. */
export const stopRun = ready("stopRun", {
  input: Schema.Struct({
    run: ProcessRunId,
    /** Pending items become `done` instead of `failed`. */
    remainingAsDone: Schema.optionalKey(Schema.Boolean),
    /** Running step runs are terminated instead of finishing their item. */
    terminate: Schema.optionalKey(Schema.Boolean),
    reason: Schema.optionalKey(Schema.String)
  }),
  success: Schema.Struct({ accepted: Schema.Boolean }),
  error: Schema.Union([InvalidRequest, NotFound, ControlRoomError]),
  run: ({ run, ...options }) => ProcessRuns.stop(run, options)
})
