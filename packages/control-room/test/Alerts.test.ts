/** What alerts watch: each rule begins, repeats and ends; what may be told when; and what is refused. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as AlertChannels from "@signalbox/api/AlertChannels"
import * as Alerts from "@signalbox/api/Alerts"
import { AlertChannelId, type AlertId, type ProcessId } from "@signalbox/api/contract/Ids"
import * as Failures from "@signalbox/api/Failures"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Schedules from "@signalbox/api/Schedules"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import * as NodeServices from "@signalbox/platform/NodeServices"
import { statfsSync } from "node:fs"
import { hostname } from "node:os"
import * as StorageLayers from "../src/internal/service/StorageLayers.ts"
import { Alerter } from "../src/internal/runs/Alerter.ts"
import { errorOf } from "./support/Http.ts"
import { receiver, type Receiver } from "./support/Receiver.ts"
import { alertsByHand, layerIn, linkWorker, movedBy, Service, storageIn, temporaryFolder } from "./support/Service.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const newProcess = Effect.fnUntraced(function* (rest: object = {}) {
  const name = `alerts ${crypto.randomUUID()}`
  const process = yield* Processes.create({ name, steps: [{ name: "only", task: { name } }], ...rest })
  return { id: process.id, name }
})
type Process = Effect.Success<ReturnType<typeof newProcess>>

/** A run whose only item is done, or has failed with a message. */
const ended = Effect.fnUntraced(function* ({ id, name }: Process, failure: string | null = null) {
  const worker = yield* linkWorker([name])
  const run = yield* ProcessRuns.start(id, { payloads: [1] })
  const { lease, session } = yield* worker.take
  if (failure !== null) {
    const item = (yield* session.reserveNext) ?? assert.fail("no item")
    yield* session.release(item, {
      state: "FAILED",
      exception: { type: "APPLICATION", code: "BANK_DOWN", message: failure }
    })
  }
  yield* worker.protocol.finish(lease, null)
  return run.started ? run.id : assert.fail("not started")
})

const failedItems = (process: ProcessId) =>
  Effect.map(Stream.runCollect(WorkItems.stream({ process, state: "failed" })), (items) => items.map(({ id }) => id))

/** An alert to a webhook at a path of its own. */
const watching = Effect.fnUntraced(function* (
  target: Receiver,
  rule: Alerts.AlertRule,
  rest: Partial<Alerts.AlertDefinition> = {}
) {
  const path = `/${crypto.randomUUID()}`
  const channel = yield* AlertChannels.create({
    name: path,
    settings: { type: "webhook", url: target.origin + path }
  })
  const alert = yield* Alerts.create({
    name: `alert ${path}`,
    rule,
    channels: [{ id: channel.id }],
    gather_seconds: 0,
    ...rest
  })
  const secret = channel.secret ?? assert.fail("no secret")
  /** The kinds and texts of what it was sent, each with a genuine signature. */
  const told = Effect.suspend(() =>
    Effect.forEach(target.at(path), (received) =>
      Effect.map(
        Webhooks.verify({ ...received, secret, scheme: "standard", toleranceSeconds: 400 * 24 * 3600 }),
        () => {
          const event: Alerts.AlertEvent = JSON.parse(received.body.toString())
          assert.strictEqual(received.headers["webhook-id"], event.id)
          return event
        }
      )
    )
  )
  const kinds = Effect.map(told, (events) => events.map(({ type }) => type.slice("alert.".length)))
  return { id: alert.id, path, channel: channel.id, told, kinds }
})

const statesOf = (alert: AlertId) =>
  Effect.map(Stream.runCollect(Alerts.firings({ alert })), (all) => all.map(({ state }) => state))

const service = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => layerIn(folder, { rateLimit: null, retainRuns: "30 days" }))
).pipe(Layer.provide(alertsByHand))

