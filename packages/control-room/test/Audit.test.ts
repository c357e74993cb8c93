/** What requests leave in the audit. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import * as Audit from "@signalbox/api/Audit"
import * as Processes from "@signalbox/api/Processes"
import * as Roles from "@signalbox/api/Roles"
import * as Users from "@signalbox/api/Users"
import { Audited } from "@signalbox/api/contract/Auditing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { generateKeyPairSync } from "node:crypto"
import { endpoints } from "./support/Endpoints.ts"
import { assertError, bodyAs } from "./support/Http.ts"
import { cookiesOf, member, newLogin, own, page } from "./support/People.ts"
import { layerIn, type RawRequest, Service, temporaryFolder } from "./support/Service.ts"

/** Keys open sessions also where people have accounts. */
const layer = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => layerIn(folder, { rateLimit: null, consoleKeys: true }))
)

const nobody = "01900000-0000-7000-8000-000000000000"
const steps = [{ name: "read", task: { name: "Read" } }]

/** The newest entries about a resource, by what is stable of them. */
const about = (resource: string) =>
  Effect.map(Audit.list({ resource }), ({ data }) =>
    data.map(({ action, changes }) => [action, ...changes.map(({ field }) => field)].join(" "))
  )

/** The cookie of a session of the console that a key opens. */
const sessionOf = (key: string) => Effect.map(page("POST", "/console/session", { key }), (opened) => cookiesOf(opened))

/** The endpoints that leave entries of people alone. */
const itemEndpoints = endpoints
  .filter(({ declared }) => Context.get(declared.annotations, Audited)?.kind === "item")
  .map(({ identifier }) => identifier)

