/** Schedules of processes: what starts when, what is skipped and why, and what is refused. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import { ApiKeyId, type ProcessId, ScheduleId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Schedules from "@signalbox/api/Schedules"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Scheduler } from "../../src/internal/runs/Scheduler.ts"
import { bodyAs, errorOf } from "../support/Http.ts"
import { layer, linkWorker, movedBy, Service } from "../support/Service.ts"

const hour = Duration.toMillis("1 hour")
const steps = [{ name: "only", task: { name: "nobody" } }]

const Made = Schema.Struct({ id: Schema.String })
const Items = Schema.Struct({ data: Schema.Array(Schema.Struct({ payload: Schema.Json })) })

let names = 0
const newProcess = (definition: object = {}) => Processes.create({ name: `process ${names++}`, steps, ...definition })

/** A schedule of every hour, whose first time is in an hour. */
const hourly = (process: ProcessId, rules: Partial<Schedules.ScheduleDefinition> = {}) =>
  Schedules.create({
    name: `schedule ${names++}`,
    process: { id: process },
    every: "1 hour",
    anchor: new Date(Math.floor(Date.now() / 60_000) * 60_000 + 30 * 60_000).toISOString(),
    ...rules
  })

/** The history, the oldest time first. */
const historyOf = (schedule: ScheduleId) =>
  Effect.map(Stream.runCollect(Schedules.occurrences(schedule)), (all) =>
    all.toSorted((a, b) => (a.at < b.at ? -1 : 1))
  )
const outcomesOf = (schedule: ScheduleId) =>
  Effect.map(historyOf(schedule), (all) => all.map(({ outcome, reason }) => reason ?? outcome))

/** The outcomes when so many are recorded; the service polls by itself. */
const outcomesAfter = (count: number, schedule: ScheduleId) =>
  Effect.repeat(Effect.delay(outcomesOf(schedule), "20 millis"), { until: (all) => all.length >= count })

const runsOf = (process: ProcessId) =>
  Effect.map(Stream.runCollect(ProcessRuns.stream({ process })), (all) => all.toReversed())