withLayer(service, { excludeTestServices: true, timeout: "4 minutes" })("an alert", (it) => {
  const withTarget = <A, E, R>(test: (target: Receiver) => Effect.Effect<A, E, R>) =>
    Effect.scoped(Effect.flatMap(receiver, test))

  it.effect("of a run that ended unresolved fires once, repeats, and is over when the run is resolved", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const process = yield* newProcess()
        yield* ended(process, "before the alert")
        const alert = yield* watching(
          target,
          { type: "run_unresolved", process: { id: process.id } },
          { repeat_seconds: 3600 }
        )
        yield* alertIn(0)
        assert.deepStrictEqual(yield* alert.kinds, [])
        const run = yield* ended(process, "no answer")
        yield* alertIn(minute)
        yield* alertIn(2 * minute)
        const [began, ...more] = yield* alert.told
        assert.deepStrictEqual(more, [])
        assert.strictEqual(began?.text, `the run ${run} of the process "${process.name}" ended as unresolved.`)
        assert.strictEqual(began?.firing?.subject, run)
        assert.deepStrictEqual(yield* statesOf(alert.id), ["firing"])
        assert.strictEqual((yield* Alerts.get(alert.id)).firing, 1)
        yield* alertIn(2 * hour)
        yield* WorkItems.markAsDone(yield* failedItems(process.id))
        yield* alertIn(2 * hour + minute)
        yield* alertIn(4 * hour)
        assert.deepStrictEqual(yield* alert.kinds, ["began", "repeated", "over"])
        assert.deepStrictEqual(yield* statesOf(alert.id), ["over"])
      })
    )
  )

  it.effect("of a group of failures fires when it is new, not when it is muted, and when it grows", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const process = yield* newProcess()
        yield* ended(process, "known")
        const of = { process: { id: process.id } }
        const fresh = yield* watching(target, { type: "failure_group", ...of })
        const growing = yield* watching(target, {
          type: "failure_group",
          ...of,
          grows: { items: 2, within_seconds: 30 * 24 * 3600 }
        })
        yield* alertIn(0)
        yield* ended(process, "known")
        yield* alertIn(minute)
        assert.deepStrictEqual(yield* fresh.kinds, [])
        assert.deepStrictEqual(yield* growing.kinds, ["began"])
        yield* ended(process, "another")
        yield* alertIn(2 * minute)
        assert.match((yield* fresh.told)[0]?.text ?? "", /^new group of failures .*BANK_DOWN: another/)
        const groups = yield* Stream.runCollect(Failures.stream({ process: process.id }))
        for (const { id } of groups) {
          yield* Failures.mute(id, { until: new Date((yield* Clock.currentTimeMillis) + day) })
        }
        yield* alertIn(3 * minute)
        assert.deepStrictEqual(yield* fresh.kinds, ["began", "over"])
        assert.deepStrictEqual(yield* growing.kinds, ["began", "over"])
      })
    )
  )

  it.effect("that nothing completed counts from its making, and is over with the next success", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const process = yield* newProcess()
        const alert = yield* watching(target, {
          type: "nothing_completed",
          process: { id: process.id },
          seconds: 3600
        })
        yield* alertIn(hour - minute)
        assert.deepStrictEqual(yield* alert.kinds, [])
        yield* alertIn(hour + minute)
        assert.match((yield* alert.told)[0]?.text ?? "", /^no run of the process .* has completed for 1 hour\.$/)
        yield* ended(process)
        // A minute before the success is an hour old.
        yield* alertIn(hour - minute)
        yield* alertIn(hour + minute)
        yield* alertIn(hour + 2 * minute)
        assert.deepStrictEqual(yield* alert.kinds, ["began"])
      })
    )
  )

  it.effect("of waiting items, of a queue, and of a missing worker begin and end", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const process = yield* newProcess()
        const of = { process: { id: process.id } }
        const group = yield* WorkerGroups.create(crypto.randomUUID())
        const waits = yield* watching(target, { type: "item_waits", ...of, seconds: 600 })
        const queue = yield* watching(target, { type: "queue_above", ...of, items: 2 })
        const nobody = yield* watching(target, { type: "no_worker", worker_group: { id: group.id }, seconds: 600 })
        for (const payload of [1, 2, 3]) yield* WorkItems.create({ process: process.id, payload })
        yield* alertIn(9 * minute)
        assert.deepStrictEqual([yield* waits.kinds, yield* queue.kinds, yield* nobody.kinds], [[], ["began"], []])
        yield* alertIn(11 * minute)
        assert.deepStrictEqual(yield* waits.kinds, ["began"])
        assert.match((yield* waits.told)[0]?.text ?? "", /have waited longer than 10 minutes: [0-9a-f-]{36}\.$/)
        assert.deepStrictEqual(yield* nobody.kinds, ["began"])
        const items = yield* Stream.runCollect(WorkItems.stream({ process: process.id }))
        yield* WorkItems.remove(items.map(({ id }) => id))
        yield* alertIn(12 * minute)
        assert.deepStrictEqual(
          [yield* waits.kinds, yield* queue.kinds],
          [
            ["began", "over"],
            ["began", "over"]
          ]
        )
      })
    )
  )

  it.effect("of a schedule that was missed is over with its next start", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn, scheduleIn } = yield* Service
        const process = yield* newProcess()
        const schedule = yield* Schedules.create({
          name: crypto.randomUUID(),
          process: { id: process.id },
          every: "1 hour",
          anchor: new Date((yield* Clock.currentTimeMillis) + 30 * minute).toISOString(),
          missed: "none"
        })
        const alert = yield* watching(target, { type: "schedule_missed", schedule: { id: schedule.id } })
        yield* alertIn(0)
        yield* scheduleIn(4 * hour)
        yield* alertIn(4 * hour)
        assert.match((yield* alert.told)[0]?.text ?? "", /^the schedule .* started no run for /)
        yield* scheduleIn(4 * hour + 30 * minute)
        yield* alertIn(5 * hour)
        assert.deepStrictEqual(yield* alert.kinds, ["began", "over"])
      })
    )
  )

  it.effect("of deliveries that fail is over with the next one that arrives, and names no address", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn, deliverIn } = yield* Service
        const path = "/hook?token=sesame"
        yield* target.on(path, (received, index) => received.answer(index < 2 ? 500 : 200))
        const webhook = yield* Webhooks.create({ endpoint: target.origin + path, events: ["process_run.started"] })
        const alert = yield* watching(target, { type: "deliveries_fail", webhook: { id: webhook.id }, attempts: 2 })
        yield* Webhooks.test(webhook.id)
        yield* Effect.repeat(Effect.delay(Stream.runCollect(Webhooks.deliveries(webhook.id)), "20 millis"), {
          until: ([delivery]) => delivery !== undefined && delivery.attempts > 0
        })
        yield* deliverIn(minute)
        yield* alertIn(2 * minute)
        const [began] = yield* alert.told
        assert.include(began?.text, target.origin)
        assert.notInclude(began?.text, "sesame")
        yield* deliverIn(hour)
        yield* alertIn(hour + minute)
        assert.deepStrictEqual(yield* alert.kinds, ["began", "over"])
      })
    )
  )

  it.effect("of a disk that is too full, and of what paused itself, begin and end", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const process = yield* newProcess({ pause_after_failures: 1 })
        const paused = yield* watching(target, { type: "paused_by_itself", process: { id: process.id } })
        const disk = yield* watching(target, { type: "disk_above", percent: 90 })
        const node = { node: "a node", used_percent: 95, measured_at: new Date(Date.now()).toISOString() }
        yield* sql`INSERT INTO node_disk ${sql.insert(node)}`
        yield* Processes.pause(process.id, { note: "by hand" })
        yield* alertIn(0)
        assert.deepStrictEqual(yield* paused.kinds, [])
        const own = (yield* disk.told).filter(({ firing }) => firing?.subject === "a node")
        assert.deepStrictEqual(
          own.map(({ text }) => text),
          ["disk usage of a node is 95 %, above 90 %."]
        )
        yield* Processes.resume(process.id)
        yield* ended(process, "down")
        yield* alertIn(minute)
        yield* Processes.resume(process.id)
        yield* sql`UPDATE node_disk SET used_percent = 50 WHERE node = 'a node'`
        yield* alertIn(2 * minute)
        assert.deepStrictEqual(yield* paused.kinds, ["began", "over"])
        const after = (yield* disk.told).filter(({ firing }) => firing?.subject === "a node")
        assert.deepStrictEqual(
          after.map(({ type }) => type),
          ["alert.began", "alert.over"]
        )
      })
    )
  )

  it.effect(
    "of a full disk goes on while its node sleeps or is dead, and does not begin by what it measured before",
    () =>
      withTarget(
        Effect.fnUntraced(function* (target) {
          const { alertIn } = yield* Service
          const sql = yield* SqlClient.SqlClient
          const measured = (hoursAgo: number, used_percent: number) =>
            sql`UPDATE node_disk SET ${sql.update({ used_percent, measured_at: new Date(Date.now() - hoursAgo * hour).toISOString() })}
            WHERE node = 'asleep'`
          yield* sql`INSERT INTO node_disk ${sql.insert({ node: "asleep", used_percent: 95, measured_at: new Date(Date.now()).toISOString() })}`
          const rule = { type: "disk_above", percent: 90 } as const
          const disk = yield* watching(target, rule)
          const kinds = Effect.map(disk.told, (told) =>
            told.filter(({ firing }) => firing?.subject === "asleep").map(({ type }) => type)
          )
          yield* alertIn(0)
          yield* measured(60, 95)
          const later = yield* watching(target, rule)
          yield* alertIn(minute)
          assert.deepStrictEqual(yield* kinds, ["alert.began"])
          assert.isFalse((yield* later.told).some(({ firing }) => firing?.subject === "asleep"))
          // It is back, and has room.
          yield* measured(0, 80)
          yield* alertIn(2 * minute)
          assert.deepStrictEqual(yield* kinds, ["alert.began", "alert.over"])
          yield* sql`DELETE FROM node_disk WHERE node = 'asleep'`
        })
      )
  )

  it.effect("of a disk knows how full the real one is", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn, folder } = yield* Service
        const { bavail, blocks } = statfsSync(folder)
        const used = (1 - bavail / blocks) * 100
        // Others write to the disk meanwhile.
        const below = yield* watching(target, { type: "disk_above", percent: Math.max(1, Math.floor(used) - 2) })
        const above = yield* watching(target, { type: "disk_above", percent: Math.min(99, Math.ceil(used) + 2) })
        yield* (yield* Alerter).measure
        yield* alertIn(0)
        const subjectsOf = (alert: typeof below) =>
          Effect.map(alert.told, (events) => events.map(({ firing }) => firing?.subject))
        assert.include(yield* subjectsOf(below), hostname())
        assert.notInclude(yield* subjectsOf(above), hostname())
      })
    )
  )

  it.effect("is silent in quiet hours and while muted, and tells then what is still the case", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const now = yield* Clock.currentTimeMillis
        const at = (millis: number) => new Date(now + millis).toISOString().slice(11, 16)
        const process = yield* newProcess()
        const rule = { type: "queue_above", process: { id: process.id }, items: 1 } as const
        const quiet = yield* watching(target, rule, {
          quiet: { zone: "UTC", from: at(-hour), to: at(2 * hour) }
        })
        const muted = yield* watching(target, rule)
        yield* Alerts.mute(muted.id, { until: new Date(now + 2 * hour), note: "we know" })
        assert.strictEqual((yield* Alerts.get(muted.id)).muted?.note, "we know")
        for (const payload of [1, 2]) yield* WorkItems.create({ process: process.id, payload })
        yield* alertIn(minute)
        assert.deepStrictEqual(yield* statesOf(quiet.id), ["held"])
        assert.deepStrictEqual([yield* quiet.kinds, yield* muted.kinds], [[], []])
        yield* alertIn(3 * hour)
        assert.deepStrictEqual([yield* quiet.kinds, yield* muted.kinds], [["began"], ["began"]])
        const items = yield* Stream.runCollect(WorkItems.stream({ process: process.id }))
        yield* WorkItems.remove(items.map(({ id }) => id))
        // The same hours of the next day.
        yield* alertIn(day)
        assert.deepStrictEqual(yield* statesOf(quiet.id), ["ending"])
        yield* alertIn(day + 3 * hour)
        assert.deepStrictEqual(
          [yield* quiet.kinds, yield* muted.kinds],
          [
            ["began", "over"],
            ["began", "over"]
          ]
        )
      })
    )
  )

  it.effect("tells a channel that was away the last word alone, whatever it missed", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const process = yield* newProcess()
        const rule = { type: "queue_above", process: { id: process.id }, items: 1 } as const
        const alert = yield* watching(target, rule, { repeat_seconds: 60 })
        let away = true
        yield* target.on(alert.path, (received) => received.answer(away ? 503 : 200))
        for (const payload of [1, 2]) yield* WorkItems.create({ process: process.id, payload })
        for (const minutes of [1, 3, 5, 7]) yield* alertIn(minutes * minute)
        away = false
        const items = yield* Stream.runCollect(WorkItems.stream({ process: process.id }))
        yield* WorkItems.remove(items.map(({ id }) => id))
        const missed = (yield* alert.kinds).length
        yield* alertIn(8 * minute)
        yield* alertIn(3 * hour)
        assert.deepStrictEqual((yield* alert.kinds).slice(missed), ["over"])
        const messages = yield* Stream.runCollect(Alerts.messages(alert.id))
        assert.deepStrictEqual([...new Set(messages.map(({ state }) => state))], ["delivered"])
      })
    )
  )

  it.effect("sends a channel one message in its time, and the next stands for what came meanwhile", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const process = yield* newProcess()
        const rule = { type: "run_unresolved", process: { id: process.id } } as const
        const alert = yield* watching(target, rule, { gather_seconds: 600 })
        yield* ended(process, "one")
        yield* alertIn(minute)
        yield* ended(process, "two")
        yield* alertIn(2 * minute)
        yield* ended(process, "three")
        yield* alertIn(10 * minute)
        assert.deepStrictEqual(yield* alert.kinds, ["began"])
        yield* Alerts.test(alert.id)
        yield* alertIn(10.5 * minute)
        assert.deepStrictEqual(yield* alert.kinds, ["began", "test"])
        yield* alertIn(11 * minute)
        const [, , digest, ...more] = yield* alert.told
        assert.deepStrictEqual(more, [])
        assert.strictEqual(digest?.count, 2)
        assert.match(
          digest?.text ?? "",
          /: 2 new\n- the run .* ended as unresolved\.\n- the run .* ended as unresolved\.$/
        )
        const firings = yield* Stream.runCollect(Alerts.firings({ alert: alert.id }))
        assert.sameMembers(
          (digest?.firings ?? []).map(({ id }) => id),
          firings.slice(0, 2).map(({ id }) => id)
        )
      })
    )
  )

  it.effect("fires once, however many nodes check it at a time", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const { tick } = yield* Alerter
        const clock = yield* Clock.Clock
        const process = yield* newProcess()
        const alert = yield* watching(target, { type: "queue_above", process: { id: process.id }, items: 1 })
        for (const payload of [1, 2]) yield* WorkItems.create({ process: process.id, payload })
        const ticks = Array.from({ length: 8 }, (_, n) =>
          Effect.provideService(tick, Clock.Clock, movedBy(clock, minute + n))
        )
        yield* Effect.all(ticks, { concurrency: "unbounded", discard: true })
        yield* alertIn(2 * minute)
        assert.deepStrictEqual(yield* alert.kinds, ["began"])
      })
    )
  )

  it.effect("is tested by a message to each of its channels, also while it is muted", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const alert = yield* watching(target, { type: "disk_above", percent: 99 })
        yield* Alerts.mute(alert.id, { until: Date.now() + day })
        const { messages } = yield* Alerts.test(alert.id)
        assert.deepStrictEqual(
          messages.map(({ channel, kind }) => [channel.id, kind]),
          [[alert.channel, "test"]]
        )
        yield* alertIn(minute)
        yield* target.take(alert.path, 1)
        assert.deepStrictEqual(yield* alert.kinds, ["test"])
      })
    )
  )

  it.effect("watches anew with another rule, and ends in silence", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const process = yield* newProcess()
        const alert = yield* watching(target, { type: "queue_above", process: { id: process.id }, items: 1 })
        for (const payload of [1, 2]) yield* WorkItems.create({ process: process.id, payload })
        yield* alertIn(minute)
        const { name, since } = yield* Alerts.get(alert.id)
        const changed = yield* Alerts.update(alert.id, {
          name,
          rule: { type: "queue_above", process: { id: process.id }, items: 50 },
          channels: [{ id: alert.channel }]
        })
        assert.isAbove(Date.parse(changed.since), Date.parse(since) - 1)
        assert.strictEqual(changed.firing, 0)
        yield* alertIn(2 * minute)
        assert.deepStrictEqual(yield* alert.kinds, ["began"])
        yield* Alerts.remove(alert.id)
        assert.deepStrictEqual(yield* statesOf(alert.id), [])
      })
    )
  )

  it.effect("is refused with the field that is wrong, and nothing is recorded", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { raw } = yield* Service
        const { channel } = yield* watching(target, { type: "disk_above", percent: 99 })
        const beat = yield* AlertChannels.create({
          name: crypto.randomUUID(),
          settings: { type: "heartbeat", url: Redacted.make(`${target.origin}/beat`) }
        })
        const valid = {
          name: crypto.randomUUID(),
          rule: { type: "disk_above", percent: 99 },
          channels: [{ id: channel }]
        }
        const refused = Effect.fnUntraced(function* (change: object, status: number, message: RegExp) {
          const response = yield* raw("POST", "alerts", { json: { ...valid, ...change } })
          assert.strictEqual(response.status, status, response.text)
          assert.match(errorOf(response).message, message)
        })
        const unknown = AlertChannelId.make("01900000-0000-7000-8000-000000000000")
        yield* refused({ channels: [{ id: unknown }] }, 404, /channels\.0\.id/)
        yield* refused({ channels: [{ id: beat.id }] }, 400, /channels\.0\.id: a heartbeat receives no messages/)
        yield* refused({ channels: [] }, 400, /channels/)
        yield* refused({ rule: { type: "run_unresolved", process: { id: unknown } } }, 404, /rule\.process\.id/)
        yield* refused({ rule: { type: "nothing_completed", seconds: 60 } }, 400, /process/)
        yield* refused({ rule: { type: "comet" } }, 400, /^rule\.type: Expected "run_unresolved" \|/)
        yield* refused(
          { quiet: { zone: "Europe/Wien", from: "22:00", to: "07:00" } },
          400,
          /quiet\.zone: no such time zone/
        )
        yield* refused({ quiet: { zone: "UTC", from: "25:00", to: "07:00" } }, 400, /quiet\.from/)
        const never = { zone: "UTC", from: "22:00", to: "07:00", except: ["2026-12-25", "2026-02-30"] }
        yield* refused({ quiet: never }, 400, /^quiet\.except\.1: Expected a day that exists/)
        const alerts = yield* Stream.runCollect(Alerts.stream())
        assert.isFalse(alerts.some(({ name }) => name === valid.name))
        const past = yield* raw("POST", `alerts/${alerts[0]?.id}/mute`, { json: { until: "2020-01-01T00:00:00Z" } })
        assert.strictEqual(past.status, 400)
        assert.match(errorOf(past).message, /until: Expected a time in the future/)
        const used = yield* raw("DELETE", `alert-channels/${channel}`)
        assert.strictEqual(used.status, 409)
      })
    )
  )
})

