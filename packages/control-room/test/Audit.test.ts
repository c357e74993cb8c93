/** What requests leave in the audit. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Audit from "@signalbox/api/Audit"
import * as Processes from "@signalbox/api/Processes"
import * as Effect from "effect/Effect"
import { assertError } from "./support/Http.ts"
import { layer, Service } from "./support/Service.ts"

const nobody = "01900000-0000-7000-8000-000000000000"
const steps = [{ name: "read", task: { name: "Read" } }]

/** The newest entries about a resource, by what is stable of them. */
const about = (resource: string) =>
  Effect.map(Audit.list({ resource }), ({ data }) =>
    data.map(({ action, changes }) => [action, ...changes.map(({ field }) => field)].join(" "))
  )

/** What a browser sends with requests of the console. */
const own = { "sec-fetch-site": "same-origin", "x-signalbox-console": "1" }

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the audit", (it) => {
  it.effect("says who changed what, from where, and each field before and after", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const process = yield* Processes.create({ name: "invoices", steps })
      const json = { name: "bills", steps, description: "of the day", default_work_item: { payload: { iban: "AT61" } } }
      const changed = yield* raw("POST", `processes/${process.id}`, { json, headers: { "x-request-id": "change-1" } })
      assert.strictEqual(changed.status, 200, changed.text)
      const { data } = yield* Audit.list({ resource: process.id, resourceType: "process", action: "updateProcess" })
      const [entry = assert.fail("no entry")] = data
      assert.strictEqual(entry.actor.type, "api_key")
      assert.strictEqual(entry.actor.name, "test")
      assert.isNull(entry.actor.session_id)
      assert.strictEqual(entry.address, "127.0.0.1")
      assert.strictEqual(entry.request_id, "change-1")
      assert.deepStrictEqual(entry.resource, { type: "process", id: process.id, name: "bills" })
      const fields = new Map(entry.changes.map(({ after, before, field }) => [field, { before, after }]))
      assert.sameMembers([...fields.keys()], ["name", "description", "default_work_item"])
      assert.deepStrictEqual(fields.get("name"), { before: "invoices", after: "bills" })
      assert.deepStrictEqual(fields.get("description"), { before: null, after: "of the day" })
      assert.hasAllKeys(fields.get("default_work_item")?.after, ["bytes", "digest"])
      yield* Processes.remove(process.id)
      assert.deepStrictEqual(yield* about(process.id), [
        "deleteProcess name description steps default_work_item",
        "updateProcess name description default_work_item",
        "createProcess name steps"
      ])
    })
  )

  it.effect("has no entry of a request that was refused, and one of a request that was repeated", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const create = raw("POST", "processes", {
        json: { name: "once", steps },
        headers: { "idempotency-key": "audit-once" }
      })
      const { text } = yield* create
      assert.strictEqual((yield* create).text, text)
      assertError(yield* raw("POST", "processes", { json: { name: "once", steps } }), 409, "CONFLICT", /already exists/)
      assertError(yield* raw("DELETE", `processes/${nobody}`), 404, "NOT_FOUND", /./)
      const { id } = (yield* Processes.list({ name: "once" })).data[0] ?? assert.fail("no process")
      assert.deepStrictEqual(yield* about(id), ["createProcess name steps"])
      assert.deepStrictEqual(yield* about(nobody), [])
    })
  )

  it.effect("has the secrets of a request as their size and a digest, and that a key has read values", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const secret = (password: string) => ({ name: "erp", items: { password } })
      yield* raw("POST", "secrets", { json: secret("correct horse") })
      yield* raw("POST", "secrets/erp/items", { json: { items: { password: "battery staple" } } })
      assert.deepStrictEqual(yield* about("erp"), ["setSecretItems items", "createSecret name items hosts"])
      const { text } = yield* raw("GET", "audit?resource_id=erp")
      assert.notMatch(text, /correct|battery/)
    })
  )

  it.effect("is of one workspace, for keys that may read it", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const process = yield* Processes.create({ name: "elsewhere", steps })
      const workspace = yield* makeWorkspace
      const key = yield* makeKey(["Audit.read_audit"], workspace)
      const { text } = yield* raw("GET", `/api/v1/workspaces/${workspace}/audit?resource_id=${process.id}`, { key })
      assert.match(text, /^\{"data":\[\]/)
      const head = yield* raw("GET", `/api/v1/workspaces/${workspace}/audit/head`, { key })
      assert.strictEqual(head.text, '{"number":0,"mac":null}')
      const other = yield* makeKey(["Workspace.manage_api_keys"])
      assertError(yield* raw("GET", "audit", { key: other }), 403, "FORBIDDEN", /Audit.read_audit/)
    })
  )

  it.effect("has work items that people change, and not those of keys", () =>
    Effect.gen(function* () {
      const { key, raw } = yield* Service
      const process = yield* Processes.create({ name: "queue", steps })
      const json = { process: { id: process.id }, payload: { iban: "AT62" } }
      const opened = yield* raw("POST", "/console/session", { key: null, json: { key }, headers: own })
      const cookie = String(opened.headers["set-cookie"]).split(";")[0] ?? ""
      const { data: sessions } = yield* Audit.list({ action: "openSession" })
      assert.strictEqual(sessions[0]?.actor.name, "test")
      const byKey = yield* raw("POST", "work-items", { json })
      const byPerson = yield* raw("POST", "work-items", { key: null, json, headers: { ...own, cookie } })
      assert.strictEqual(byPerson.status, 200, byPerson.text)
      const idIn = (text: string) => /"id":"([^"]+)"/.exec(text)?.[1] ?? ""
      assert.deepStrictEqual(yield* about(idIn(byKey.text)), [])
      const { data } = yield* Audit.list({ resource: idIn(byPerson.text) })
      assert.strictEqual(data[0]?.action, "createWorkItem")
      assert.isString(data[0]?.actor.session_id)
      assert.notInclude(JSON.stringify(data), "AT62")
      // What both may do to items is an entry of a key too.
      const batch = { batch_operation: "delete", work_item_ids: [idIn(byKey.text)] }
      yield* raw("POST", "work-items/batch", { json: batch })
      const { data: batches } = yield* Audit.list({ action: "batchWorkItems" })
      assert.deepStrictEqual(
        batches[0]?.changes.find(({ field }) => field === "work_item_ids")?.after,
        batch.work_item_ids
      )
    })
  )
})
