import { assert, layer as withLayer } from "@effect/vitest"
import { ArtifactId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { bodyAs, errorOf, multipart, send } from "./support/Http.ts"
import { layer, linkWorker, Service } from "./support/Service.ts"

const sized = (name: string, text: string) => ({
  name,
  size: Buffer.byteLength(text),
  stream: Stream.succeed(Buffer.from(text))
})

/** A worker with a leased step run of a new process. */
const leasedStep = Effect.gen(function* () {
  const { origin } = yield* Service
  const task = `reports ${crypto.randomUUID()}`
  const process = yield* Processes.create({ name: task, steps: [{ name: "s", task: { name: task } }] })
  yield* ProcessRuns.start(process.id)
  const worker = yield* linkWorker([task])
  const lease = yield* worker.lease
  const reports = yield* WorkerProtocol.makeReports(origin, worker.identity)
  return { ...worker, lease, reports, run: lease.process_run_id }
})

const startedStep = Effect.tap(leasedStep, ({ lease, protocol }) => protocol.start(lease))

const lines = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({ timestamp: "2026-11-20T08:15:30.000Z", message: `line ${from + n}` }))

const consoleOf = (lease: WorkerProtocol.Lease) =>
  Effect.map(Stream.runCollect(StepRuns.consoleMessages(lease.step_run_id)), (all) => all.map(({ message }) => message))

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("console messages", (it) => {
  it.effect("are stored once and in order, however often they are sent", () =>
    Effect.gen(function* () {
      const { lease, reports } = yield* startedStep
      const expected = lines(0, 30).map(({ message }) => message)
      yield* reports.sendConsole(lease, 0, lines(0, 10))
      yield* reports.sendConsole(lease, 0, lines(0, 10))
      yield* reports.sendConsole(lease, 5, lines(5, 15))
      yield* reports.sendConsole(lease, 3, lines(3, 2))
      const gap = yield* Effect.flip(reports.sendConsole(lease, 21, lines(21, 1)))
      assert.strictEqual(gap._tag, "Conflict")
      assert.match(gap.message, /20 were received/)
      yield* reports.sendConsole(lease, 20, lines(20, 10))
      assert.deepStrictEqual(yield* consoleOf(lease), expected)
      // Many concurrent identical reports: one of them is stored.
      const again = reports.sendConsole(lease, 30, lines(30, 100))
      yield* Effect.all([again, again, again, again], { concurrency: 4, discard: true })
      assert.strictEqual((yield* consoleOf(lease)).length, 130)
    })
  )

  it.effect("come in pages of 1,000", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { lease, reports } = yield* startedStep
      for (const from of [0, 1000, 2000]) {
        yield* reports.sendConsole(lease, from, lines(from, from === 2000 ? 1 : 1000))
      }
      const Listed = Schema.Struct({ data: Schema.Array(Schema.Unknown), has_more: Schema.Boolean })
      const path = `step-runs/${lease.step_run_id}/console-messages`
      const first = bodyAs(Listed, yield* raw("GET", path))
      assert.deepStrictEqual([first.data.length, first.has_more], [1000, true])
      assert.deepStrictEqual(first.data[0], lines(0, 1)[0])
      assert.strictEqual(bodyAs(Listed, yield* raw("GET", `${path}?limit=5`)).data.length, 1000)
      assert.deepStrictEqual(
        yield* consoleOf(lease),
        lines(0, 2001).map(({ message }) => message)
      )
      assert.strictEqual((yield* raw("GET", `${path}?cursor=nonsense`)).status, 400)
    })
  )

  it.effect("are followed from the end of the log on: no line is lost or comes twice", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { lease, reports } = yield* startedStep
      const Listed = Schema.Struct({
        data: Schema.Array(Schema.Struct({ message: Schema.String })),
        next: Schema.NullOr(Schema.String),
        newer: Schema.String
      })
      const read = Effect.fnUntraced(function* (path: string) {
        const { data, ...links } = bodyAs(Listed, yield* raw("GET", path))
        return { ...links, messages: data.map(({ message }) => message) }
      })
      const path = `step-runs/${lease.step_run_id}/console-messages`
      const empty = yield* read(`${path}?order=newest_first`)
      assert.deepStrictEqual([empty.messages, empty.next], [[], null])
      yield* reports.sendConsole(lease, 0, lines(0, 1000))
      yield* reports.sendConsole(lease, 1000, lines(1000, 500))
      const texts = (from: number, count: number) => lines(from, count).map(({ message }) => message)
      const end = yield* read(`${path}?order=newest_first`)
      assert.deepStrictEqual(end.messages.toReversed(), texts(500, 1000))
      const older = yield* read(end.next ?? "")
      assert.deepStrictEqual(older.messages.toReversed(), texts(0, 500))
      const first = yield* read(empty.newer)
      assert.deepStrictEqual(first.messages, texts(0, 1000))

      const nothing = yield* read(end.newer)
      assert.deepStrictEqual([nothing.messages, nothing.next], [[], null])
      yield* reports.sendConsole(lease, 1500, lines(1500, 2))
      const later = yield* read(nothing.newer)
      assert.deepStrictEqual(later.messages, texts(1500, 2))

      // A node whose clock is ahead has written the last line.
      yield* sql`
        UPDATE console_message SET id = ${"ffffffff-ffff-7fff-bfff-fffffffffff0"}
        WHERE id = (SELECT max(id) FROM console_message WHERE step_run_id = ${lease.step_run_id})`
      const ahead = yield* read(nothing.newer)
      yield* reports.sendConsole(lease, 1502, lines(1502, 2))
      assert.deepStrictEqual((yield* read(ahead.newer)).messages, texts(1502, 2))
    })
  )

  it.effect("are read from any position, also of a log that is written meanwhile or was begun without marks", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { lease, reports } = yield* startedStep
      const path = `step-runs/${lease.step_run_id}/console-messages`
      const Listed = Schema.Struct({
        data: Schema.Array(Schema.Struct({ message: Schema.String })),
        next: Schema.NullOr(Schema.String),
        newer: Schema.String,
        position: Schema.NullOr(Schema.Finite),
        total: Schema.Finite
      })
      /** The position, the first and last line, how many, and how many there are. */
      const read = Effect.fnUntraced(function* (query: string) {
        const { data, position, total } = bodyAs(Listed, yield* raw("GET", `${path}${query}`))
        return [position, data[0]?.message ?? null, data.at(-1)?.message ?? null, data.length, total]
      })
      assert.deepStrictEqual(yield* read("?position=-5"), [0, null, null, 0, 0])
      for (const from of [0, 999, 1998]) yield* reports.sendConsole(lease, from, lines(from, 999))
      yield* reports.sendConsole(lease, 2900, lines(2900, 350))
      const marks = sql<{ readonly position: number }>`
        SELECT position FROM console_mark WHERE step_run_id = ${lease.step_run_id} ORDER BY position`
      assert.deepStrictEqual(
        (yield* marks).map(({ position }) => position),
        [1000, 2000, 3000]
      )
      const everywhere = Effect.gen(function* () {
        for (const at of [0, 1, 999, 1000, 1001, 1999, 2249, 2250, 2251, 3000, 3249]) {
          const last = Math.min(at + 1000, 3250)
          const expected = [at, `line ${at}`, `line ${last - 1}`, last - at, 3250]
          assert.deepStrictEqual(yield* read(`?position=${at}`), expected)
        }
        assert.deepStrictEqual(yield* read("?position=-10"), [3240, "line 3240", "line 3249", 10, 3250])
        assert.deepStrictEqual(yield* read("?position=-9999"), [0, "line 0", "line 999", 1000, 3250])
        assert.deepStrictEqual(yield* read("?position=-700&count=2"), [2550, "line 2550", "line 2551", 2, 3250])
        assert.deepStrictEqual(yield* read("?position=1&count=2000"), [1, "line 1", "line 1000", 1000, 3250])
        assert.deepStrictEqual(yield* read("?position=9999"), [3250, null, null, 0, 3250])
      })
      yield* everywhere
      yield* sql`DELETE FROM console_mark WHERE step_run_id = ${lease.step_run_id} AND position < 3000`
      yield* everywhere

      assert.deepStrictEqual(yield* read(""), [null, "line 0", "line 999", 1000, 3250])
      const middle = bodyAs(Listed, yield* raw("GET", `${path}?position=1500`))
      const after = bodyAs(Listed, yield* raw("GET", middle.next ?? ""))
      assert.deepStrictEqual([after.data[0]?.message, after.data.length, after.next], ["line 2500", 750, null])
      const end = bodyAs(Listed, yield* raw("GET", `${path}?position=3250`))
      yield* reports.sendConsole(lease, 3250, lines(3250, 2))
      assert.strictEqual(bodyAs(Listed, yield* raw("GET", end.newer)).data[0]?.message, "line 3250")
      for (const query of ["position=1&order=newest_first", "position=x", "position=1.5", "position=1&count=0"]) {
        const refused = yield* raw("GET", `${path}?${query}`)
        assert.deepStrictEqual([refused.status, /position|count/.test(refused.text)], [400, true])
      }
    })
  )

  it.effect("have times with a zone and at most 65,536 characters", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const { identity, lease, reports } = yield* startedStep
      const long = "漢".repeat(65_536)
      yield* reports.sendConsole(lease, 0, [{ timestamp: "2026-11-20T08:15:30.5+02:00", message: long }])
      const [kept] = yield* Stream.runCollect(StepRuns.consoleMessages(lease.step_run_id))
      assert.deepStrictEqual(kept, { timestamp: "2026-11-20T06:15:30.500Z", message: long })
      const [line] = lines(0, 1)
      const before = yield* rows
      const bad: ReadonlyArray<readonly [RegExp, object]> = [
        [/messages/, { messages: [] }],
        [/messages/, { messages: lines(0, 1001) }],
        [/messages\.0\.message/, { messages: [{ ...line, message: long + "x" }] }],
        [/messages\.0\.message/, { messages: [{ ...line, message: "a\u0000b" }] }],
        [/messages\.0\.timestamp/, { messages: [{ ...line, timestamp: "yesterday" }] }],
        [/messages\.1\.timestamp/, { messages: [line, { ...line, timestamp: "2026-13-45T99:99:99Z" }] }],
        [/offset/, { offset: -1 }],
        [/offset/, { offset: 0.5 }],
        [/lease_token/, { lease_token: 1 }]
      ]
      for (const [says, change] of bad) {
        const answer = yield* raw("POST", `/worker-v1/step-runs/${lease.step_run_id}/console`, {
          key: null,
          headers: { authorization: `Bearer ${Redacted.value(identity.token)}` },
          json: { lease_token: lease.lease_token, offset: 1, messages: lines(0, 1), ...change }
        })
        assert.strictEqual(answer.status, 400, `${says}: ${answer.text}`)
        assert.match(errorOf(answer).message, says)
      }
      assert.deepStrictEqual(yield* rows, before)
    })
  )
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("reports of workers", (it) => {
  it.effect("of events stand among those of the service, once", () =>
    Effect.gen(function* () {
      const { lease, protocol, reports } = yield* startedStep
      const events = ["SETUP", "DOWNLOAD"].map((event_type) => ({ timestamp: "2026-11-20T08:15:30Z", event_type }))
      yield* reports.sendEvents(lease, 0, events)
      yield* reports.sendEvents(lease, 0, events)
      yield* reports.sendEvents(lease, 1, [
        ...events.slice(1),
        { ...events[0], timestamp: "2026-11-20T08:15:31Z", event_type: "X_1" }
      ])
      const forged = yield* Effect.flip(
        reports.sendEvents(lease, 3, [{ timestamp: "2026-11-20T08:15:30Z", event_type: "END" }])
      )
      assert.strictEqual(forged._tag, "InvalidRequest")
      assert.strictEqual((yield* Effect.flip(reports.sendEvents(lease, 9, events)))._tag, "Conflict")
      yield* protocol.finish(lease, null)
      const all = yield* Stream.runCollect(StepRuns.events(lease.step_run_id))
      assert.deepStrictEqual(
        all.map(({ event_type }) => String(event_type)),
        ["CREATED", "QUEUED", "LEASED", "START", "ITEM_RESERVED", "SETUP", "DOWNLOAD", "X_1", "ITEM_RELEASED", "END"]
      )
      assert.strictEqual(all[5]?.timestamp, "2026-11-20T08:15:30.000Z")
    })
  )

  it.effect("of an environment say its digest, tool, seconds and whether it was there", () =>
    Effect.gen(function* () {
      const { lease, protocol, reports } = yield* startedStep
      const environment = { digest: "0a".repeat(32), provider: "venv", cached: false, seconds: 12.5 }
      const at = { timestamp: "2026-11-20T08:15:30.000Z" }
      const bad: ReadonlyArray<readonly [says: RegExp, event: Parameters<typeof reports.sendEvents>[2][number]]> = [
        [/events\.0\.environment: only events ENVIRONMENT/, { ...at, event_type: "SETUP", environment }],
        [
          /events\.0\.environment\.seconds/,
          { ...at, event_type: "ENVIRONMENT", environment: { ...environment, seconds: -1 } }
        ],
        [
          /events\.0\.environment\.digest/,
          { ...at, event_type: "ENVIRONMENT", environment: { ...environment, digest: "https://me:secret@host" } }
        ]
      ]
      for (const [says, event] of bad) {
        const refused = yield* Effect.flip(reports.sendEvents(lease, 0, [event]))
        assert.match(refused.message, says)
      }
      const both = { ...at, event_type: "ENVIRONMENT", environment, message: "built" }
      const refused = yield* Effect.flip(reports.sendEvents(lease, 0, [both]))
      assert.match(refused.message, /events\.0\.message: events ENVIRONMENT have an environment and no message/)
      // As workers that do not send it.
      yield* reports.sendEvents(lease, 0, [{ ...at, event_type: "ENVIRONMENT" }])
      yield* reports.sendEvents(lease, 1, [{ ...at, event_type: "ENVIRONMENT", environment }])
      yield* protocol.finish(lease, null)
      const all = yield* Stream.runCollect(StepRuns.events(lease.step_run_id))
      assert.deepStrictEqual(
        all.flatMap(({ environment, event_type, message, timestamp }) =>
          String(event_type) === "ENVIRONMENT" ? [{ environment, message, timestamp }] : []
        ),
        [null, environment].map((environment) => ({ environment, message: null, ...at }))
      )
      assert.deepStrictEqual(
        all.flatMap((event) => event.environment ?? []),
        [environment]
      )
    })
  )

  it.effect("of a log with missing lines say how many", () =>
    Effect.gen(function* () {
      const { lease, protocol, reports } = yield* startedStep
      const event = {
        timestamp: "2026-11-20T08:15:30.000Z",
        event_type: "LOG_INCOMPLETE",
        message: "3 lines were dropped"
      }
      yield* reports.sendEvents(lease, 0, [event])
      const refused = yield* Effect.flip(reports.sendEvents(lease, 1, [{ ...event, message: "x".repeat(1001) }]))
      assert.match(refused.message, /events\.0\.message/)
      yield* protocol.finish(lease, null)
      const all = yield* Stream.runCollect(StepRuns.events(lease.step_run_id))
      assert.deepStrictEqual(
        all.flatMap(({ event_type, message }) => (String(event_type) === "LOG_INCOMPLETE" ? [message] : [])),
        [event.message]
      )
    })
  )

  it.effect("of artifacts are files of the step run that can be listed and fetched", () =>
    Effect.gen(function* () {
      const { blobs, origin, raw } = yield* Service
      const { lease, protocol, reports, run } = yield* startedStep
      const kept = (yield* blobs).kept.length
      yield* reports.uploadArtifact(lease, sized("log.html", "<b>log</b>"))
      yield* reports.uploadArtifact(lease, sized("shots/1 ü.png", "old"))
      yield* reports.uploadArtifact(lease, sized("shots/1 ü.png", "newer"))
      yield* reports.uploadArtifact(lease, sized("empty", ""))
      assert.strictEqual((yield* blobs).kept.length, kept + 3)
      const listed = yield* Stream.runCollect(StepRuns.artifacts(lease.step_run_id, { limit: 1 }))
      assert.deepStrictEqual(
        listed.map(({ name, size }) => [name, size]),
        [
          ["empty", 0],
          ["shots/1 ü.png", 5],
          ["log.html", 10]
        ]
      )
      const shot = listed[1]?.id ?? ArtifactId.make("none")
      const artifact = yield* StepRuns.getArtifact(lease.step_run_id, shot)
      const answer = yield* send(origin, "GET", artifact.url.slice(origin.length))
      assert.strictEqual(answer.text, "newer")
      assert.strictEqual(answer.headers["content-disposition"], "attachment; filename*=UTF-8''1%20%C3%BC.png")
      assert.strictEqual(answer.headers["content-type"], "application/octet-stream")
      const events = yield* Stream.runCollect(StepRuns.events(lease.step_run_id))
      assert.strictEqual(events.filter(({ event_type }) => event_type === "ARTIFACT_ADDED").length, 4)
      // The artifacts of one step run are not those of another, nor files of items.
      const other = yield* startedStep
      assert.strictEqual((yield* raw("GET", `step-runs/${other.lease.step_run_id}/artifacts/${shot}`)).status, 404)
      yield* other
        .session(other.lease)
        .pipe(Effect.flatMap((session) => session.attachFile(other.lease.work_item_id, sized("a.txt", "a"))))
      const [file] = (yield* WorkItems.get(other.lease.work_item_id)).files
      assert.strictEqual((yield* raw("GET", `step-runs/${lease.step_run_id}/artifacts/${file?.id}`)).status, 404)
      yield* protocol.finish(lease, null)
      assert.strictEqual((yield* StepRuns.getArtifact(lease.step_run_id, shot)).size, 5)
      const before = (yield* blobs).kept.length
      yield* ProcessRuns.remove(run)
      assert.strictEqual((yield* blobs).kept.length, before - 3)
      assert.strictEqual((yield* raw("GET", `step-runs/${lease.step_run_id}/artifacts`)).status, 404)
      assert.strictEqual((yield* raw("GET", `step-runs/${lease.step_run_id}/console-messages`)).status, 404)
    })
  )

  it.effect("of artifacts have a name inside their folder and a size up to 1 GB", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { identity, lease } = yield* startedStep
      const ask = (change: object) =>
        raw("POST", `/worker-v1/step-runs/${lease.step_run_id}/artifacts`, {
          key: null,
          headers: { authorization: `Bearer ${Redacted.value(identity.token)}` },
          json: { lease_token: lease.lease_token, name: "a", size: 1, ...change }
        })
      for (const name of ["", "/a", "../a", "a/../b", "a//b", "a/", "a\\b", "a\nb", ".", "x".repeat(256)]) {
        const answer = yield* ask({ name })
        assert.strictEqual(answer.status, 400, `${name}: ${answer.text}`)
        assert.include(errorOf(answer).message, "name")
      }
      assert.strictEqual((yield* ask({ size: -1 })).status, 400)
      assert.strictEqual((yield* ask({ size: 1024 ** 3 + 1 })).status, 413)
      assert.strictEqual((yield* ask({ size: 1024 ** 3 })).status, 200)
    })
  )

  it.effect("need the lease of a step run that lives", () =>
    Effect.gen(function* () {
      const { blobs, origin, raw, rows } = yield* Service
      const { identity, lease, protocol, reports } = yield* leasedStep
      const stranger = yield* startedStep
      const all = (by: typeof reports, given: WorkerProtocol.Lease) => [
        Effect.asVoid(by.sendConsole(given, 0, lines(0, 1))),
        Effect.asVoid(by.sendEvents(given, 0, [{ timestamp: "2026-11-20T08:15:30Z", event_type: "SETUP" }])),
        by.uploadArtifact(given, sized("a", "a"))
      ]
      const fail = Effect.fnUntraced(function* (code: string, calls: ReadonlyArray<ReturnType<typeof all>[number]>) {
        const before = yield* rows
        for (const call of calls) {
          const error = yield* Effect.flip(call)
          if (error._tag !== "Conflict") return assert.fail(error._tag)
          assert.strictEqual(error.code, code)
        }
        assert.deepStrictEqual(yield* rows, before)
      })
      yield* fail("CONFLICT", all(reports, lease))
      yield* protocol.start(lease)
      yield* fail("LEASE_LOST", all(stranger.reports, lease))
      yield* fail("LEASE_LOST", all(reports, { ...lease, lease_token: stranger.lease.lease_token }))
      yield* fail("LEASE_LOST", all(reports, { ...lease, lease_token: lease.run_token }))
      // A form created while the step run was in progress is refused once it has ended.
      const form = yield* raw("POST", `/worker-v1/step-runs/${lease.step_run_id}/artifacts`, {
        key: null,
        headers: { authorization: `Bearer ${Redacted.value(identity.token)}` },
        json: { lease_token: lease.lease_token, name: "late", size: 1 }
      })
      const Form = Schema.Struct({
        upload: Schema.Struct({ url: Schema.String, form_data: Schema.Record(Schema.String, Schema.String) })
      })
      const { upload } = bodyAs(Form, form)
      yield* protocol.finish(lease, null)
      yield* fail("LEASE_LOST", all(reports, lease))
      const before = { rows: yield* rows, blobs: yield* blobs }
      const fields = Object.entries(upload.form_data).map(([name, value]) => ({ name, value }))
      const parts = [...fields, { name: "file", filename: "f", value: "x" }]
      const late = yield* send(origin, "POST", upload.url.slice(origin.length), multipart(parts))
      assert.strictEqual(late.status, 409, late.text)
      assert.strictEqual(errorOf(late).error.code, "LEASE_LOST")
      assert.deepStrictEqual({ rows: yield* rows, blobs: yield* blobs }, before)
    })
  )

  it.effect("end with the worker, which leaves when it holds no lease", () =>
    Effect.gen(function* () {
      const { lease, protocol, reports } = yield* startedStep
      const busy = yield* Effect.flip(reports.unlink)
      assert.strictEqual(busy._tag, "Conflict")
      yield* protocol.finish(lease, null)
      yield* reports.unlink
      const dead = yield* Effect.flip(protocol.heartbeat([]))
      if (dead._tag !== "ControlRoomError") return assert.fail(dead._tag)
      assert.strictEqual(dead.reason._tag, "Forbidden")
      assert.strictEqual((yield* StepRuns.get(lease.step_run_id)).state, "completed")
    })
  )
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("data of work items", (it) => {
  it.effect("is replaced by the robot that has reserved the item, and so is that of its outputs", () =>
    Effect.gen(function* () {
      const { lease, protocol, session } = yield* startedStep
      const robot = yield* session(lease)
      const item = lease.work_item_id
      for (const payload of [{ a: 1 }, [1, "two"], "text", 0, false, null]) {
        yield* robot.setPayload(item, payload)
        assert.deepStrictEqual(yield* robot.payload(item), payload)
        assert.deepStrictEqual((yield* WorkItems.get(item)).payload, payload)
      }
      const output = yield* robot.createOutput(item, { first: true })
      yield* robot.setPayload(output, { second: true })
      assert.deepStrictEqual(yield* robot.payload(output), { second: true })
      yield* robot.setPayload(item, "last")
      yield* robot.release(item, { state: "COMPLETED" })
      const late = yield* Effect.flip(robot.setPayload(item, "too late"))
      assert.strictEqual(late._tag, "Conflict")
      yield* protocol.finish(lease, null)
      const dead = yield* Effect.flip(robot.setPayload(output, "too late"))
      if (dead._tag !== "Conflict") return assert.fail(dead._tag)
      assert.strictEqual(dead.code, "LEASE_LOST")
      assert.strictEqual((yield* WorkItems.get(item)).payload, "last")
    })
  )

  it.effect("is what the robot sends: JSON of at most 1 MB, of its own items", () =>
    Effect.gen(function* () {
      const { raw, rows, workspaceId } = yield* Service
      const { lease } = yield* startedStep
      const other = yield* startedStep
      const put = (item: string, body: string, token = lease.run_token) =>
        raw("PUT", `/json-v1/workspaces/${workspaceId}/workitems/${item}/data`, {
          key: null,
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body
        })
      const before = yield* rows
      const big = JSON.stringify("x".repeat(1024 * 1024))
      const cases: ReadonlyArray<readonly [number, string, string, string?]> = [
        [413, lease.work_item_id, big],
        [400, lease.work_item_id, "{"],
        [404, other.lease.work_item_id, "1"],
        [404, "nobody", "1"],
        [403, lease.work_item_id, "1", other.lease.lease_token]
      ]
      for (const [status, item, body, token] of cases) {
        const answer = yield* put(item, body, token)
        assert.strictEqual(answer.status, status, answer.text)
        assert.isNotEmpty(errorOf(answer).message)
      }
      assert.deepStrictEqual(yield* rows, before)
      assert.strictEqual((yield* put(lease.work_item_id, '{"a":1}')).status, 200)
      assert.strictEqual((yield* put(lease.work_item_id, "")).status, 200)
      assert.isNull((yield* WorkItems.get(lease.work_item_id)).payload)
    })
  )

  it.effect("loses files that the robot deletes, of the reserved item alone", () =>
    Effect.gen(function* () {
      const { blobs } = yield* Service
      const { lease, protocol, session } = yield* startedStep
      const robot = yield* session(lease)
      const item = lease.work_item_id
      yield* robot.attachFile(item, sized("a.txt", "a"))
      yield* robot.attachFile(item, sized("b.txt", "b"))
      const [a, b] = yield* robot.files(item)
      if (a === undefined || b === undefined) return assert.fail("no files")
      const kept = (yield* blobs).kept.length
      yield* robot.removeFile(item, a.fileId)
      assert.strictEqual((yield* blobs).kept.length, kept - 1)
      assert.deepStrictEqual(yield* robot.files(item), [b])
      assert.strictEqual((yield* Effect.flip(robot.removeFile(item, a.fileId)))._tag, "NotFound")
      const other = yield* startedStep
      const otherRobot = yield* other.session(other.lease)
      assert.strictEqual((yield* Effect.flip(otherRobot.removeFile(item, b.fileId)))._tag, "NotFound")
      const crossed = yield* Effect.flip(otherRobot.removeFile(other.lease.work_item_id, b.fileId))
      assert.strictEqual(crossed._tag, "NotFound")
      yield* robot.release(item, { state: "COMPLETED" })
      assert.strictEqual((yield* Effect.flip(robot.removeFile(item, b.fileId)))._tag, "Conflict")
      yield* protocol.finish(lease, null)
      assert.strictEqual((yield* Effect.flip(robot.removeFile(item, b.fileId)))._tag, "Conflict")
      assert.strictEqual((yield* WorkItems.get(item)).files.length, 1)
    })
  )

  it.effect("uploads files at the address of the older generation, with only the form in the response", () =>
    Effect.gen(function* () {
      const { origin, raw, workspaceId } = yield* Service
      const process = yield* Processes.create({ name: "older", steps: [] })
      const item = yield* WorkItems.create({ process: process.id })
      const Form = Schema.Struct({ url: Schema.String, form_data: Schema.Record(Schema.String, Schema.String) })
      for (const base of ["/api/v1", "/v1"]) {
        for (const end of ["upload", "upload/"]) {
          const path = `${base}/workspaces/${workspaceId}/work-items/${item.id}/files/${end}`
          const answer = yield* raw("POST", path, {
            json: { file_name: `${base} ${end}`.replaceAll("/", " "), file_size: 2 }
          })
          assert.strictEqual(answer.status, 200, answer.text)
          assert.strictEqual(answer.headers["content-length"], String(answer.bytes.length))
          const { form_data, url } = bodyAs(Form, answer)
          const fields = Object.entries(form_data).map(([name, value]) => ({ name, value }))
          const parts = [...fields, { name: "file", filename: "f", value: "hi" }]
          assert.strictEqual((yield* send(origin, "POST", url.slice(origin.length), multipart(parts))).status, 204)
        }
      }
      assert.strictEqual((yield* WorkItems.get(item.id)).files.length, 4)
      const path = `work-items/${item.id}/files/upload`
      for (const [status, request] of [
        [400, { json: {} }],
        [401, { json: {}, key: null }]
      ] as const) {
        const answer = yield* raw("POST", path, request)
        assert.strictEqual(answer.status, status)
        assert.isNotEmpty(errorOf(answer).message)
      }
      assert.strictEqual((yield* raw("GET", path)).status, 405)
    })
  )
})
