/** Schedules: times at which runs of a process start. An extension of the hosted service's interface. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ProcessId, ScheduleId } from "./contract/Ids.ts"
import type { Deleted, Page } from "./contract/Common.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/Schedules.ts"
import { names, pageSize, refuseUnknown, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, type ProcessRef, returning, withProcess } from "./internal/calls/Workspace.ts"
import type { ListOptions } from "./ListOptions.ts"

export type {
  Schedule,
  ScheduleDefinition,
  ScheduleInputs,
  ScheduleListed,
  ScheduleOccurrence,
  ScheduleRules,
  ScheduleTime,
  SkipReason
} from "./contract/Schedules.ts"

const call = {
  get: returning<contract.Schedule, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.ScheduleListed>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.Schedule, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.create)),
  update: returning<contract.Schedule, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.update)),
  remove: returning<Deleted<ScheduleId>, NotFound>()(inWorkspace(contract.remove)),
  pause: returning<contract.Schedule, InvalidRequest | NotFound>()(inWorkspace(contract.pause)),
  resume: returning<contract.Schedule, NotFound>()(inWorkspace(contract.resume)),
  next: returning<{ readonly data: ReadonlyArray<contract.ScheduleTime> }, NotFound>()(inWorkspace(contract.next)),
  previewTimes: returning<{ readonly data: ReadonlyArray<contract.ScheduleTime> }, InvalidRequest>()(
    inWorkspace(contract.previewTimes)
  ),
  listOccurrences: returning<Page<contract.ScheduleOccurrence>, InvalidRequest | NotFound>()(
    inWorkspace(contract.listOccurrences)
  )
}

/** A schedule as it is written: its definition, whose process is an id or an object with it. */
export interface NewSchedule extends Omit<contract.ScheduleDefinition, "process"> {
  readonly process: ProcessRef
}

/** Which schedules, and which page of them. */
export interface PageFilter extends ListOptions {
  readonly process?: ProcessId | undefined
}

const listed = names<PageFilter>("filter", { process: 1, limit: 1, cursor: 1 })
const streamed = names<Omit<PageFilter, "cursor">>("filter", { process: 1, limit: 1 })

/** Returns a schedule with its inputs and its runs that have not ended. */
export const get = Effect.fn("Schedules.get")((schedule: ScheduleId) => call.get({ params: { schedule_id: schedule } }))

/**
 * Returns one page, newest first; with `process`, of the schedules of one process.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as Schedules from "@signalbox/api/Schedules"
 *
 * export const of = (process: ProcessId) => Schedules.list({ process })
 * ```
 */
export const list = Effect.fn("Schedules.list")(
  ({ cursor, limit, process }: PageFilter = {}) => call.list({ query: { process_id: process, limit, cursor } }),
  refusing("schedules.list", { 0: listed })
)

/** Emits all schedules, newest first. */
export const stream = (filter: Omit<PageFilter, "cursor"> = {}) =>
  pages((cursor) => list({ ...filter, cursor })).pipe(refusingStream("schedules.stream", streamed, filter))

/**
 * Creates a schedule, which counts from now. Fails with `InvalidRequest` that names the field, and with `Conflict` when
 * the name is in use.
 *
 * ```ts
 * import { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as Schedules from "@signalbox/api/Schedules"
 *
 * export const nightly = Schedules.create({
 *   name: "nightly",
 *   process: { id: ProcessId.make("0199a1b2-0000-7000-8000-000000000000") },
 *   cron: "30 2 * * mon-fri",
 *   zone: "Europe/Copenhagen",
 *   inputs: { type: "with_payloads", payloads: [{ until: "{at}" }] }
 * })
 * ```
 */
export const create = Effect.fn("Schedules.create")(function* (definition: NewSchedule) {
  const payload = withProcess(definition)
  yield* refuseUnknown("schedules.create", contract.ScheduleDefinition, payload)
  return yield* call.create({ payload })
})

/** Replaces the definition of a schedule; a pause and the history stay. Other times count from now. */
export const update = Effect.fn("Schedules.update")(function* (schedule: ScheduleId, definition: NewSchedule) {
  const payload = withProcess(definition)
  yield* refuseUnknown("schedules.update", contract.ScheduleDefinition, payload)
  return yield* call.update({ params: { schedule_id: schedule }, payload })
})

/**
 * Creates the schedule, or replaces the definition of the one with its name; a pause and the history of that one stay. Safe to
 * repeat: times that are the same go on as they were.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as Schedules from "@signalbox/api/Schedules"
 *
 * export const hourly = (process: ProcessId) =>
 *   Schedules.put({
 *     name: "hourly",
 *     process: { id: process },
 *     every: "1 hour"
 *   })
 * ```
 */
export const put = Effect.fn("Schedules.put")(function* (definition: NewSchedule) {
  const payload = withProcess(definition)
  yield* refuseUnknown("schedules.put", contract.ScheduleDefinition, payload)
  return yield* create(payload).pipe(
    Effect.catchTag("Conflict", (conflict) =>
      Effect.gen(function* () {
        const named = yield* Stream.runHead(
          Stream.filter(stream({ limit: 500 }), (schedule) => schedule.name === definition.name)
        )
        return named._tag === "None" ? yield* conflict : yield* update(named.value.id, payload)
      })
    )
  )
})

/** Deletes a schedule with its history; its runs go on. Irreversible. */
export const remove = Effect.fn("Schedules.remove")((schedule: ScheduleId) =>
  call.remove({ params: { schedule_id: schedule } })
)

/** Pauses a schedule: until it is resumed, its occurrences are skipped. The note says why. */
export const pause = Effect.fn("Schedules.pause")((schedule: ScheduleId, note: string) =>
  call.pause({ params: { schedule_id: schedule }, payload: { note } })
)

/** Resumes a schedule: occurrences from now on begin. */
export const resume = Effect.fn("Schedules.resume")((schedule: ScheduleId) =>
  call.resume({ params: { schedule_id: schedule } })
)

/** Returns the next ten times of a schedule. */
export const next = Effect.fn("Schedules.next")((schedule: ScheduleId) =>
  Effect.map(call.next({ params: { schedule_id: schedule } }), ({ data }) => data)
)

/**
 * Returns the next ten times that a schedule with these rules would have. Nothing is stored. Fails with `InvalidRequest`
 * that names the field.
 */
export const preview = Effect.fn("Schedules.preview")(
  (rules: contract.ScheduleRules) => Effect.map(call.previewTimes({ payload: rules }), ({ data }) => data),
  refusing("schedules.preview", { 0: contract.ScheduleRules })
)

/** Emits what became of the occurrences of a schedule, newest first. */
export const occurrences = (schedule: ScheduleId, options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) =>
    call.listOccurrences({
      params: { schedule_id: schedule },
      query: { ...options, cursor }
    })
  ).pipe(refusingStream("schedules.occurrences", pageSize, options))
