/**
 * The contract's required properties: the operations of the interface, an OpenAPI document that others can read, and
 * JSON that survives a round trip.
 */
import { assert, describe, it } from "@effect/vitest"
import { validate } from "@readme/openapi-parser"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Audited, auditedResources } from "../src/contract/Auditing.ts"
import { RequiredPermission } from "../src/contract/Authorization.ts"
import { Api } from "../src/contract/Api.ts"
import { StartRequest } from "../src/contract/ProcessRuns.ts"
import { NewSecretName } from "../src/contract/Secrets.ts"
import { GitConfiguration } from "../src/contract/TaskPackages.ts"
import { ArtifactName, WorkerEventType } from "../src/contract/WorkerProtocol.ts"
import { examples } from "./support/Examples.ts"
import { extensions, lines, older, robotSide, specified, workerSide } from "./support/Operations.ts"

const written = [
  ...lines(specified, "/api/v1"),
  ...lines(extensions, "/api/v1"),
  ...lines(workerSide, "/worker-v1"),
  ...lines(robotSide),
  ...lines(older)
]
const writtenExtensions = [...lines(extensions, "/api/v1"), ...lines(workerSide, "/worker-v1")]

const declared: Array<{ readonly line: string; readonly extension: boolean }> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }) => {
    const permission = Context.getOrUndefined(endpoint.annotations, RequiredPermission) ?? "-"
    const override = Context.getOrUndefined(endpoint.annotations, OpenApi.Override)
    declared.push({
      line: `${endpoint.method} ${endpoint.path.replace(/:(\w+)/g, "{$1}")} ${permission}`,
      extension: override?.["x-signalbox-extension"] === true
    })
  }
})

interface Operation {
  readonly operationId: string
  readonly deprecated?: boolean
  readonly summary?: string
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: object; readonly headers?: object }>
  >
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: object }>
  readonly requestBody?: { readonly required: boolean; readonly content: object }
  readonly [extension: `x-${string}`]: unknown
}

const document: unknown = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))
const { components, paths } = document as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}
const documented = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ key: `${method.toUpperCase()} ${path}`, operation }))
)
const olderKeys = lines(older).map((line) => line.split(" ").slice(0, 2).join(" "))
/** Without the aliases of older generations. */
const operations = documented.filter(({ key, operation }) => operation.deprecated !== true || olderKeys.includes(key))

describe("the operations", () => {
  it("are those of the interface, each with its permission, and no other", () => {
    assert.deepStrictEqual(declared.map(({ line }) => line).sort(), [...written].sort())
  })

  it("are written down once", () => {
    assert.strictEqual(new Set(written).size, written.length)
    assert.strictEqual(lines(specified).length, 56)
  })

  it("are marked when the hosted service does not have them", () => {
    const marked = declared.filter(({ extension }) => extension).map(({ line }) => line)
    assert.deepStrictEqual(marked.sort(), [...writtenExtensions].sort())
  })
})

describe("the audit", () => {
  it("has a rule for every endpoint that changes something, and a reason where there is no entry", () => {
    const wrong: Array<string> = []
    HttpApi.reflect(Api, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, group }) => {
        const rule = Context.get(endpoint.annotations, Audited)
        if (rule === null && endpoint.method !== "GET") wrong.push(endpoint.identifier)
        if (rule?.kind === "none" && rule.reason.length < 20) wrong.push(endpoint.identifier)
        if (rule === null || rule.kind === "none") return
        // An entry about one resource names it, and knows how to read it where its group can.
        const { id, read } = auditedResources[rule.resource]
        const isOwn = Object.values<{ readonly identifier: string }>(group.endpoints).some(
          ({ identifier }) => identifier === read
        )
        const changesOne = endpoint.method === "DELETE" || endpoint.identifier.startsWith("update")
        const isNamed = id !== null && endpoint.path.includes(`:${id}`)
        if (changesOne && (!isNamed || (read !== null && !isOwn))) wrong.push(endpoint.identifier)
      }
    })
    assert.deepStrictEqual(wrong, [])
  })
})

