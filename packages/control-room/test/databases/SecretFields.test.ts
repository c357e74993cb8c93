/** Secret fields of payloads: who sees them, what somebody who does not may do, and that they are nowhere else. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { endpoints, fill } from "../support/Endpoints.ts"
import { type Answer, assertError } from "../support/Http.ts"
import { member, newLogin, own } from "../support/People.ts"
import { quiet, type Seed, seedWithSecret } from "../support/Seed.ts"
import { linkWorker, type RawRequest, Service } from "../support/Service.ts"

const permission = "Processes.read_sensitive"

/** Who asks: with a key, or with the cookie of a session. */
type Caller = RawRequest

const jsonOf = ({ status, text }: Answer) => {
  assert.strictEqual(status, 200, text)
  return JSON.parse(text) as unknown
}
/** The text of a response that succeeds, as JSON. */
const ask = (caller: Caller, method: string, path: string, json?: unknown) =>
  Effect.flatMap(Service, ({ raw }) =>
    raw(method, path, { ...caller, headers: { ...caller.headers }, ...(json === undefined ? {} : { json }) })
  )
const read = (caller: Caller, path: string) => Effect.map(ask(caller, "GET", path), jsonOf)
const post = (caller: Caller, path: string, json: unknown) => Effect.map(ask(caller, "POST", path, json), jsonOf)

const signedIn = (role: string) =>
  Effect.map(member({ login: newLogin(role), role }), ({ cookie }): Caller => ({
    key: null,
    headers: { ...own, cookie }
  }))

/** A key with all permissions, one without this one, and the sessions of an administrator and of an operator. */
const callers = Effect.gen(function* () {
  const { key, makeKey } = yield* Service
  const limited = yield* makeKey(Permission.literals.filter((one) => one !== permission))
  return {
    plain: { key },
    limited: { key: limited },
    admin: yield* signedIn("admin"),
    operator: yield* signedIn("operator")
  }
})

const Identified = Schema.Struct({ id: Schema.String })
const idOf = Schema.decodeUnknownSync(Identified)

const schema = {
  type: "object",
  properties: { ssn: { type: "string", "x-secret": true }, pin: { type: "integer", writeOnly: true } }
}
const newProcess = Effect.fnUntraced(function* (more: object = {}) {
  const name = `secret ${crypto.randomUUID()}`
  const steps = [{ name: "first", task: { name } }]
  const { key } = yield* Service
  const made = yield* post({ key }, "processes", { name, steps, input_schema: schema, ...more })
  return { id: idOf(made).id, name, steps }
})
const payload = { ssn: "070180-9999", pin: 4711, name: "Ada" }
const maskedPayload = { ssn: null, pin: null, name: "Ada" }
const pointers = ["/ssn", "/pin"]

const newItem = Effect.fnUntraced(function* (process: string, more: object = {}) {
  const { key } = yield* Service
  return idOf(yield* post({ key }, "work-items", { process: { id: process }, payload, ...more })).id
})

/** A run of the process whose item a worker has. */
const taken = Effect.fnUntraced(function* (
  process: { readonly id: string; readonly name: string },
  given: unknown = payload
) {
  const { key } = yield* Service
  const worker = yield* linkWorker([process.name])
  const path = `processes/${process.id}/process-runs`
  const run = idOf(yield* post({ key }, path, { type: "with_payloads", payloads: [given] })).id
  return { run, worker, ...(yield* worker.take) }
})

const failed = (message: string, code = "E") =>
  ({ state: "FAILED", exception: { code, type: "APPLICATION", message } }) as const

const withData = (item: unknown) => {
  const { masked, payload } = item as { readonly masked: unknown; readonly payload: unknown }
  return { masked, payload }
}