withLayer(Layer.empty, { excludeTestServices: true, timeout: "4 minutes" })("across restarts", (it) => {
  it.effect("a restored room that is not resumed checks, sends and calls nothing", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const target = yield* receiver
        const folder = yield* temporaryFolder
        const room = layerIn(folder, { rateLimit: null })
        const path = yield* Effect.gen(function* () {
          const process = yield* newProcess()
          const alert = yield* watching(target, { type: "queue_above", process: { id: process.id }, items: 1 })
          for (const payload of [1, 2]) yield* WorkItems.create({ process: process.id, payload })
          yield* AlertChannels.create({
            name: "beat",
            settings: { type: "heartbeat", url: Redacted.make(`${target.origin}/beat`) }
          })
          return alert.path
        }).pipe(Effect.provide(Layer.fresh(room)))
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`DELETE FROM room_running`
        }).pipe(
          Effect.provide(
            Layer.fresh(StorageLayers.layerStorage(storageIn(folder))).pipe(Layer.provide(NodeServices.layer))
          )
        )
        yield* Effect.gen(function* () {
          const { alertIn, raw } = yield* Service
          yield* alertIn(minute)
          yield* alertIn(2 * minute)
          assert.deepStrictEqual([target.at(path).length, target.at("/beat").length], [0, 0])
          assert.strictEqual((yield* raw("POST", "room/resume")).status, 200)
          yield* alertIn(3 * minute)
          assert.deepStrictEqual([target.at(path).length, target.at("/beat").length], [1, 1])
        }).pipe(Effect.provide(Layer.fresh(room)))
      })
    )
  )

  it.effect("the rule that nothing completed fires, also after retention took the last run", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const target = yield* receiver
        const folder = yield* temporaryFolder
        const room = layerIn(folder, { rateLimit: null, retainRuns: "1 hour" })
        const made = yield* Effect.gen(function* () {
          const { alertIn, retainIn } = yield* Service
          const process = yield* newProcess()
          const alert = yield* watching(target, {
            type: "nothing_completed",
            process: { id: process.id },
            seconds: 2 * 3600
          })
          yield* ended(process)
          yield* retainIn(90 * minute)
          assert.deepStrictEqual(yield* Stream.runCollect(ProcessRuns.stream({ process: process.id })), [])
          yield* alertIn(90 * minute)
          assert.deepStrictEqual(target.at(alert.path), [])
          return { process, path: alert.path }
        }).pipe(Effect.provide(room))
        const text = yield* Effect.gen(function* () {
          const { alertIn } = yield* Service
          yield* alertIn(3 * hour)
          const [received, ...more] = target.at(made.path)
          assert.deepStrictEqual(more, [])
          return String(JSON.parse(received?.body.toString() ?? "{}").text)
        }).pipe(Effect.provide(Layer.fresh(room)))
        assert.match(text, /has completed for 2 hours; last completed run: 20\d\d-/)
      })
    )
  )
})