describe("the OpenAPI document", () => {
  it("marks all of the older interface as deprecated", () => {
    const deprecated = operations.filter(({ operation }) => operation.deprecated === true).map(({ key }) => key)
    assert.deepStrictEqual(deprecated.sort(), olderKeys.sort())
  })

  it.effect("is valid in the eyes of another", () =>
    Effect.gen(function* () {
      const result = yield* Effect.promise(() => validate(structuredClone(document) as Parameters<typeof validate>[0]))
      assert.deepStrictEqual(result.valid ? [] : result.errors, [])
    })
  )

  it.effect("would not be valid with a parameter missing", () =>
    Effect.gen(function* () {
      const broken = structuredClone(document) as { readonly paths: Record<string, Record<string, { parameters: [] }>> }
      const operation = broken.paths["/api/v1/workspaces/{workspace_id}"]?.["get"]
      if (operation === undefined) return assert.fail("there is no such operation")
      operation.parameters = []
      const result = yield* Effect.promise(() => validate(broken as unknown as Parameters<typeof validate>[0]))
      assert.isFalse(result.valid)
    })
  )

  it("has all operations, each with a unique id, a summary, and its errors", () => {
    const expected = written.map((line) => line.split(" ").slice(0, 2).join(" "))
    assert.deepStrictEqual(operations.map(({ key }) => key).sort(), expected.sort())
    assert.strictEqual(new Set(documented.map(({ operation }) => operation.operationId)).size, documented.length)
    for (const { key, operation } of operations) {
      assert.match(operation.operationId, /^[a-z][A-Za-z]+$/, key)
      assert.isAbove(operation.summary?.length ?? 0, 5, key)
      const statuses = Object.keys(operation.responses)
      assert.includeMembers(statuses, ["200", "400", "403", "429", "503", "default"], key)
      // Linking is what a worker does before it has a token.
      assert.strictEqual(statuses.includes("401"), key !== "POST /worker-v1/link", key)
      for (const [status, response] of Object.entries(operation.responses)) {
        assert.notStrictEqual(response.description, "", key)
        if (status === "200") continue
        assert.deepStrictEqual(
          response.content,
          { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
          `${key} ${status}`
        )
      }
    }
  })

  it("says which permission is needed and what is an extension", () => {
    const said = operations.map(({ key, operation }) => `${key} ${String(operation["x-required-permission"] ?? "-")}`)
    assert.deepStrictEqual(said.sort(), [...written].sort())
    const marked = operations.filter(({ operation }) => operation["x-signalbox-extension"] === true)
    assert.strictEqual(marked.length, writtenExtensions.length)
  })

  it("distinguishes optional bodies, and lists forms and idempotency keys where they are accepted", () => {
    const operation = (key: string) => operations.find((one) => one.key === key)?.operation
    const start = operation("POST /api/v1/workspaces/{workspace_id}/processes/{process_id}/process-runs")
    assert.isFalse(start?.requestBody?.required)
    const stop = operation("POST /api/v1/workspaces/{workspace_id}/process-runs/{process_run_id}/stop")
    assert.isTrue(stop?.requestBody?.required)
    for (const { key, operation } of operations) {
      const isPublicPost = key.startsWith("POST /api/v1/")
      const content = operation.requestBody?.content ?? {}
      const forms = "application/x-www-form-urlencoded" in content
      assert.strictEqual(forms, isPublicPost && operation.requestBody !== undefined, key)
      const keyed = operation.parameters.some(({ name }) => name === "idempotency-key")
      assert.strictEqual(keyed, isPublicPost && !key.endsWith("-integrations"), key)
      const lifetime = operation.parameters.find(({ name }) => name === "idempotency-key-ttl")
      assert.deepStrictEqual(
        lifetime?.schema,
        keyed ? { type: "integer", minimum: 1, maximum: 604_800, default: 86_400 } : undefined,
        key
      )
      assert.strictEqual("idempotency-key-ttl" in (operation.responses["200"]?.headers ?? {}), keyed, key)
    }
  })

  it("lets the interface grow: no object refuses fields that it does not know", () => {
    assert.notInclude(JSON.stringify(document), '"additionalProperties":false')
  })
})

/** Nullable keys that a service without the extension does not send. */
const extensionKeys = new Set([
  "git",
  "current",
  "task_package",
  "paused",
  "last_seen_at",
  "due_at",
  "due_state",
  "reference",
  "newer",
  "position",
  "refused_requests",
  "total"
])

describe("the resources", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: "document", components })

  for (const { component, json, name, schema } of examples) {
    const codec = Schema.toCodecJson(schema)
    const decode = Schema.decodeUnknownSync(codec)
    const encode = Schema.encodeUnknownSync(codec)

    it(`${name}: JSON comes back as it went in`, () => {
      assert.deepStrictEqual(JSON.parse(JSON.stringify(encode(decode(json)))), json)
      if (component === null) return
      const valid = ajv.validate({ $ref: `document#/components/schemas/${component}` }, json)
      assert.isTrue(valid, ajv.errorsText())
    })

    it(`${name}: unknown fields are ignored`, () => {
      assert.deepStrictEqual(encode(decode({ ...json, added_in_2030: { a: 1 } })), encode(decode(json)))
    })

    it(`${name}: every nullable field is sent, null or not`, () => {
      for (const key of Object.keys(json)) {
        // Our service always sends these; a service without the extension does not know them.
        const ofEvents = name === "StepRunEvent" && ["message", "environment"].includes(key)
        const ofKeys = name.startsWith("ApiKey") && ["created_by", "owner", "expires_at", "last_used_at"].includes(key)
        if (extensionKeys.has(key) || key === "source" || ofEvents || ofKeys) continue
        const withNull = Schema.decodeUnknownResult(codec)({ ...json, [key]: null })
        if (Result.isFailure(withNull)) continue
        const sent = encode(withNull.success) as Readonly<Record<string, unknown>>
        assert.isNull(sent[key], key)
        const decoded = Object.fromEntries(Object.entries(withNull.success as object).filter(([name]) => name !== key))
        assert.isTrue(Result.isFailure(Schema.encodeUnknownResult(codec)(decoded)), `${key} could be left out`)
      }
    })
  }

  it("are all in the document, and each has an example", () => {
    const shown = new Set(examples.map(({ component }) => component))
    const parts = new Set([
      "Error",
      "File",
      "UploadForm",
      "StartedBy",
      "StepRunEnvironment",
      "WorkItemException",
      "BulkFilter",
      "BulkRefusal",
      "RunSource",
      "Actor"
    ])
    for (const name of Object.keys(components.schemas)) assert.isTrue(shown.has(name) || parts.has(name), name)
  })

  it("keep unknown members of enumerations", () => {
    const cases: ReadonlyArray<readonly [name: string, change: Readonly<Record<string, unknown>>]> = [
      ["ProcessRun", { state: "suspended" }],
      ["ProcessRun", { started_by: { type: "telepathy", details: null } }],
      ["ProcessRun", { source: { type: "comet", id: "c1", name: "Halley" } }],
      ["AlertChannel", { type: "pigeon" }],
      ["AlertFiring", { state: "smouldering" }],
      ["AlertMessage", { kind: "whispered", state: "lost" }],
      ["AlertEvent", { type: "alert.forgotten" }],
      ["Schedule", { overlap: "merge", inputs: { type: "with_luck" } }],
      ["ScheduleOccurrence", { outcome: "postponed", reason: "weather" }],
      ["StepRun", { state: "hibernating", error: { code: "SOLAR_FLARE" } }],
      ["StepRunEvent", { event_type: "SETUP" }],
      ["WorkItem", { state: "parked", exception: { code: "", type: "cosmic", message: "" } }],
      ["AssistantRun", { state: "paused", error: { code: "NEW" } }],
      ["Asset", { payload: { type: "inline" } }],
      ["AssetUpload, pending", { status: "scanning" }],
      ["TaskPackage", { type: "svn" }],
      ["Webhook", { enabled_events: ["process_run.stopped"] }],
      ["WebhookDelivery", { state: "skipped", event_type: "worker.lost" }],
      ["WebhookEvent", { event: "worker", action: "lost" }],
      ["Worker", { state: "draining" }],
      ["ApiKey", { permissions: ["Moon.land"] }]
    ]
    for (const [name, change] of cases) {
      const example = examples.find((one) => one.name === name)
      if (example === undefined) return assert.fail(`there is no example ${name}`)
      const codec = Schema.toCodecJson(example.schema)
      const json = { ...example.json, ...change }
      const back: unknown = Schema.encodeUnknownSync(codec)(Schema.decodeUnknownSync(codec)(json))
      assert.deepStrictEqual(back, json, name)
    }
  })

  it("fail when a variant that they do know is broken", () => {
    const asset = examples.find(({ name }) => name === "Asset")
    if (asset === undefined) return assert.fail("there is no example of an asset")
    const decode = Schema.decodeUnknownResult(Schema.toCodecJson(asset.schema))
    assert.isTrue(Result.isFailure(decode({ ...asset.json, payload: { type: "url" } })))
    const upload = examples.find(({ name }) => name === "AssetUpload, pending")
    if (upload === undefined) return assert.fail("there is no example of an upload")
    assert.isTrue(
      Result.isFailure(Schema.decodeResult(Schema.toCodecJson(upload.schema))({ ...upload.json, status: "failed" }))
    )
  })

  it("print no secret", () => {
    for (const [name, field] of [
      ["Webhook", "secret"],
      ["ApiKeyCreated", "key"],
      ["ConsoleTicket", "ticket"],
      ["ConsoleTicket", "url"],
      ["GroupLinkTokenCreated", "link_token"],
      ["TriggerCreated", "url"],
      ["AlertChannelCreated", "secret"],
      ["AssistantRunStarted", "run_token"]
    ] as const) {
      const example = examples.find((one) => one.name === name)
      if (example === undefined) return assert.fail(`there is no example ${name}`)
      const decoded = Schema.decodeUnknownSync(Schema.toCodecJson(example.schema))(example.json)
      assert.notInclude(JSON.stringify(decoded), String(example.json[field]), name)
    }
  })

  it("read an event of a sender that leaves fields out, and a webhook without `enabled`", () => {
    const event = examples.find(({ name }) => name === "WebhookEvent")
    const webhook = examples.find(({ name }) => name === "Webhook")
    if (event === undefined || webhook === undefined) return assert.fail("there is no example")
    const payload = { workspaceId: "ws1", processId: "p1", processRunId: "r1", state: "COMPL" }
    const read = Schema.decodeSync(Schema.toCodecJson(event.schema))({ ...event.json, payload })
    const none = {
      processName: null,
      seqNo: null,
      startedAt: null,
      endedAt: null,
      duration: null,
      result: null,
      errorCode: null,
      pause: null
    }
    assert.deepStrictEqual(read, { ...event.json, payload: { ...payload, ...none } })
    const { enabled: _, ...hosted } = webhook.json
    assert.propertyVal(Schema.decodeUnknownSync(Schema.toCodecJson(webhook.schema))(hosted), "enabled", true)
  })
})

