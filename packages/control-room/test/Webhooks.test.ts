import { assert, layer as withLayer } from "@effect/vitest"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { errorOf } from "./support/Http.ts"
import { type Received } from "./support/Receiver.ts"
import { layer, linkWorker, Service } from "./support/Service.ts"
import {
  unknownId,
  everything,
  seconds,
  minutes,
  hours,
  days,
  newProcess,
  ended,
  hookTo,
  read,
  genuine,
  deliveriesOf,
  lastOf,
  settled,
  withReceiver
} from "./support/Hooks.ts"

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("webhooks", (it) => {
  it.effect("are created with a secret of 32 bytes, shown by get and not by list, and sealed in the database", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const process = yield* newProcess()
      const made = yield* Webhooks.create({
        endpoint: "http://127.0.0.1:9/hook",
        events: ["process_run.completed", "process_run.completed", "process_run.started"],
        process: process.process
      })
      const secret = Redacted.value(made.secret)
      assert.match(secret, /^whsec_/)
      assert.strictEqual(Buffer.from(secret.slice(6), "base64").length, 32)
      assert.isTrue(made.enabled)
      assert.deepStrictEqual(made.enabled_events, ["process_run.completed", "process_run.started"])
      assert.deepStrictEqual(made.process, { id: process.process })
      assert.deepStrictEqual(yield* Webhooks.get(made.id), made)
      const listed = yield* raw("GET", "webhooks")
      assert.include(listed.text, made.id)
      assert.notInclude(listed.text, "secret")
      assert.notInclude(JSON.stringify(yield* rows), secret.slice(6))
      const other = yield* Webhooks.create({ endpoint: "http://127.0.0.1:9/hook", events: everything })
      assert.isNull(other.process)
      assert.notStrictEqual(Redacted.value(other.secret), secret)
      const ids = (yield* Stream.runCollect(Webhooks.stream({ limit: 1 }))).map(({ id }) => id)
      assert.deepStrictEqual(ids.slice(0, 2), [other.id, made.id])
      assert.strictEqual((yield* Webhooks.remove(made.id)).deleted, true)
      assert.strictEqual((yield* Effect.flip(Webhooks.get(made.id)))._tag, "NotFound")
      assert.strictEqual((yield* raw("DELETE", `webhooks/${made.id}`)).status, 404)
      yield* Webhooks.remove(other.id)
    })
  )

  it.effect("change only in the given fields", () =>
    Effect.gen(function* () {
      const process = yield* newProcess()
      const made = yield* Webhooks.create({ endpoint: "http://127.0.0.1:9/a", events: everything })
      assert.deepStrictEqual(yield* Webhooks.update(made.id, {}), made)
      const moved = yield* Webhooks.update(made.id, { endpoint: "http://127.0.0.1:9/b", process: process.process })
      assert.deepStrictEqual(moved, { ...made, endpoint: "http://127.0.0.1:9/b", process: { id: process.process } })
      const all = yield* Webhooks.update(made.id, { process: null, enabled: false, events: ["process_run.started"] })
      assert.deepStrictEqual(all, {
        ...moved,
        process: null,
        enabled: false,
        enabled_events: ["process_run.started"]
      })
      const rotated = yield* Webhooks.rotateSecret(made.id)
      assert.notStrictEqual(Redacted.value(rotated.secret), Redacted.value(made.secret))
      assert.deepStrictEqual(yield* Webhooks.get(made.id), rotated)
      yield* Webhooks.remove(made.id)
    })
  )

  it.effect("refuse bad input, unknown processes and what is of another workspace, and change nothing", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw, rows } = yield* Service
      const made = yield* Webhooks.create({ endpoint: "http://127.0.0.1:9/a", events: everything })
      const delivery = yield* Webhooks.test(made.id)
      yield* settled(made.id, 1)
      const before = yield* rows
      const good = { endpoint: "http://127.0.0.1:9/a", enabled_events: ["process_run.started"] }
      const bad: ReadonlyArray<readonly [object, number, RegExp]> = [
        [{ ...good, endpoint: "nowhere" }, 400, /endpoint/],
        [{ ...good, endpoint: "ftp://public.example/" }, 400, /endpoint/],
        [{ ...good, endpoint: "http://256.256.256.256/" }, 400, /endpoint/],
        [{ ...good, endpoint: `http://a.example/${"x".repeat(2048)}` }, 400, /endpoint/],
        [{ ...good, enabled_events: [] }, 400, /enabled_events/],
        [{ ...good, enabled_events: ["process_run.exploded"] }, 400, /enabled_events/],
        [{ ...good, process: { id: unknownId } }, 404, new RegExp(unknownId)]
      ]
      for (const [json, status, says] of bad) {
        for (const path of ["webhooks", `webhooks/${made.id}`]) {
          const answer = yield* raw("POST", path, { json })
          assert.strictEqual(answer.status, status, `${path} ${JSON.stringify(json)}: ${answer.text}`)
          assert.match(errorOf(answer).message, says)
        }
      }
      const other = yield* makeWorkspace
      const key = yield* makeKey(["Webhooks.read_webhooks", "Webhooks.write_webhooks"], other)
      for (const [method, path] of [
        ["GET", ""],
        ["POST", ""],
        ["POST", "/test"],
        ["GET", "/deliveries"],
        ["POST", `/deliveries/${delivery.id}/redeliver`],
        ["DELETE", ""]
      ] as const) {
        const url = `/api/v1/workspaces/${other}/webhooks/${made.id}${path}`
        const answer = yield* raw(method, url, { key, ...(method === "POST" ? { json: {} } : {}) })
        assert.strictEqual(answer.status, 404, `${method} ${path}: ${answer.text}`)
      }
      const after = yield* rows
      assert.deepStrictEqual(after["webhook"], before["webhook"])
      assert.deepStrictEqual(after["webhook_delivery"], before["webhook_delivery"])
      yield* Webhooks.remove(made.id)
    })
  )

  it.effect("receive the start and the end of a run, signed in both ways, numbered and created once", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const { workspaceId } = yield* Service
        const process = yield* newProcess()
        const one = yield* hookTo(target, process, everything)
        const all = yield* hookTo(target, null, everything)
        const ends = yield* hookTo(target, process)
        const elsewhere = yield* hookTo(target, yield* newProcess(), everything)
        const run = yield* ended(process)
        const told = yield* target.take(one.path, 2)
        const events = []
        for (const received of told) events.push(yield* genuine(received, one.secret))
        events.sort((a, b) => (a.payload.seqNo ?? 0) - (b.payload.seqNo ?? 0))
        const view = yield* ProcessRuns.get(run)
        const common = { workspaceId, processId: process.process, processName: process.name, processRunId: run }
        assert.deepStrictEqual(
          events.map(({ action, event, payload }) => ({ action, event, payload })),
          [
            {
              action: "started",
              event: "process_run",
              payload: {
                ...common,
                state: "in_progress",
                seqNo: 1,
                startedAt: view.started_at,
                endedAt: null,
                duration: null,
                result: null,
                errorCode: null,
                pause: null
              }
            },
            {
              action: "completed",
              event: "process_run",
              payload: {
                ...common,
                state: "completed",
                seqNo: 2,
                startedAt: view.started_at,
                endedAt: view.ended_at,
                duration: view.duration,
                result: "success",
                errorCode: null,
                pause: null
              }
            }
          ]
        )
        // The same event, byte for byte, for all receivers; each signed with a separate secret.
        const ofAll = yield* target.take(all.path, 2)
        yield* genuine(ofAll[0], all.secret)
        assert.strictEqual((yield* Effect.flip(read(ofAll[0] ?? assert.fail(), one.secret)))._tag, "InvalidSignature")
        const bodies = (list: ReadonlyArray<Received>) => list.map(({ body }) => body.toString()).sort()
        assert.deepStrictEqual(bodies(ofAll), bodies(told))
        const [end] = yield* target.take(ends.path, 1)
        assert.strictEqual((yield* genuine(end, ends.secret)).action, "completed")
        yield* settled(ends.webhook.id, 1)
        assert.strictEqual(target.at(ends.path).length, 1)
        assert.deepStrictEqual(yield* deliveriesOf(elsewhere.webhook.id), [])
        yield* Webhooks.remove(all.webhook.id)
      })
    )
  )

  it.effect("receive failures with the code of the last one, and the end that a person caused", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const process = yield* newProcess()
        const { path, secret } = yield* hookTo(target, process, everything)
        const summaries = (count: number) =>
          Effect.flatMap(target.take(path, count), (told) =>
            Effect.map(
              Effect.forEach(told, (received) => genuine(received, secret)),
              (events) =>
                events
                  .sort((a, b) => (a.payload.seqNo ?? 0) - (b.payload.seqNo ?? 0))
                  .map(({ action, payload }) => [payload.seqNo, action, payload.result, payload.errorCode])
            )
          )
        const run = yield* ended(process, true)
        assert.deepStrictEqual(yield* summaries(2), [
          [1, "started", null, null],
          [2, "unresolved", "error", "ROBOT_FAILURE"]
        ])
        const [item] = yield* Stream.runCollect(WorkItems.stream({ processRun: run }))
        if (item === undefined) return assert.fail("no item")
        yield* WorkItems.retry([item.id])
        const worker = yield* linkWorker(process.tasks)
        const { lease } = yield* worker.take
        yield* worker.protocol.finish(lease, { code: "TIMEOUT", message: "slow" })
        assert.deepStrictEqual((yield* summaries(3))[2], [3, "unresolved", "error", "TIMEOUT"])
        yield* WorkItems.markAsDone([item.id])
        assert.deepStrictEqual((yield* summaries(4))[3], [4, "completed", "success", null])

        const second = yield* ended(process, true)
        yield* summaries(6)
        const [other] = yield* Stream.runCollect(WorkItems.stream({ processRun: second }))
        if (other === undefined) return assert.fail("no item")
        yield* WorkItems.remove([other.id])
        const told = yield* target.take(path, 7)
        const last = yield* genuine(told.at(-1), secret)
        assert.strictEqual(last.action, "completed")
        assert.strictEqual(last.payload.processRunId, second)
        assert.strictEqual(last.payload.seqNo, 3)
      })
    )
  )

  it.effect("sign with the new secret and the old one for 24 hours after a rotation", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const { deliverIn } = yield* Service
        const { path, secret: old, webhook } = yield* hookTo(target, yield* newProcess())
        const { secret } = yield* Webhooks.rotateSecret(webhook.id)
        yield* Webhooks.test(webhook.id)
        const [during] = yield* target.take(path, 1)
        yield* genuine(during, secret)
        assert.strictEqual((yield* read(during ?? assert.fail(), old)).action, "test")
        assert.strictEqual(String(during?.headers["webhook-signature"]).split(" ").length, 2)
        // As if the test event had been sent a day later.
        yield* target.on(path, (received, index) => received.answer(index === 1 ? 503 : 200))
        yield* Webhooks.test(webhook.id)
        yield* settled(webhook.id, 1)
        yield* deliverIn(24 * hours + minutes)
        const after = (yield* target.take(path, 3))[2] ?? assert.fail()
        yield* genuine(after, secret)
        assert.strictEqual((yield* Effect.flip(read(after, old)))._tag, "InvalidSignature")
        assert.strictEqual(String(after.headers["webhook-signature"]).split(" ").length, 1)
      })
    )
  )

  it.effect("are tried eight times over two days, with the same bytes and id", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const { deliverIn } = yield* Service
        const process = yield* newProcess()
        const { path, secret, webhook } = yield* hookTo(target, process)
        yield* target.on(path, (received) => received.answer(500))
        yield* ended(process)
        const waits = [5 * seconds, 5 * minutes, 30 * minutes, 2 * hours, 5 * hours, 10 * hours, 24 * hours]
        const began = Date.now()
        for (const [index, wait] of waits.entries()) {
          const delivery = yield* settled(webhook.id, index + 1)
          assert.strictEqual(delivery.attempts, index + 1)
          assert.strictEqual(delivery.state, "pending")
          assert.strictEqual(delivery.response_status, 500)
          assert.match(delivery.error ?? "", /500/)
          const last = Date.parse(delivery.last_attempt_at ?? "")
          const next = Date.parse(delivery.next_attempt_at ?? "")
          // Time passes between choosing the next attempt and recording this one.
          assert.isAtLeast(next - last, wait * 0.8 - 200)
          assert.isAtMost(next - last, wait * 1.2)
          yield* deliverIn(next - 2 * seconds - Date.now())
          assert.strictEqual(target.at(path).length, index + 1)
          yield* deliverIn(next + 1 - Date.now())
        }
        const failed = yield* lastOf(webhook.id)
        assert.strictEqual(failed.state, "failed")
        assert.strictEqual(failed.attempts, 8)
        assert.isNull(failed.next_attempt_at)
        yield* deliverIn(10 * days)
        const attempts = target.at(path)
        assert.strictEqual(attempts.length, 8)
        assert.strictEqual(new Set(attempts.map(({ body }) => body.toString("base64"))).size, 1)
        assert.deepStrictEqual([...new Set(attempts.map(({ headers }) => headers["webhook-id"]))], [failed.event_id])
        assert.strictEqual(attempts[0]?.body.toString(), failed.body)
        const stamps = attempts.map(({ headers }) => Number(headers["webhook-timestamp"]) * 1000 - began)
        for (const [index, stamp] of stamps.entries()) {
          if (index > 0) assert.isAbove(stamp, stamps[index - 1] ?? 0)
          yield* genuine(attempts[index], secret)
        }
        const recent = yield* Stream.runCollect(Webhooks.deliveries(webhook.id, { state: "failed" }))
        assert.strictEqual(recent.length, 1)
        assert.deepStrictEqual(yield* Stream.runCollect(Webhooks.deliveries(webhook.id, { state: "pending" })), [])
      })
    )
  )

  it.effect("take any 2xx as success after failures, and any other response as a failure", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const { deliverIn } = yield* Service
        for (const [first, then, says] of [
          [302, 204, /redirects are not followed/],
          [307, 200, /redirects are not followed/],
          [404, 202, /404/],
          [401, 299, /401/],
          [429, 201, /429/],
          [503, 200, /503/]
        ] as const) {
          const { path, webhook } = yield* hookTo(target, yield* newProcess())
          const elsewhere = `${path}-elsewhere`
          yield* target.on(path, (received, index) =>
            received.answer(index === 0 ? first : then, { location: target.origin + elsewhere })
          )
          yield* Webhooks.test(webhook.id)
          const failed = yield* settled(webhook.id, 1)
          assert.strictEqual(failed.state, "pending", `${first}`)
          assert.strictEqual(failed.response_status, first)
          assert.match(failed.error ?? "", says)
          yield* deliverIn(10 * seconds)
          const delivered = yield* lastOf(webhook.id)
          assert.strictEqual(delivered.state, "delivered")
          assert.strictEqual(delivered.response_status, then)
          assert.isNull(delivered.error)
          assert.isNull(delivered.next_attempt_at)
          assert.strictEqual(target.at(elsewhere).length, 0)
          yield* deliverIn(3 * days)
          assert.strictEqual(target.at(path).length, 2)
        }
      })
    )
  )

  it.effect("are disabled by a 410, which fails all pending deliveries, until enabled again", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const { deliverIn } = yield* Service
        const process = yield* newProcess()
        const { path, webhook } = yield* hookTo(target, process)
        yield* target.on(path, (received, index) => received.answer(index === 0 ? 500 : index === 1 ? 410 : 200))
        yield* Webhooks.test(webhook.id)
        yield* settled(webhook.id, 1)
        yield* Webhooks.test(webhook.id)
        const gone = yield* settled(webhook.id, 1)
        assert.strictEqual(gone.state, "failed")
        assert.strictEqual(gone.response_status, 410)
        assert.isFalse((yield* Webhooks.get(webhook.id)).enabled)
        assert.deepStrictEqual(
          (yield* deliveriesOf(webhook.id)).map(({ state }) => state),
          ["failed", "failed"]
        )
        yield* ended(process)
        yield* deliverIn(3 * days)
        assert.strictEqual((yield* deliveriesOf(webhook.id)).length, 2)
        // A manual redelivery is still possible.
        const tested = yield* Webhooks.test(webhook.id)
        assert.strictEqual((yield* settled(webhook.id, 1)).id, tested.id)
        yield* Webhooks.update(webhook.id, { enabled: true })
        yield* ended(process)
        yield* target.take(path, 4)
      })
    )
  )

  it.effect("send nothing more of what waits once they are disabled, deleted or moved", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const { deliverIn } = yield* Service
        const disabled = yield* hookTo(target, yield* newProcess())
        const deleted = yield* hookTo(target, yield* newProcess())
        const moved = yield* hookTo(target, yield* newProcess())
        for (const { path, webhook } of [disabled, deleted, moved]) {
          yield* target.on(path, (received) => received.answer(500))
          yield* Webhooks.test(webhook.id)
          yield* settled(webhook.id, 1)
        }
        yield* Webhooks.update(disabled.webhook.id, { enabled: false })
        yield* Webhooks.remove(deleted.webhook.id)
        yield* Webhooks.update(moved.webhook.id, { endpoint: `${target.origin}/moved` })
        yield* deliverIn(3 * days)
        for (const { path } of [disabled, deleted, moved]) assert.strictEqual(target.at(path).length, 1)
        assert.strictEqual(target.at("/moved").length, 1)
        const given = yield* lastOf(disabled.webhook.id)
        assert.strictEqual(given.state, "failed")
        assert.match(given.error ?? "", /disabled/)
        const sql = yield* SqlClient.SqlClient
        const left = yield* sql`SELECT * FROM webhook_delivery WHERE webhook_id = ${deleted.webhook.id}`
        assert.strictEqual(left.length, 0)
      })
    )
  )

  it.effect("have a test event of no process and no run", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const { workspaceId } = yield* Service
        const { path, secret, webhook } = yield* hookTo(target, yield* newProcess())
        const delivery = yield* Webhooks.test(webhook.id)
        assert.strictEqual(delivery.event_type, "process_run.test")
        assert.isNull(delivery.process_run)
        const [received] = yield* target.take(path, 1)
        const event = yield* genuine(received, secret)
        assert.strictEqual(event.id, delivery.event_id)
        assert.strictEqual(event.action, "test")
        assert.strictEqual(event.payload.seqNo, 0)
        assert.strictEqual(event.payload.workspaceId, workspaceId)
        const gone = yield* Effect.flip(ProcessRuns.get(event.payload.processRunId))
        assert.strictEqual(gone._tag, "NotFound")
      })
    )
  )

  it.effect("deliver an event once more when asked, and not while it is under way", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const { deliverIn, raw } = yield* Service
        const process = yield* newProcess()
        const { path, secret, webhook } = yield* hookTo(target, process)
        yield* target.on(path, (received, index) => received.answer(index === 0 ? 500 : 200))
        const run = yield* ended(process)
        const first = yield* settled(webhook.id, 1)
        assert.deepStrictEqual(first.process_run, { id: run })
        assert.strictEqual((yield* Effect.flip(Webhooks.redeliver(webhook.id, first.id)))._tag, "Conflict")
        yield* deliverIn(10 * seconds)
        const again = yield* Webhooks.redeliver(webhook.id, first.id)
        assert.notStrictEqual(again.id, first.id)
        assert.strictEqual(again.event_id, first.event_id)
        assert.strictEqual(again.event_type, first.event_type)
        const told = yield* target.take(path, 3)
        assert.strictEqual((yield* genuine(told[2], secret)).id, first.event_id)
        assert.strictEqual(told[2]?.body.toString(), told[0]?.body.toString())
        const nothing = yield* raw("POST", `webhooks/${webhook.id}/deliveries/${unknownId}/redeliver`)
        assert.strictEqual(nothing.status, 404)
        const other = yield* hookTo(target, process)
        const foreign = yield* raw("POST", `webhooks/${other.webhook.id}/deliveries/${first.id}/redeliver`)
        assert.strictEqual(foreign.status, 404)
      })
    )
  )

  it.effect("keep the log for 14 days", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const { deliverIn } = yield* Service
        const { path, webhook } = yield* hookTo(target, yield* newProcess())
        yield* Webhooks.test(webhook.id)
        yield* target.take(path, 1)
        yield* settled(webhook.id, 1)
        yield* deliverIn(14 * days - minutes)
        assert.strictEqual((yield* deliveriesOf(webhook.id)).length, 1)
        yield* deliverIn(14 * days + minutes)
        assert.strictEqual((yield* deliveriesOf(webhook.id)).length, 0)
      })
    )
  )

  it.effect("get at most four concurrent requests, and a slow one delays no other", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const slow = yield* hookTo(target, yield* newProcess())
        const twin = yield* Webhooks.create({ endpoint: target.origin + slow.path, events: everything })
        const quick = yield* hookTo(target, yield* newProcess())
        const held: Array<Received> = []
        yield* target.on(slow.path, (received) => held.push(received))
        for (let index = 0; index < 6; index++) {
          yield* Webhooks.test(slow.webhook.id)
          yield* Webhooks.test(twin.id)
        }
        yield* target.take(slow.path, 4)
        for (let index = 1; index <= 10; index++) {
          yield* Webhooks.test(quick.webhook.id)
          yield* target.take(quick.path, index)
        }
        assert.strictEqual(target.at(slow.path).length, 4)
        // Each response admits one more, and never more than four are in progress.
        for (let index = 0; index < 12; index++) {
          yield* target.take(slow.path, Math.min(12, 4 + index))
          assert.isAtMost(held.length - index, 4)
          held[index]?.answer(200)
        }
        yield* settled(slow.webhook.id, 1)
        const ids = target.at(slow.path).map(({ headers }) => headers["webhook-id"])
        assert.strictEqual(new Set(ids).size, 12)
        yield* Webhooks.remove(twin.id)
      })
    )
  )
})
