/** Schedules of processes. */
import { type ProcessId, ScheduleId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Schedule, ScheduleDefinition, ScheduleInputs, ScheduleRules } from "@signalbox/api/contract/Schedules"
import { Definition } from "@signalbox/schedule/Definition"
import { preview } from "@signalbox/schedule/Occurrences"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Endpoints from "../edge/Endpoints.ts"
import * as Actor from "../edge/Actor.ts"
import { conflict, invalidRequest, notFound, orNotFound, refusals } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { checkPayload } from "../edge/PayloadSize.ts"
import { Masking } from "./Masking.ts"
import * as Engine from "../engine/Schedules.ts"
import { InputSchemas } from "../runs/InputSchemas.ts"
import { budget } from "../runs/schemas/Check.ts"
import { inputsAt, nextAtOf, Scheduler } from "../runs/Scheduler.ts"
import { Database } from "../store/database/Database.ts"
import { Processes, type StoredProcess } from "../store/processes/Processes.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { type NewSchedule, Schedules } from "../store/starts/Schedules.ts"
import type { StoredSchedule } from "../store/starts/StoredSchedule.ts"

const encode = Schema.encodeSync(Definition)

/** The rules of a definition with every default; durations as they were written. */
const storedRules = (definition: Engine.Definition, { every, jitter }: ScheduleDefinition): string => {
  const { name: _, ...rules } = encode(definition)
  return JSON.stringify({ ...rules, ...defined({ every }), jitter: jitter ?? "0 seconds" })
}

/** The definition of a request, or a refusal that names the field. */
const definitionIn = (id: string, { inputs: _, name: __, process: ___, ...rules }: ScheduleDefinition) =>
  rulesIn(id, rules)

const rulesIn = (id: string, rules: ScheduleRules) =>
  Effect.mapError(Effect.fromResult(Engine.definitionOf(id, rules)), ({ field, message }) =>
    invalidRequest(`${field}: ${message}`)
  )