withLayer(quiet, { excludeTestServices: true, timeout: "4 minutes" })("secret fields", (it) => {
  it.effect("are plain for keys with the permission, and null for others and in every session", () =>
    Effect.gen(function* () {
      const process = yield* newProcess()
      const item = yield* newItem(process.id)
      const { plain, ...masked } = yield* callers
      const list = `work-items?process_id=${process.id}&include_data=true`
      assert.deepStrictEqual(withData(yield* read(plain, `work-items/${item}`)), { payload, masked: [] })
      for (const caller of Object.values(masked)) {
        const shown = { payload: maskedPayload, masked: pointers }
        assert.deepStrictEqual(withData(yield* read(caller, `work-items/${item}`)), shown)
        const { data } = (yield* read(caller, list)) as { readonly data: ReadonlyArray<unknown> }
        assert.deepStrictEqual(data.map(withData), [shown])
      }
    })
  )

  it.effect("of a process without any are not looked for: payloads are sent as they are stored", () =>
    Effect.gen(function* () {
      const process = yield* newProcess({ input_schema: null })
      const item = yield* newItem(process.id)
      const sql = yield* SqlClient.SqlClient
      // No JSON that the service writes: if it were read, it would be written in another way.
      const stored = '{ "ssn" : 1.0 }'
      yield* sql`UPDATE work_item SET payload = ${stored} WHERE id = ${item}`
      for (const caller of Object.values(yield* callers)) {
        assert.include((yield* ask(caller, "GET", `work-items/${item}`)).text, `"payload":${stored},"masked":[]`)
      }
    })
  )

  it.effect("are masked as soon as the process says so, and named in sensitive for outputs too", () =>
    Effect.gen(function* () {
      const process = yield* newProcess({ input_schema: null })
      const { limited, plain } = yield* callers
      const { lease, run, session, worker } = yield* taken(process, { a: [{ b: 1 }] })
      yield* session.createOutput(lease.work_item_id, { a: [{ b: "secret", c: 2 }] })
      yield* session.release(lease.work_item_id, { state: "COMPLETED" })
      yield* worker.protocol.finish(lease, null)
      const outputs = `outputs?process_run_id=${run}`
      const shown = (answer: unknown) => (answer as { readonly data: ReadonlyArray<unknown> }).data.map(withData)
      assert.deepStrictEqual(shown(yield* read(limited, outputs)), [
        { payload: { a: [{ b: "secret", c: 2 }] }, masked: [] }
      ])
      yield* post(plain, `processes/${process.id}`, { name: process.name, steps: process.steps, sensitive: ["/a/*/b"] })
      const now = { payload: { a: [{ b: null, c: 2 }] }, masked: ["/a/0/b"] }
      assert.deepStrictEqual(shown(yield* read(limited, outputs)), [now])
      assert.deepStrictEqual(shown(yield* read(plain, outputs)), [
        { payload: { a: [{ b: "secret", c: 2 }] }, masked: [] }
      ])
    })
  )

  it.effect("stay when a payload is written back by who sees them masked", () =>
    Effect.gen(function* () {
      const process = yield* newProcess()
      const { admin, limited, plain } = yield* callers
      for (const caller of [admin, limited]) {
        const item = yield* newItem(process.id)
        const path = `work-items/${item}/payload`
        const changed = { ...maskedPayload, name: "Grace" }
        const asked = { payload: changed, previous_payload: maskedPayload }
        assert.deepStrictEqual(yield* post(caller, path, asked), { payload: changed, masked: pointers })
        const stored = (wanted: unknown) =>
          Effect.map(read(plain, `work-items/${item}`), (found) =>
            assert.deepStrictEqual(withData(found).payload, wanted)
          )
        yield* stored({ ...payload, name: "Grace" })
        // Nothing is the same as null, and another value takes the place.
        yield* post(caller, path, { payload: { ssn: "new" } })
        yield* stored({ ssn: "new", pin: 4711 })
        // Guesses are not compared with what is stored.
        const guess = { payload: {}, previous_payload: { ssn: "a guess", pin: 1 } }
        yield* post(caller, path, guess)
        assertError(
          yield* ask(caller, "POST", path, { payload: {}, previous_payload: { ssn: null } }),
          409,
          "CONFLICT",
          /has changed/
        )
        // A key with the permission writes what it says.
        yield* post(plain, path, { payload: { ssn: null } })
        yield* stored({ ssn: null })
      }
    })
  )

  it.effect("are returned by a reveal, which is an entry of the audit without the values", () =>
    Effect.gen(function* () {
      const process = yield* newProcess()
      const item = yield* newItem(process.id)
      const { admin, limited, operator } = yield* callers
      const path = `work-items/${item}/reveal`
      assert.deepStrictEqual(yield* post(admin, path, { pointers: ["/ssn"] }), { values: { "/ssn": payload.ssn } })
      for (const caller of [limited, operator]) {
        assertError(yield* ask(caller, "POST", path, { pointers }), 403, "FORBIDDEN", /Processes\.read_sensitive/)
      }
      assertError(
        yield* ask(admin, "POST", path, { pointers: ["/ssn", "/name"] }),
        400,
        "INVALID_REQUEST",
        /pointers\.1/
      )
      const { data } = (yield* read(admin, `audit?resource_id=${item}`)) as { readonly data: ReadonlyArray<unknown> }
      assert.lengthOf(data, 1)
      const [entry] = data as ReadonlyArray<{ readonly action: string; readonly changes: unknown }>
      assert.strictEqual(entry?.action, "revealWorkItem")
      assert.deepStrictEqual(entry?.changes, [{ field: "pointers", before: null, after: ["/ssn"] }])
      assert.notInclude(JSON.stringify(data), payload.ssn)
    })
  )

  it.effect("in exceptions are replaced when the item is released, in both ways, and when its step run fails", () =>
    Effect.gen(function* () {
      const process = yield* newProcess({
        input_schema: { properties: { ...schema.properties, short: { "x-secret": true } } }
      })
      const { origin } = yield* Service
      const { plain } = yield* callers
      const said = `no customer ${payload.ssn} with 4711 and abc`
      const given = { ...payload, short: "abc" }
      const exceptionOf = (run: string) =>
        Effect.map(read(plain, `work-items?process_run_id=${run}`), (found) => {
          const { data } = found as { readonly data: ReadonlyArray<{ readonly exception: unknown }> }
          return data[0]?.exception
        })
      const cleaned = "no customer *** with *** and abc"
      const one = yield* taken(process, given)
      // Robots work with what is there.
      assert.deepStrictEqual(yield* one.session.payload(one.lease.work_item_id), given)
      yield* one.session.release(one.lease.work_item_id, failed(said, `E${payload.pin}`))
      assert.deepStrictEqual(yield* exceptionOf(one.run), { code: "E***", type: "application", message: cleaned })
      yield* one.worker.protocol.finish(one.lease, null)

      const two = yield* taken(process, given)
      const { nextItems } = yield* WorkerProtocol.makeItems(origin, two.worker.identity)
      const settled = { work_item_id: two.lease.work_item_id, attempt: 1, ...failed(said) }
      yield* nextItems(two.lease.process_run_id, [{ lease: two.lease, settled, reserve: false }])
      assert.deepInclude(yield* exceptionOf(two.run), { message: cleaned })
      yield* two.worker.protocol.finish(two.lease, null)

      const three = yield* taken(process, given)
      yield* three.worker.protocol.finish(three.lease, { code: "ROBOT_FAILURE", message: said })
      assert.deepInclude(yield* exceptionOf(three.run), { message: cleaned })
    })
  )

  it.effect("are no key of a limit, and no id of events of a trigger", () =>
    Effect.gen(function* () {
      const { key } = yield* Service
      const process = yield* newProcess({ sensitive: ["/customer"] })
      const definition = { name: process.name, steps: process.steps, input_schema: schema }
      const change = (more: object) => ask({ key }, "POST", `processes/${process.id}`, { ...definition, ...more })
      for (const place of ["/ssn", "/customer/id"]) {
        const limited = { sensitive: ["/customer"], concurrency: { key: place, limit: 1 } }
        assertError(yield* change(limited), 400, "INVALID_REQUEST", /^concurrency\.key: .*secret/)
        const step = { ...process.steps[0], rate: { key: place, limit: 1, per: "hour" } }
        const ofStep = yield* change({ sensitive: ["/customer"], steps: [step] })
        assertError(ofStep, 400, "INVALID_REQUEST", /^steps\.0\.rate\.key: .*secret/)
      }
      const trigger = (pointer: string, body: unknown) =>
        ask({ key }, "POST", "triggers", {
          name: `t ${crypto.randomUUID()}`,
          process: { id: process.id },
          webhook: { event_id: { pointer }, payload: body }
        })
      assertError(yield* trigger("/order/ssn", "/order"), 400, "INVALID_REQUEST", /event_id\.pointer/)
      assertError(yield* trigger("/a/b", { pin: "/a" }), 400, "INVALID_REQUEST", /event_id\.pointer/)
      assert.strictEqual((yield* trigger("/id", { ssn: "/ssn" })).status, 200)
      assert.strictEqual((yield* trigger("/order/name", "/order")).status, 200)
      // And the other way round: what a trigger knows events by cannot become secret.
      assertError(yield* change({ sensitive: ["/name"] }), 400, "INVALID_REQUEST", /knows events by/)
    })
  )

  it.effect("that are the key of a limit of runs from before are not shown with what waits for it", () =>
    Effect.gen(function* () {
      const { limited, plain } = yield* callers
      const key = (pointer: string) => ({ concurrency: { key: pointer, limit: 1 } })
      const process = yield* newProcess({ input_schema: null, ...key("/ssn") })
      const path = `processes/${process.id}`
      const worker = yield* linkWorker([process.name])
      const start = post(plain, `${path}/process-runs`, { type: "with_payloads", payloads: [payload] })
      yield* start
      const run = idOf(yield* start).id
      yield* worker.take
      // It has a step run, which finds no room now.
      assert.lengthOf(yield* worker.protocol.lease({ free: 1, tasks: [process.name], waitSeconds: 0 }), 0)
      const shown = (caller: Caller) =>
        Effect.map(
          Effect.forEach([`${path}/limits`, `process-runs/${run}/steps`], (one) => ask(caller, "GET", one)),
          (answers) => answers.map(({ text }) => text.includes(payload.ssn))
        )
      assert.deepStrictEqual(yield* shown(limited), [true, true])
      const definition = { name: process.name, steps: process.steps, sensitive: ["/ssn"], ...key("/name") }
      yield* post(plain, path, definition)
      assert.deepStrictEqual(yield* shown(limited), [false, false])
      assert.deepStrictEqual(yield* shown(plain), [true, true])
      assert.match(
        (yield* ask(limited, "GET", `process-runs/${run}/steps`)).text,
        /the concurrency limit of \/ssn has no room/
      )
    })
  )

  it.effect("are made plain by nobody who may not see them", () =>
    Effect.gen(function* () {
      const { limited, plain } = yield* callers
      const process = yield* newProcess({ sensitive: ["/a", "/b"] })
      const definition = { name: process.name, steps: process.steps, input_schema: schema, sensitive: ["/a", "/b"] }
      const change = (more: object, caller: Caller = limited) =>
        ask(caller, "POST", `processes/${process.id}`, { ...definition, ...more })
      assertError(yield* change({ sensitive: ["/a"] }), 403, "FORBIDDEN", /\/b would no longer be secret/)
      assertError(yield* change({ input_schema: null }), 403, "FORBIDDEN", /would no longer be secret/)
      assertError(yield* change({ sensitive_files: false }), 403, "FORBIDDEN", /^sensitive_files/)
      assert.strictEqual((yield* change({ sensitive: ["/a", "/b", "/c"], description: "more" })).status, 200)
      assert.strictEqual((yield* change({ sensitive: [], input_schema: null }, plain)).status, 200)
    })
  )

  it.effect("in the default work item and in inputs of schedules are masked, and stay when they are written back", () =>
    Effect.gen(function* () {
      const { limited, plain } = yield* callers
      const process = yield* newProcess({ default_work_item: { payload } })
      const path = `processes/${process.id}`
      const definition = (yield* read(limited, `${path}/definition`)) as Record<string, unknown>
      assert.deepInclude(definition, { default_work_item: { payload: maskedPayload }, masked: pointers })
      yield* post(limited, path, { ...definition, description: "changed" })
      assert.deepInclude(yield* read(plain, `${path}/definition`), {
        default_work_item: { payload },
        description: "changed"
      })

      const name = `nightly ${crypto.randomUUID()}`
      const inputs = { type: "with_payloads", payloads: [{ name: "first" }, payload] }
      const schedule = { name, process: { id: process.id }, at: "2999-01-01T00:00:00Z", inputs }
      const { id } = idOf(yield* post(plain, "schedules", schedule))
      const shown = { type: "with_payloads", payloads: [{ name: "first" }, maskedPayload] }
      assert.deepInclude(yield* read(limited, `schedules/${id}`), { inputs: shown, masked: ["/1/ssn", "/1/pin"] })
      yield* post(limited, `schedules/${id}`, { ...schedule, inputs: shown })
      assert.deepInclude(yield* read(plain, `schedules/${id}`), { inputs, masked: [] })
      const fewer = { ...shown, payloads: [maskedPayload] }
      assertError(
        yield* ask(limited, "POST", `schedules/${id}`, { ...schedule, inputs: fewer }),
        400,
        "INVALID_REQUEST",
        /^inputs\.payloads: /
      )
      // They do not go along to another process, which may show them.
      const other = yield* newProcess({ input_schema: null })
      yield* post(limited, `schedules/${id}`, { ...schedule, process: { id: other.id }, inputs: shown })
      assert.deepInclude(yield* read(plain, `schedules/${id}`), {
        inputs: shown,
        process: { id: other.id, name: other.name }
      })
    })
  )

  it.effect("make files, artifacts and console lines secret too, unless the process says otherwise", () =>
    Effect.gen(function* () {
      const { origin, raw } = yield* Service
      const { admin, limited, operator, plain } = yield* callers
      const { ids, names, robotIds } = yield* seedWithSecret(`content ${crypto.randomUUID()}`)
      const run = `step-runs/${ids["step_run_id"]}`
      const paths = [`${run}/artifacts`, `${run}/artifacts/${ids["artifact_id"]}`, `${run}/console-messages`]
      const fileOf = Effect.fnUntraced(function* (caller: Caller) {
        const { files } = (yield* read(caller, `work-items/${robotIds["work_item_id"]}`)) as {
          readonly files: ReadonlyArray<{ readonly download: { readonly url: string } }>
        }
        return yield* raw("GET", (files[0]?.download.url ?? "").slice(origin.length), { key: null })
      })
      for (const caller of [plain, admin]) {
        for (const path of paths) assert.strictEqual((yield* ask(caller, "GET", path)).status, 200, path)
        assert.strictEqual((yield* fileOf(caller)).status, 200)
      }
      for (const caller of [limited, operator]) {
        for (const path of paths) assertError(yield* ask(caller, "GET", path), 403, "FORBIDDEN", /read_sensitive/)
        assertError(yield* fileOf(caller), 403, "FORBIDDEN", /Processes\.read_sensitive/)
      }
      const steps = [
        { name: "first", task: { name: names.process } },
        { name: "second", task: { name: `${names.process} later` } }
      ]
      const open = { name: names.process, steps, sensitive: ["/secret"], sensitive_files: false }
      yield* post(plain, `processes/${ids["process_id"]}`, open)
      for (const path of paths) assert.strictEqual((yield* ask(limited, "GET", path)).status, 200, path)
      assert.strictEqual((yield* fileOf(operator)).status, 200)
    })
  )

  it.effect("are in no replay for somebody who sees payloads in another way", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { admin, limited, operator, plain } = yield* callers
      const process = yield* newProcess()
      const create = (caller: Caller, key: string) =>
        raw("POST", "work-items", {
          ...caller,
          headers: { ...caller.headers, "idempotency-key": key },
          json: { process: { id: process.id }, payload }
        })
      const key = crypto.randomUUID()
      const first = yield* create(plain, key)
      assert.include(first.text, payload.ssn)
      assert.strictEqual((yield* create(plain, key)).text, first.text)
      for (const caller of [limited, admin, operator]) {
        assertError(yield* create(caller, key), 409, "IDEMPOTENCY_KEY_REUSED", /secret fields/)
      }
      const second = yield* create(limited, `${key} 2`.replace(" ", "-"))
      assert.notInclude(second.text, payload.ssn)
      assert.strictEqual((yield* create(operator, `${key}-2`)).text, second.text)
      assertError(yield* create(plain, `${key}-2`), 409, "IDEMPOTENCY_KEY_REUSED", /secret fields/)
      // What has no payload is replayed to everybody.
      const many = (caller: Caller) =>
        raw("POST", "work-items/bulk", {
          ...caller,
          headers: { ...caller.headers, "idempotency-key": `${key}-3` },
          json: { process: { id: process.id }, payloads: [payload] }
        })
      assert.strictEqual((yield* many(plain)).text, (yield* many(operator)).text)
    })
  )

  it.effect("are in no response of any endpoint to somebody who may not see them, in a room with everything", () =>
    Effect.gen(function* () {
      const { alertIn, deliverIn, rows, workspaceId } = yield* Service
      const secret = `s3cret-${crypto.randomUUID()}`
      const { plain, ...masked } = yield* callers
      const seeded = yield* seedWithSecret(secret)
      const outputs = yield* failWith(secret)
      yield* alertIn(0)
      yield* deliverIn(0)
      const gets = endpoints.filter(({ door, method }) => method === "GET" && door === "key")
      const seen = new Set<string>()
      for (const { identifier, path } of gets) {
        for (const ids of [seeded.ids, seeded.robotIds]) {
          const filled = fill(path, (name) =>
            name === "workspace_id" ? workspaceId : (ids[name] ?? assert.fail(name))
          )
          const target = `${filled}${queries(ids, outputs)[identifier] ?? ""}`
          if ((yield* ask(plain, "GET", target)).text.includes(secret)) seen.add(identifier)
          for (const [who, caller] of Object.entries(masked)) {
            // The permission opens console lines in a session too.
            if (who === "admin" && /messages/i.test(identifier)) continue
            assert.notInclude((yield* ask(caller, "GET", target)).text, secret, `${who} ${target}`)
          }
        }
      }
      // Nothing is left out by itself: these have it for who may see it.
      assert.sameMembers(
        [...seen],
        [
          "getWorkItem",
          "listWorkItems",
          "listOutputs",
          "getProcessDefinition",
          "getSchedule",
          "listStepRunConsoleMessages",
          "legacyMessages",
          "legacyWorkItem",
          "legacyWorkItems",
          "legacyRunWorkItems"
        ]
      )
      // Nor is it stored anywhere but in what is masked, such as in what is sent to webhooks and channels.
      const columns = Object.entries(yield* rows).flatMap(([table, found]) =>
        found.flatMap((row) =>
          Object.entries(row ?? {}).flatMap(([name, value]) =>
            (JSON.stringify(value) ?? "").includes(secret) ? [`${table}.${name}`] : []
          )
        )
      )
      assert.sameMembers(
        [...new Set(columns)],
        [
          "process.default_work_item",
          "schedule.inputs",
          "work_item.payload",
          "output.payload",
          "console_message.message"
        ]
      )
    })
  )
})

/** What lists need to show payloads. */
const queries = (ids: Seed["ids"], outputs: string): Readonly<Record<string, string>> => ({
  listWorkItems: "?include_data=true",
  listOutputs: `?process_run_id=${outputs}`,
  listStepRuns: `?process_run_id=${ids["process_run_id"]}`,
  legacyWorkItem: "?includeData=true",
  legacyWorkItems: "?includeData=true",
  legacyRunWorkItems: "?includeData=true"
})

/** An item fails with its secret in the message, after it has made an output; returns its run. */
const failWith = Effect.fnUntraced(function* (secret: string) {
  const process = yield* newProcess({ sensitive: ["/secret"] })
  const { lease, run, session, worker } = yield* taken(process, { secret: { text: secret } })
  yield* session.createOutput(lease.work_item_id, { secret })
  yield* session.release(lease.work_item_id, failed(`not found: ${secret}`))
  yield* worker.protocol.finish(lease, null)
  return run
})