const Identified = Schema.Struct({ id: Schema.String })
const LinkToken = Schema.Struct({ link_token: Schema.String })
const Linked = Schema.Struct({ worker_id: Schema.String })

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

  it.effect("has the secrets of a request as their size and a digest", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const secret = (password: string) => ({ name: "erp", items: { password } })
      yield* raw("POST", "secrets", { json: secret("correct horse") })
      yield* raw("POST", "secrets/erp/items", { json: { items: { password: "battery staple" } } })
      assert.deepStrictEqual(yield* about("erp"), ["setSecretItems items", "createSecret name hosts items"])
      const { text } = yield* raw("GET", "audit?resource_id=erp")
      assert.notMatch(text, /correct|battery/)
    })
  )

  it.effect("says that a key or a person has read the values of a secret", () =>
    Effect.gen(function* () {
      const { key, raw, workspaceId } = yield* Service
      yield* raw("POST", "secrets", { json: { name: "read", items: { password: "horse" } } })
      const read = (by: RawRequest) =>
        Effect.gen(function* () {
          const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
          const parameters = new URLSearchParams({
            encryptionScheme: "robocloud-vault-transit-v2",
            publicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64")
          })
          const path = `/secrets-v1/workspaces/${workspaceId}/secrets/read?${parameters}`
          const answer = yield* raw("GET", path, by)
          assert.strictEqual(answer.status, 200, answer.text)
        })
      yield* read({})
      yield* read({ key: null, headers: { ...own, cookie: yield* sessionOf(key) } })
      const { data } = yield* Audit.list({ resource: "read", action: "getSealedSecret" })
      assert.deepStrictEqual(
        data.map(({ actor, resource }) => [actor.name, actor.session_id !== null, resource.type]),
        [
          ["test", true, "secret"],
          ["test", false, "secret"]
        ]
      )
    })
  )

  it.effect("has a body that is the payload of a work item as its size and a digest", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { id } = yield* Processes.create({ name: "bodies", steps })
      const json = { name: "Ada Lovelace", iban: "AT63" }
      for (const path of [
        `processes/${id}/process-runs-integrations`,
        `/process-v1/workspaces/${(yield* Service).workspaceId}/processes/${id}/runs`
      ]) {
        const { key } = yield* Service
        const started = yield* raw("POST", `${path}?token=${key}`, { json })
        assert.strictEqual(started.status, 200, started.text)
      }
      const { data } = yield* Audit.list({ resourceType: "process_run", limit: 2 })
      for (const { action, changes, resource } of data) {
        assert.include(["startProcessRunFromIntegration", "legacyStart"], action)
        assert.isNull(resource.name)
        assert.strictEqual(changes.find(({ field }) => field === "process_id")?.after, id)
        assert.hasAllKeys(changes.find(({ field }) => field === "payload")?.after, ["bytes", "digest"])
      }
      assert.notMatch(JSON.stringify(data), /Ada|AT63/)
    })
  )

  it.effect("says what keys and roles were before, and nothing is deleted that is not", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const made = yield* ApiKeys.create("ci", ["Processes.read_runs"])
      yield* ApiKeys.remove(made.id)
      assert.deepStrictEqual(yield* about(made.id), [
        "deleteApiKey name permissions created_by",
        "createApiKey name permissions created_by key"
      ])
      yield* Roles.put("clerk", ["Processes.read_runs"])
      yield* Roles.put("clerk", ["Processes.read_work_items"])
      const { data: roles } = yield* Audit.list({ resource: "clerk", limit: 1 })
      assert.deepStrictEqual(roles[0]?.changes.find(({ field }) => field === "permissions")?.before, [
        "Processes.read_runs"
      ])
      const { user } = yield* member({ login: newLogin("eve"), role: "clerk" })
      yield* Users.endSessions(user.id)
      assert.deepStrictEqual((yield* about(user.id))[0], "endUserSessions")
      const group = bodyAs(Identified, yield* raw("POST", "worker-groups", { json: { name: "Vienna" } }))
      const token = bodyAs(LinkToken, yield* raw("POST", "workers/link-tokens"))
      const linked = yield* raw("POST", "/worker-v1/link", {
        key: null,
        json: { link_token: token.link_token, name: "one", tasks: [] }
      })
      const { worker_id } = bodyAs(Linked, linked)
      yield* raw("POST", `worker-groups/${group.id}/workers`, { json: { worker: { id: worker_id } } })
      yield* raw("DELETE", `worker-groups/${group.id}/workers/${worker_id}`)
      const { data } = yield* Audit.list({ resource: group.id, limit: 1 })
      assert.deepStrictEqual(
        [data[0]?.action, data[0]?.changes],
        ["removeWorkerFromGroup", [{ field: "worker_id", before: null, after: worker_id }]]
      )
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
      const { key, raw, workspaceId } = yield* Service
      const process = yield* Processes.create({ name: "queue", steps })
      const json = { process: { id: process.id }, payload: { iban: "AT62" } }
      const cookie = yield* sessionOf(key)
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
      const id = idIn(byPerson.text)
      const legacy = `/process-v1/workspaces/${workspaceId}/processes/${process.id}/work-items`
      const requests: Readonly<Record<string, readonly [path: string, json: object]>> = {
        createWorkItem: ["work-items", json],
        createWorkItems: ["work-items/bulk", { process: { id: process.id }, payloads: [json.payload] }],
        updateWorkItemPayload: [`work-items/${id}/payload`, { payload: json.payload }],
        createWorkItemFile: [`work-items/${id}/files`, { file_name: "a.txt", file_size: 4 }],
        legacyCreateWorkItem: [legacy, { payload: json.payload }],
        legacyCreateWorkItemFile: [`${legacy}/${id}/files/upload`, { fileName: "b.txt", fileSize: 4 }]
      }
      // Every endpoint with this rule.
      assert.sameMembers(Object.keys(requests), itemEndpoints)
      for (const [action, [path, body]] of Object.entries(requests)) {
        const answer = yield* raw("POST", path, { key: null, json: body, headers: { ...own, cookie } })
        assert.strictEqual(answer.status, 200, `${action}: ${answer.text}`)
        const [newest] = (yield* Audit.list({ limit: 1 })).data
        assert.strictEqual(newest?.action, action)
        assert.notMatch(JSON.stringify(newest), /AT62|signature=/)
      }
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
