import type { ProcessId, ScheduleId } from "@signalbox/api/contract/Ids"
import * as Schedules from "@signalbox/api/Schedules"
import { Definition, isEquivalent, make } from "@signalbox/schedule/Definition"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { isDeepStrictEqual } from "node:util"
import { ApplyFileError, type Schedule } from "./Document.ts"
import { idOf, type Ids, type Section, type Step, unchanged } from "./Step.ts"

const decode = Schema.decodeUnknownResult(Definition)

/** What rules mean, however they are written. */
const meaningOf = (name: string, rules: Omit<Schedule, "process" | "inputs">) =>
  Effect.mapError(
    Effect.fromResult(make({ ...rules, name: "schedule" })),
    ({ field, message }) => new ApplyFileError({ message: `schedules.${name}.${field}: ${message}` })
  )

/** The rules of a schedule that exists, as they would be written. */
const rulesOf = (schedule: Schedules.Schedule) => {
  const { anchor, at, calendar, cron, every, from, jitter, missed, overlap, queue, until, zone } = schedule
  const times = Object.entries({ anchor, at, cron, every, from, until }).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(times), calendar, jitter, missed, overlap, queue, zone }
}

/** How a schedule is created and changed. */
export type Writes = Pick<typeof Schedules, "create" | "update">

/** Schedules are identified by their names. Times that have passed are compared, and not refused. */
export const plan = Effect.fnUntraced(function* (
  wanted: Readonly<Record<string, Schedule>>,
  ids: Ids,
  { create, update }: Writes = Schedules
) {
  const left = new Map<string, ScheduleId>()
  for (const { id, name } of yield* Stream.runCollect(Schedules.stream({ limit: 500 }))) left.set(name, id)
  const steps: Array<Step> = []
  for (const [name, { inputs: given, process, ...rules }] of Object.entries(wanted)) {
    const inputs: Schedules.ScheduleInputs = given ?? { type: "default" }
    const own = yield* meaningOf(name, rules)
    const definition = (id: ProcessId) => ({ name, process: { id }, ...rules, inputs })
    const found = left.get(name)
    if (found === undefined) {
      const run = Effect.flatMap(idOf(ids.processes, process), (id) => create(definition(id))).pipe(
        Effect.tap((made) => Effect.sync(() => ids.schedules.set(name, made.id)))
      )
      steps.push({ kind: "schedule", name, action: "create", detail: "", run })
      continue
    }
    left.delete(name)
    const schedule = yield* Schedules.get(found)
    // It fails for what only a newer room knows.
    const existing = decode({ ...rulesOf(schedule), name: "schedule" })
    const isSame = Result.isSuccess(existing) && isEquivalent(existing.success, own)
    const changed = [
      ...(isSame ? [] : ["times"]),
      ...(isDeepStrictEqual(schedule.inputs, inputs) ? [] : ["inputs"]),
      ...(schedule.process.id === ids.processes.get(process) ? [] : ["process"])
    ]
    const run = Effect.flatMap(idOf(ids.processes, process), (id) => update(found, definition(id)))
    steps.push(
      changed.length === 0
        ? unchanged("schedule", name)
        : { kind: "schedule", name, action: "change", detail: changed.join(", "), run }
    )
  }
  const extra = [...left].map(([name, id]): Step => ({
    kind: "schedule",
    name,
    action: "delete",
    detail: "",
    run: Schedules.remove(id)
  }))
  const section: Section = { steps, extra }
  return section
})