export const layer = Endpoints.group(
  "schedules",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Schedules
    const scheduler = yield* Scheduler
    const processes = yield* Processes
    const runs = yield* ProcessRuns
    const actor = yield* Actor.make
    const inputSchemas = yield* InputSchemas
    const masking = yield* Masking
    const { millis, newId, transaction } = yield* Database
    const { page } = yield* Pagination

    interface Params {
      readonly workspace_id: WorkspaceId
      readonly schedule_id: ScheduleId
    }
    const find = (params: Params) =>
      orNotFound("schedule", params.schedule_id, store.get(params.workspace_id, params.schedule_id))
    const locked = (params: Params) =>
      orNotFound("schedule", params.schedule_id, store.lock(params.workspace_id, params.schedule_id))

    const shown = Effect.fnUntraced(function* ({ id, inputs, processId, view, workspaceId }: StoredSchedule) {
      const live = yield* runs.liveOf(workspaceId, id)
      const { list, masked } = yield* masking.list(processId, inputs.type === "with_payloads" ? inputs.payloads : [])
      const seen = inputs.type === "with_payloads" ? { ...inputs, payloads: list } : inputs
      const schedule: Schedule = { ...view, inputs: seen, masked, running: live.map((run) => ({ id: run })) }
      return schedule
    })

    /** Locks the process of a schedule against deletion. */
    const lockedProcess = (workspace: WorkspaceId, id: ProcessId) =>
      Effect.filterOrFail(
        processes.lock(workspace, id, "share"),
        (process) => process !== null,
        () => notFound("process", id, "process.id")
      )

    /** Refuses payloads that the process would refuse at an occurrence. */
    const checkInputs = Effect.fnUntraced(function* (inputs: ScheduleInputs, process: StoredProcess, at: number) {
      const filled = inputsAt(inputs, at)
      if (filled.type !== "with_payloads") return
      const left = budget()
      for (const [index, payload] of filled.payloads.entries()) {
        const field = `inputs.payloads.${index}`
        yield* checkPayload(payload, field)
        yield* refusals("INVALID_REQUEST")(inputSchemas.checkPayload(process, payload, field, left))
      }
    })

    const taken = (name: string) =>
      conflict(`name: a schedule "${name}" already exists; choose another name or change that one`)

    /** Checks what a request says of a schedule; the process is then locked. */
    const checked = Effect.fnUntraced(function* (params: Omit<Params, "schedule_id">, payload: ScheduleDefinition) {
      const process = yield* lockedProcess(params.workspace_id, payload.process.id)
      const inputs: ScheduleInputs = payload.inputs ?? { type: "default" }
      return { process, inputs, now: yield* millis }
    })

    /** What a request has of inputs, with what stays of those before. */
    const kept = Effect.fnUntraced(function* ({ inputs: before, processId }: StoredSchedule, given: ScheduleInputs) {
      if (given.type !== "with_payloads" || before.type !== "with_payloads") return given
      const payloads = yield* masking.keptList(processId, given.payloads, before.payloads, "inputs.payloads")
      const inputs: ScheduleInputs = { ...given, payloads }
      return inputs
    })

    const written = (payload: ScheduleDefinition, definition: Engine.Definition, inputs: ScheduleInputs) =>
      ({
        processId: payload.process.id,
        name: payload.name,
        definition: storedRules(definition, payload),
        inputs
      }) as const

    const never = (definition: Engine.Definition, now: number) => {
      const refused = Engine.never(definition, now)
      return refused === null ? Effect.void : Effect.fail(invalidRequest(`${refused.field}: ${refused.message}`))
    }

    const timesOf = (definition: Engine.Definition, now: number) => ({
      data: preview(definition, Engine.utc(now)).map(({ at, local, start }) => ({
        at: Engine.iso(at.epochMilliseconds),
        starts_at: Engine.iso(start.epochMilliseconds),
        local
      }))
    })

    return handlers.handleAll({
      getSchedule: ({ params }) => Effect.flatMap(find(params), shown),
      listSchedules: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, query.process_id ?? null, from), Effect.succeed),
      createSchedule: Effect.fnUntraced(function* ({ params, payload }) {
        const id = ScheduleId.make(yield* newId)
        yield* Effect.yieldNow
        const definition = yield* Effect.tap(definitionIn(id, payload), Effect.yieldNow)
        const { inputs, now, process } = yield* checked(params, payload)
        // With years of excluded days each of these takes some ten milliseconds.
        yield* Effect.andThen(never(definition, now), Effect.yieldNow)
        const progress = Engine.created(definition, now)
        yield* Effect.yieldNow
        const nextAt = nextAtOf(definition, progress)
        yield* checkInputs(inputs, process, nextAt ?? now)
        const row: NewSchedule = { ...written(payload, definition, inputs), progress, nextAt }
        if ((yield* store.create(params.workspace_id, id, row)) === null) return yield* taken(payload.name)
        return yield* Effect.flatMap(find({ ...params, schedule_id: id }), shown)
      }, transaction),
      updateSchedule: Effect.fnUntraced(function* ({ params, payload }) {
        const { workspace_id } = params
        const definition = yield* Effect.tap(definitionIn(params.schedule_id, payload), Effect.yieldNow)
        // The process before its schedules, as when it is deleted.
        const { inputs: given, now, process } = yield* checked(params, payload)
        const before = yield* locked(params)
        // Of another process they may be in the open.
        const inputs = before.processId === process.view.id ? yield* kept(before, given) : given
        const decision = Engine.change(
          Engine.parseDefinition(before.id, before.definition),
          definition,
          before.progress,
          now
        )
        const { progress } = decision
        yield* Effect.yieldNow
        if (progress.state.times !== before.progress.state.times) yield* never(definition, now)
        const nextAt = nextAtOf(definition, progress)
        yield* checkInputs(inputs, process, nextAt ?? now)
        const row: NewSchedule = { ...written(payload, definition, inputs), progress, nextAt }
        if ((yield* store.update(workspace_id, before.id, row)) === null) return yield* taken(payload.name)
        yield* scheduler.apply(before, definition, decision)
        return yield* Effect.flatMap(find(params), shown)
      }, transaction),
      deleteSchedule: Effect.fnUntraced(function* ({ params }) {
        if (!(yield* store.remove(params.workspace_id, params.schedule_id))) {
          return yield* notFound("schedule", params.schedule_id)
        }
        return { id: params.schedule_id, deleted: true } as const
      }),
      pauseSchedule: Effect.fnUntraced(function* ({ params, payload }) {
        const by = yield* actor
        const schedule = yield* locked(params)
        const pausing = { at: Engine.utc(yield* millis), by: by.id, note: payload.note }
        const definition = Engine.parseDefinition(schedule.id, schedule.definition)
        yield* scheduler.apply(schedule, definition, Engine.pause(schedule.progress, pausing), by)
        return yield* Effect.flatMap(find(params), shown)
      }, transaction),
      resumeSchedule: Effect.fnUntraced(function* ({ params }) {
        const schedule = yield* locked(params)
        const definition = Engine.parseDefinition(schedule.id, schedule.definition)
        yield* scheduler.apply(schedule, definition, Engine.resume(definition, schedule.progress, yield* millis))
        return yield* Effect.flatMap(find(params), shown)
      }, transaction),
      getScheduleTimes: Effect.fnUntraced(function* ({ params }) {
        const { definition, id } = yield* find(params)
        return timesOf(Engine.parseDefinition(id, definition), yield* millis)
      }),
      previewScheduleTimes: Effect.fnUntraced(function* ({ payload }) {
        const definition = yield* Effect.tap(rulesIn("preview", payload), Effect.yieldNow)
        const now = yield* millis
        yield* Effect.andThen(never(definition, now), Effect.yieldNow)
        return timesOf(definition, now)
      }),
      listScheduleOccurrences: Effect.fnUntraced(function* ({ params, query, request }) {
        const { id } = yield* find(params)
        return yield* page(request, query, (from) => store.occurrences(params.workspace_id, id, from), Effect.succeed)
      })
    })
  })
)