describe("the requests", () => {
  const accepts = (schema: Schema.Codec<unknown, unknown>) => {
    const decode = Schema.decodeUnknownResult(Schema.toCodecJson(schema))
    return (value: unknown) => Result.isSuccess(decode(value))
  }

  it("of a start take each kind with and without a callback, and nothing else", () => {
    const start = accepts(StartRequest)
    const callback = { url: "https://example.com/hook", secret: "s", callback_events: ["started", "completed"] }
    for (const input of [
      {},
      { type: "with_inputs" },
      { type: "with_payloads", payloads: [null, { a: 1 }] },
      { type: "with_work_item_ids", work_item_ids: ["i1"] }
    ]) {
      assert.isTrue(start(input), JSON.stringify(input))
      assert.isTrue(start({ ...input, callback }), JSON.stringify(input))
      assert.isFalse(start({ ...input, callback: { url: callback.url, secret: "s" } }), JSON.stringify(input))
      assert.isFalse(start({ ...input, callback: { ...callback, callback_events: ["process_run.started"] } }))
      assert.isFalse(start({ ...input, callback: { ...callback, url: "ftp://example.com" } }))
    }
    assert.isFalse(start({ type: "with_luck" }))
    assert.isFalse(start({ type: "with_payloads", payloads: [] }))
  })

  it("take names of secrets with letters, digits and underscores", () => {
    const name = accepts(NewSecretName)
    for (const good of ["shop", "A_1", "publicKeys", "x".repeat(255)]) assert.isTrue(name(good), good)
    for (const bad of ["", "a b", "ä", "a-b", "publicKey", "x".repeat(256), "a\n"]) assert.isFalse(name(bad), bad)
  })

  it("take paths below a folder, and none that leads out of it", () => {
    const path = accepts(ArtifactName)
    for (const good of ["log.html", "screens/1.png", "..a/b..", ".hidden/x"]) assert.isTrue(path(good), good)
    for (const bad of ["", "/etc/passwd", "../x", "a/../b", "a/..", ".", "a/./b", "a//b", "a/", "a\\b", "a\0"]) {
      assert.isFalse(path(bad), bad)
    }
  })

  it("take events of workers that are not the service's own", () => {
    const type = accepts(WorkerEventType)
    assert.isTrue(type("SETUP"))
    for (const bad of ["END", "START", "setup", "A B", ""]) assert.isFalse(type(bad), bad)
  })

  it("take a git configuration as described, and repositories without credentials", () => {
    const git = accepts(GitConfiguration)
    assert.isTrue(git({ mode: "attached", branch: "main", automatic_deployment: true }))
    assert.isTrue(git({ mode: "detached", reference: "v1.0" }))
    assert.isFalse(git({ mode: "attached", reference: "v1.0" }))
    assert.isFalse(git({ mode: "floating", branch: "main", automatic_deployment: true }))
    const detached = (rest: object) => git({ mode: "detached", reference: "v1.0", ...rest })
    assert.isTrue(detached({ repository: "https://example.com/acme/robots.git", directory: "invoices" }))
    assert.isTrue(detached({ credentials_secret: null, directory: null }))
    for (const repository of [
      "https://me:pw@example.com/r.git",
      "/srv/git/r",
      "file:///srv/git/r",
      "git@example.com:r.git"
    ]) {
      assert.isFalse(detached({ repository }), repository)
    }
    assert.isFalse(detached({ directory: "../.." }))
  })
})
