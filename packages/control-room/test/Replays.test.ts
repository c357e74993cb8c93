/** Who gets the response of a repeated request: a credential only who made the first, another response who may do the same. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Permission } from "@signalbox/api/contract/Authorization"
import { ReturnsCredential } from "@signalbox/api/contract/IdempotencyKeys"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { endpoints } from "./support/Endpoints.ts"
import { assertError, bodyAs } from "./support/Http.ts"
import { layer, Service } from "./support/Service.ts"

const Id = Schema.Struct({ id: Schema.String })

/** What a browser sends with requests of the console itself. */
const own = { "sec-fetch-site": "same-origin", "x-signalbox-console": "1" }

/** Members whose value lets whoever has it send bytes, though it is no secret to logs; `values`: of secret fields. */
const signed = new Set(["form_data", "formData", "fields", "upload_url", "link_token", "values"])

/** Whether values of a schema have a redacted part, or a signed address. */
const holdsCredential = (ast: SchemaAST.AST, seen = new Set<SchemaAST.AST>()): boolean => {
  if (seen.has(ast)) return false
  seen.add(ast)
  const within = (inner: SchemaAST.AST) => holdsCredential(inner, seen)
  switch (ast._tag) {
    case "Declaration":
      return ast.annotations?.["expected"] === "Redacted"
    case "Objects":
      return ast.propertySignatures.some(({ name, type }) => signed.has(String(name)) || within(type))
    case "Arrays":
      return [...ast.elements, ...ast.rest].some(within)
    case "Union":
      return ast.types.some(within)
    case "Suspend":
      return within(ast.thunk())
    default:
      return false
  }
}

const posts = endpoints.filter(({ door, method }) => door === "key" && method === "POST")

/** A request for each endpoint that returns a credential. */
const requests = Effect.gen(function* () {
  const { raw, workspaceId } = yield* Service
  const make = (path: string, json: unknown) =>
    Effect.map(raw("POST", path, { json }), (answer) => bodyAs(Id, answer).id)
  const process = yield* make("processes", {
    name: "p",
    steps: [{ name: "a", task: { name: "t" } }],
    sensitive: [""]
  })
  const item = yield* make("work-items", { process: { id: process } })
  const asset = yield* make("assets", { name: "a" })
  const group = yield* make("worker-groups", { name: "g" })
  const { id: taskPackage } = yield* TaskPackages.create("helps")
  yield* TaskPackages.upload(taskPackage, { name: "p.zip", bytes: yield* zipOf({ "robot.yaml": robotYaml("Help") }) })
  const assistant = yield* make("assistants", { name: "a", task: { name: "Help", package_id: taskPackage } })
  const file = { file_name: "a.txt", file_size: 1 }
  const channel = { name: "c", settings: { type: "webhook", url: "http://127.0.0.1:9/" } }
  const trigger = { name: "t", process: { id: process }, webhook: {} }
  const hook = { endpoint: "http://127.0.0.1:9/", enabled_events: ["process_run.completed"] }
  const table: Readonly<Record<string, readonly [path: string, json: unknown]>> = {
    createWorkspace: ["/api/v1/workspaces", { name: "w" }],
    createAssetUpload: [`assets/${asset}/uploads`, { content_type: "text/plain" }],
    startAssistantRun: [`assistants/${assistant}/runs`, {}],
    createWorkItemFile: [`work-items/${item}/files`, file],
    revealWorkItem: [`work-items/${item}/reveal`, { pointers: [""] }],
    createWebhook: ["webhooks", hook],
    updateWebhook: [`webhooks/${yield* make("webhooks", hook)}`, { rotate_secret: true }],
    createTrigger: ["triggers", { ...trigger, name: "t1" }],
    updateTrigger: [`triggers/${yield* make("triggers", { ...trigger, name: "t2" })}`, { ...trigger, name: "t2" }],
    rotateTriggerUrl: [`triggers/${yield* make("triggers", { ...trigger, name: "t3" })}/rotate-url`, {}],
    createWorkerLinkToken: ["workers/link-tokens", {}],
    createGroupLinkToken: [`worker-groups/${group}/link-tokens`, { name: "l" }],
    createAlertChannel: ["alert-channels", channel],
    updateAlertChannel: [
      `alert-channels/${yield* make("alert-channels", { ...channel, name: "d" })}`,
      { ...channel, name: "d" }
    ],
    rotateAlertChannelSecret: [
      `alert-channels/${yield* make("alert-channels", { ...channel, name: "e" })}/rotate-secret`,
      {}
    ],
    createApiKey: ["api-keys", { name: "k", permissions: ["Processes.read_runs"] }],
    inviteUser: ["users", { login: "ada", role: "viewer" }],
    createUserLink: [`users/${yield* make("users", { login: "bob", role: "viewer" })}/link`, undefined],
    createConsoleTicket: ["console-tickets", {}],
    legacyCreateWorkItemFile: [
      `/process-v1/workspaces/${workspaceId}/processes/${process}/work-items/${item}/files/upload`,
      { fileName: "a.txt", fileSize: 1 }
    ]
  }
  return table
})