/** Ends the runs of a process: nobody works on them. */
const endRuns = Effect.fnUntraced(function* (process: ProcessId) {
  for (const { id } of yield* runsOf(process)) {
    yield* ProcessRuns.stop(id, { remainingAsDone: true, terminate: true })
  }
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("schedules", (it) => {
  it.effect("start a run at each of their times, and say which", () =>
    Effect.gen(function* () {
      const { raw, scheduleIn } = yield* Service
      const { id: process } = yield* newProcess()
      const payloads = [{ until: "{at}", again: ["to {at}"] }, 7]
      const schedule = yield* hourly(process, { inputs: { type: "with_payloads", payloads }, overlap: "allow" })
      assert.deepStrictEqual(schedule.inputs, { type: "with_payloads", payloads })
      yield* scheduleIn(0)
      assert.lengthOf(yield* runsOf(process), 0)
      for (const hours of [1, 1, 2]) yield* scheduleIn(hours * hour)
      const runs = yield* runsOf(process)
      assert.lengthOf(runs, 2)
      const first = schedule.next_at ?? ""
      assert.deepStrictEqual(
        (yield* historyOf(schedule.id)).map(({ at, outcome, process_run, reason, why }) => [
          at,
          outcome,
          process_run?.id,
          reason,
          why
        ]),
        runs.map(({ id }, index) => [
          new Date(Date.parse(first) + index * hour).toISOString(),
          "started",
          id,
          null,
          null
        ])
      )
      for (const run of runs) {
        assert.deepStrictEqual(run.started_by, { type: "schedule", details: null })
        assert.deepStrictEqual(run.source, { type: "schedule", id: schedule.id, name: schedule.name })
      }
      const items = yield* raw("GET", `work-items?include_data=true&process_run_id=${runs[0]?.id}`)
      assert.sameDeepMembers(
        bodyAs(Items, items).data.map(({ payload }) => payload),
        [{ until: first, again: [`to ${first}`] }, 7]
      )
      assert.lengthOf((yield* Schedules.get(schedule.id)).running, 2)
    })
  )

  it.effect("skip, queue, allow, or stop the run that has not ended", () =>
    Effect.gen(function* () {
      const { scheduleIn } = yield* Service
      const made = yield* Effect.forEach(
        ["skip", "queue", "allow", "stop"] as const,
        Effect.fnUntraced(function* (overlap) {
          const { id: process } = yield* newProcess()
          const schedule = yield* hourly(process, { overlap })
          return { process, schedule: schedule.id }
        })
      )
      for (const hours of [1, 2, 3]) yield* scheduleIn(hours * hour)
      const outcomes = yield* Effect.forEach(made, ({ schedule }) => outcomesOf(schedule))
      assert.deepStrictEqual(outcomes, [
        ["started", "overlap", "overlap"],
        // One waits, and the queue has place for one.
        ["started", "overlap"],
        ["started", "started", "started"],
        ["started", "started", "started"]
      ])
      const [skip, queue, , stop] = made
      if (skip === undefined || queue === undefined || stop === undefined) return assert.fail("there are four")
      const [first] = yield* runsOf(skip.process)
      assert.match((yield* historyOf(skip.schedule))[1]?.why ?? "", new RegExp(`the run ${first?.id} has not ended`))
      const states = (yield* runsOf(stop.process)).map(({ state }) => state)
      assert.deepStrictEqual(states, ["unresolved", "unresolved", "new"])
      assert.lengthOf((yield* Schedules.get(queue.schedule)).waiting, 1)
      yield* endRuns(queue.process)
      // The end of the run is enough: no time is due.
      assert.deepStrictEqual(yield* outcomesAfter(3, queue.schedule), ["started", "started", "overlap"])
      assert.lengthOf((yield* Schedules.get(queue.schedule)).running, 1)
    })
  )

  it.effect("with `stop` begin when the worker has ended the earlier run", () =>
    Effect.gen(function* () {
      const { scheduleIn } = yield* Service
      const worker = yield* linkWorker(["stubborn"])
      const { id: process } = yield* newProcess({ steps: [{ name: "only", task: { name: "stubborn" } }] })
      const schedule = yield* hourly(process, { overlap: "stop" })
      yield* scheduleIn(hour)
      const { lease } = yield* worker.take
      yield* worker.stayAlive
      yield* scheduleIn(2 * hour)
      assert.deepStrictEqual(
        (yield* runsOf(process)).map(({ state }) => state),
        ["stopping"]
      )
      const { waiting } = yield* Schedules.get(schedule.id)
      assert.lengthOf(waiting, 1)
      yield* scheduleIn(3 * hour)
      const later = (yield* Schedules.get(schedule.id)).waiting
      assert.lengthOf(later, 1)
      assert.notDeepEqual(later, waiting)
      yield* worker.protocol.finish(lease, { code: "TERMINATED", message: "stopped" })
      assert.deepStrictEqual(yield* outcomesAfter(3, schedule.id), ["started", "overlap", "started"])
      assert.deepStrictEqual(
        (yield* runsOf(process)).map(({ state }) => state),
        ["unresolved", "new"]
      )
    })
  )

  it.effect("start none, the last, or all of the times that passed while nothing ran", () =>
    Effect.gen(function* () {
      const { scheduleIn } = yield* Service
      const { id: process } = yield* newProcess()
      const of = (missed: "none" | "last" | "all") => hourly(process, { missed, overlap: "allow" })
      const all = [yield* of("none"), yield* of("last"), yield* of("all")]
      yield* scheduleIn(3 * hour)
      assert.deepStrictEqual(yield* Effect.forEach(all, ({ id }) => outcomesOf(id)), [
        ["missed", "missed", "missed"],
        ["missed", "missed", "started"],
        ["started", "started", "started"]
      ])
    })
  )

  it.effect("start nothing while they are paused, and say by whom and why", () =>
    Effect.gen(function* () {
      const { scheduleIn } = yield* Service
      const { id: process } = yield* newProcess()
      const schedule = yield* hourly(process)
      const paused = yield* Schedules.pause(schedule.id, "the ERP is down")
      assert.deepInclude(paused.paused, { note: "the ERP is down" })
      assert.deepInclude(paused.paused?.by, { type: "api_key", name: "test" })
      yield* scheduleIn(2 * hour)
      assert.deepStrictEqual(yield* outcomesOf(schedule.id), ["paused", "paused"])
      assert.strictEqual((yield* historyOf(schedule.id))[0]?.why, "paused: the ERP is down")
      assert.isNull((yield* Schedules.resume(schedule.id)).paused)
      yield* scheduleIn(3 * hour)
      assert.deepStrictEqual(yield* outcomesOf(schedule.id), ["paused", "paused", "started"])
    })
  )

  it.effect("start with the queue of the process, and not without items", () =>
    Effect.gen(function* () {
      const { scheduleIn } = yield* Service
      const { id: process } = yield* newProcess()
      const schedule = yield* hourly(process, { inputs: { type: "with_inputs" } })
      yield* scheduleIn(hour)
      yield* WorkItems.createMany({ process, payloads: [1, 2, 3] })
      yield* scheduleIn(2 * hour)
      assert.deepStrictEqual(yield* outcomesOf(schedule.id), ["no_items", "started"])
      const [run] = yield* runsOf(process)
      assert.lengthOf(yield* Stream.runCollect(WorkItems.stream(run === undefined ? {} : { processRun: run.id })), 3)
    })
  )

  it.effect("record what their process refuses, with its reason, and go on", () =>
    Effect.gen(function* () {
      const { raw, scheduleIn } = yield* Service
      const { id: process, name } = yield* newProcess()
      const payloads = [{ customer: 1 }]
      const schedule = yield* hourly(process, { inputs: { type: "with_payloads", payloads }, overlap: "allow" })
      const schema = { type: "object", properties: { customer: { type: "string" } }, required: ["customer"] }
      const strict = { name, steps, input_schema: schema, check_payloads: true }
      assert.strictEqual((yield* raw("POST", `processes/${process}`, { json: strict })).status, 200)
      yield* scheduleIn(hour)
      assert.strictEqual((yield* raw("POST", `processes/${process}`, { json: { name, steps } })).status, 200)
      yield* scheduleIn(2 * hour)
      assert.deepStrictEqual(yield* outcomesOf(schedule.id), ["refused", "started"])
      assert.match((yield* historyOf(schedule.id))[0]?.why ?? "", /^payloads\.0\.customer: Expected string/)
    })
  )

  it.effect("go on when the key that made them is revoked, and end with their process", () =>
    Effect.gen(function* () {
      const { makeKey, raw, rows, scheduleIn } = yield* Service
      const { id: process } = yield* newProcess()
      const key = yield* makeKey(["Schedules.write_schedules", "Processes.trigger_processes"])
      const json = { name: "orphan", process: { id: process }, every: "1 hour" }
      const made = bodyAs(Made, yield* raw("POST", "schedules", { key, json })).id
      const [id = ""] = key.replace(/^[a-z]+_/, "").split("_")
      yield* ApiKeys.remove(ApiKeyId.make(id))
      assert.strictEqual((yield* raw("POST", "schedules", { key, json })).status, 403)
      yield* scheduleIn(hour)
      assert.deepStrictEqual(yield* outcomesOf(ScheduleId.make(made)), ["started"])
      yield* endRuns(process)
      yield* Processes.remove(process)
      assert.strictEqual((yield* raw("GET", `schedules/${made}`)).status, 404)
      // The audit says who has deleted what.
      const { audit_entry: _, ...others } = yield* rows
      assert.notInclude(JSON.stringify(others), made)
    })
  )

  it.effect("count from now when their times change, and keep their history and their pause", () =>
    Effect.gen(function* () {
      const { scheduleIn } = yield* Service
      const { id: process } = yield* newProcess()
      const { id, name } = yield* hourly(process, { overlap: "queue" })
      yield* scheduleIn(hour)
      yield* scheduleIn(2 * hour)
      assert.lengthOf((yield* Schedules.get(id)).waiting, 1)
      yield* Schedules.pause(id, "")
      const daily = yield* Schedules.update(id, {
        name,
        process: { id: process },
        cron: "0 6 * * *",
        zone: "Asia/Tokyo"
      })
      assert.deepInclude(daily, { cron: "0 6 * * *", every: null, zone: "Asia/Tokyo", waiting: [] })
      assert.isNotNull(daily.paused)
      assert.deepStrictEqual(yield* outcomesOf(id), ["started", "changed"])
      const times = yield* Schedules.next(id)
      assert.lengthOf(times, 10)
      assert.isTrue(times.every(({ local }) => local.endsWith("T06:00:00.000+09:00[Asia/Tokyo]")))
    })
  )

  it.effect("show the times that they would have, or what is wrong with them, before they are made", () =>
    Effect.gen(function* () {
      const { rows } = yield* Service
      const before = yield* rows
      const times = yield* Schedules.preview({ cron: "30 6 * * 1-5", zone: "Europe/Vienna" })
      assert.lengthOf(times, 10)
      assert.isTrue(times.every(({ local }) => /T06:30:00\.000\+0[12]:00\[Europe\/Vienna\]$/.test(local)))
      const refused = yield* Effect.flip(Schedules.preview({ at: "2020-01-01T00:00:00Z" }))
      assert.match(refused.message, /at: Expected a time in the future/)
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect("are refused when they can never come or would start nothing, by the name of the field", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw, rows } = yield* Service
      const schema = { type: "object", properties: { at: { type: "string" } }, required: ["at"] }
      const { id } = yield* newProcess({ input_schema: schema, check_payloads: true })
      const { id: taken } = yield* hourly(id, {
        name: "taken",
        inputs: { type: "with_payloads", payloads: [{ at: "{at}" }] }
      })
      const process = { id }
      const before = yield* rows
      const cases: ReadonlyArray<readonly [number, RegExp, object]> = [
        [400, /^cron: no year has such a day/, { cron: "0 0 30 2 *" }],
        [400, /^cron: /, { cron: "often" }],
        [400, /^cron: Expected one of cron, every and at/, {}],
        [400, /^every: .*not cron and every/, { cron: "0 6 * * *", every: "1 hour" }],
        [400, /^every: Expected at least 1 second/, { every: "10 millis" }],
        [400, /^zone: .*Moon\/Base/, { cron: "0 6 * * *", zone: "Moon/Base" }],
        [400, /^at: Expected a time in the future/, { at: "2020-01-01T00:00:00Z" }],
        [400, /^every: Expected a time in the future/, { every: "9999999 days" }],
        [400, /^from: Expected a time in the future/, { every: "1 hour", from: "9999-12-31T23:59:59Z" }],
        [400, /^until: Expected a time in the future/, { every: "1 hour", until: "2020-01-01T00:00:00Z" }],
        [
          400,
          /^until: Expected to be later than from/,
          { every: "1 hour", from: "2031-01-01T00:00:00Z", until: "2030-01-01T00:00:00Z" }
        ],
        [400, /^calendar\.dates\.0: /, { cron: "0 6 * * *", calendar: { dates: ["2026-02-30"] } }],
        [400, /^calendar\.weekdays: /, { cron: "0 6 * * sun", calendar: { weekdays: ["sun"] } }],
        [400, /^queue: /, { cron: "0 6 * * *", queue: 0 }],
        [400, /^jitter: /, { cron: "0 6 * * *", jitter: "a bit" }],
        [400, /overlap/, { cron: "0 6 * * *", overlap: "perhaps" }],
        [400, /crn/, { crn: "0 6 * * *" }],
        [400, /name/, { name: "", cron: "0 6 * * *" }],
        [
          400,
          /^inputs\.payloads\.0\.at: /,
          { cron: "0 6 * * *", inputs: { type: "with_payloads", payloads: [{ at: 1 }] } }
        ],
        [400, /inputs/, { cron: "0 6 * * *", inputs: { type: "with_luck" } }],
        [
          413,
          /^inputs\.payloads\.0: /,
          { cron: "0 6 * * *", inputs: { type: "with_payloads", payloads: ["x".repeat(2 ** 20)] } }
        ],
        [404, /^process\.id: /, { cron: "0 6 * * *", process: { id: "none" } }],
        [409, /^name: a schedule "taken" already exists/, { cron: "0 6 * * *", name: "taken" }]
      ]
      for (const [status, says, fields] of cases) {
        const json = { name: "new", process, ...fields }
        const answer = yield* raw("POST", "schedules", { json })
        assert.strictEqual(answer.status, status, answer.text.slice(0, 300))
        assert.match(errorOf(answer).message, says)
        if (status !== 409) assert.strictEqual((yield* raw("POST", `schedules/${taken}`, { json })).status, status)
      }
      const write = yield* makeKey(["Schedules.write_schedules"])
      const json = { name: "new", process, cron: "0 6 * * *" }
      for (const path of ["schedules", `schedules/${taken}`]) {
        const answer = yield* raw("POST", path, { key: write, json })
        assert.strictEqual(answer.status, 403)
        assert.match(errorOf(answer).message, /Processes\.trigger_processes/)
      }
      const other = yield* makeWorkspace
      const key = yield* makeKey(["Schedules.read_schedules"], other)
      assert.strictEqual((yield* raw("GET", `/api/v1/workspaces/${other}/schedules/${taken}`, { key })).status, 404)
      // The service records other things meanwhile.
      const kept = ({ schedule, schedule_occurrence }: typeof before) => ({ schedule, schedule_occurrence })
      assert.deepStrictEqual(kept(yield* rows), kept(before))
    })
  )

  it.effect("are listed, by process too, and deleted with their history", () =>
    Effect.gen(function* () {
      const { raw, rows, scheduleIn } = yield* Service
      const { id: process } = yield* newProcess()
      const made = [yield* hourly(process), yield* hourly(process), yield* hourly(process)]
      const listed = yield* Stream.runCollect(Schedules.stream({ process, limit: 2 }))
      assert.deepStrictEqual(
        listed,
        made.toReversed().map(({ inputs: _, masked: __, running: ___, ...rest }) => rest)
      )
      yield* scheduleIn(hour)
      for (const { id } of made) yield* Schedules.remove(id)
      assert.strictEqual((yield* raw("DELETE", `schedules/${made[0]?.id}`)).status, 404)
      const left = JSON.stringify([(yield* rows)["schedule"], (yield* rows)["schedule_occurrence"]])
      for (const { id } of made) assert.notInclude(left, id)
      assert.lengthOf(yield* runsOf(process), 3)
    })
  )

  it.effect("keep their history for 90 days", () =>
    Effect.gen(function* () {
      const { scheduleIn } = yield* Service
      const { sweep } = yield* Scheduler
      const clock = yield* Clock.Clock
      const sweepIn = (days: number) =>
        Effect.provideService(sweep, Clock.Clock, movedBy(clock, Duration.toMillis(Duration.days(days))))
      const { id: process } = yield* newProcess()
      const { id } = yield* hourly(process)
      yield* scheduleIn(hour)
      yield* sweepIn(89)
      assert.lengthOf(yield* historyOf(id), 1)
      yield* sweepIn(91)
      assert.lengthOf(yield* historyOf(id), 0)
    })
  )
})