const holding = posts.filter(({ successes }) =>
  [...successes.values()].some((schemas) => schemas.some(({ ast }) => holdsCredential(ast)))
)

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a repeated request", (it) => {
  it.effect("for a credential is marked in the contract", () =>
    Effect.sync(() => {
      const marked = posts.filter(({ declared }) => Context.get(declared.annotations, ReturnsCredential))
      assert.deepStrictEqual(
        marked.map(({ identifier }) => identifier),
        holding.map(({ identifier }) => identifier)
      )
    })
  )

  it.effect("for a credential returns it to the key or session that made the first one alone", () =>
    Effect.gen(function* () {
      const { makeKey, raw } = yield* Service
      const [mine, other] = [yield* makeKey(Permission.literals), yield* makeKey(Permission.literals)]
      const session = yield* raw("POST", "/console/session", {
        key: null,
        json: { key: mine },
        headers: own
      })
      const cookie = String(session.headers["set-cookie"]).split(";")[0] ?? ""
      const table = yield* requests
      assert.sameMembers(
        Object.keys(table),
        holding.map(({ identifier }) => identifier)
      )
      for (const [identifier, [path, json]] of Object.entries(table)) {
        const headers = { "idempotency-key": `once-${identifier}` }
        const first = yield* raw("POST", path, { key: mine, json, headers })
        assert.strictEqual(first.status, 200, `${identifier}: ${first.text}`)
        const again = yield* raw("POST", path, { key: mine, json, headers })
        assert.strictEqual(again.text, first.text)
        assert.strictEqual(again.headers["idempotent-replayed"], "true")
        const others = [
          yield* raw("POST", path, { key: other, json, headers }),
          yield* raw("POST", path, { key: null, json, headers: { ...headers, ...own, cookie } })
        ]
        for (const answer of others) {
          assertError(
            answer,
            409,
            "IDEMPOTENCY_KEY_REUSED",
            /^Idempotency-Key: already used by another key or session, .* new key/
          )
        }
      }
    })
  )

  it.effect("for a ticket of the console gives a key without permissions no session of another", () =>
    Effect.gen(function* () {
      const { makeKey, raw } = yield* Service
      const headers = { "idempotency-key": "ticket" }
      const first = yield* raw("POST", "console-tickets", { json: {}, headers })
      assert.strictEqual(first.status, 200, first.text)
      const key = yield* makeKey(["Processes.read_processes"])
      const attack = yield* raw("POST", "console-tickets", { key, json: {}, headers })
      assertError(attack, 409, "IDEMPOTENCY_KEY_REUSED", /Idempotency-Key/)
      assert.notInclude(attack.text, "sbt_")
    })
  )

  it.effect("for anything else is replayed to another key, which may have replaced the first", () =>
    Effect.gen(function* () {
      const { makeKey, raw } = yield* Service
      const [old, fresh] = [
        yield* makeKey(["Processes.write_processes"]),
        yield* makeKey(["Processes.write_processes"])
      ]
      const json = { name: "replaced", steps: [{ name: "a", task: { name: "t" } }] }
      const headers = { "idempotency-key": "replaced" }
      const first = yield* raw("POST", "processes", { key: old, json, headers })
      assert.strictEqual(first.status, 200, first.text)
      const second = yield* raw("POST", "processes", { key: fresh, json, headers })
      assert.strictEqual(second.text, first.text)
    })
  )

  it.effect("is not replayed to a key without the permissions that the body asked for", () =>
    Effect.gen(function* () {
      const { makeKey, raw } = yield* Service
      const json = { operation: "delete", filter: { everything: true }, dry_run: true }
      const headers = { "idempotency-key": "asked" }
      const first = yield* raw("POST", "bulk-operations", { json, headers })
      assert.strictEqual(first.status, 200, first.text)
      const key = yield* makeKey(["Processes.run_bulk_operations"])
      const answer = yield* raw("POST", "bulk-operations", { key, json, headers })
      assertError(answer, 403, "FORBIDDEN", /Processes.write_work_items/)
    })
  )
})
