/** The examples of the OpenAPI document, played in one order against a room, whose responses must be like theirs. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Audited } from "@signalbox/api/contract/Auditing"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { hostname } from "node:os"
import packageJson from "../package.json" with { type: "json" }
import { differences, type Example, examplesOf, Learned } from "./support/DocumentedExamples.ts"
import { endpoints } from "./support/Endpoints.ts"
import { multipart, send } from "./support/Http.ts"
import { receiver } from "./support/Receiver.ts"
import { secretsOf, shows } from "./support/Secrecy.ts"
import { layerIn, Service, temporaryFolder } from "./support/Service.ts"

/** Not played: a value that is encrypted for this room's key, and a repository on another host. */
const notPlayed = new Set(["putSealedSecret", "configureTaskPackage"])

/** What a background task may have changed since: these are compared in their shape only. */
const inBackground = new Set([
  // Nothing waits for a limit here.
  "getProcessLimits",
  "createBulkOperation",
  "cancelBulkOperation",
  "getBulkOperation",
  "listBulkOperations",
  "testWebhook",
  "listWebhookDeliveries",
  "redeliverWebhookDelivery",
  "testAlert",
  "listAlertMessages",
  "listAlertFirings",
  // Of a user who has signed in, and a key that was used.
  "getUser",
  "listApiKeys",
  "listUsers",
  "listUserSessions",
  "updateUser",
  "listAuditEntries",
  "getAuditHead"
])

/** The order, in three parts: each operation has what it needs from those before it. Words in capitals are scenes. */
const beforeRun = `
getWorkspace getRoom resumeRoom createWorkspace createApiKey createConsoleTicket watchChanges
putRole getRoles inviteUser createUserLink getUser listUsers updateUser listUserSessions endUserSessions deleteUserSecondFactor
putSignInRules getSignInRules updateApiKey
listApiKeys

createAsset createAssetUpload getAssetUpload getAsset listAssets
createSecret listSecrets updateSecret setSecretItems getSecret getVaultPublicKey getSealedSecret

createTaskPackage getTaskPackageUpload legacyRobotUpload getTaskPackage listTaskPackages downloadTaskPackage
legacyRobots listTaskPackageVersions getTaskPackageVersion rollbackTaskPackage promoteTaskPackageVersion

createAssistant getAssistant listAssistants startAssistantRun heartbeatAssistantRun getAssistantRun
listAssistantRuns completeAssistantRun

createWorkerGroup getWorkerGroup listWorkerGroups updateWorkerGroup pauseWorkerGroup resumeWorkerGroup
createGroupLinkToken listGroupLinkTokens getGroupLinkToken updateGroupLinkToken deleteGroupLinkToken
createWorkerLinkToken linkWorker addWorkerToGroup updateWorker pauseWorker resumeWorker

createProcess updateProcess getProcess listProcesses legacyProcesses getProcessDefinition getProcessLimits
pauseProcess resumeProcess pauseProcessStep resumeProcessStep

createWebhook updateWebhook getWebhook listWebhooks testWebhook SEND listWebhookDeliveries redeliverWebhookDelivery
createSchedule updateSchedule listSchedules pauseSchedule getSchedule resumeSchedule getScheduleTimes
previewScheduleTimes
createTrigger updateTrigger getTrigger listTriggers rotateTriggerUrl
createAlertChannel updateAlertChannel rotateAlertChannelSecret getAlertChannel listAlertChannels
createAlert updateAlert testAlert listAlertMessages muteAlert getAlert listAlerts unmuteAlert

createWorkItem createWorkItemFile legacyCreateWorkItemFile updateWorkItemPayload getWorkItem revealWorkItem listWorkItems
createWorkItems batchWorkItems legacyCreateWorkItem legacyWorkItems legacyWorkItem legacyBatchWorkItems
createBulkOperation cancelBulkOperation getBulkOperation listBulkOperations getThroughput

startProcessRun leaseStepRuns startStepRun
`

const whileInProgress = `
heartbeat getWorker listWorkers getQueueDepth
sendStepRunConsole sendStepRunEvents createStepRunArtifact reportStepRunBuild
getWorkItemData createRobotFile listWorkItemFiles getWorkItemFile deleteWorkItemFile putWorkItemData createOutput
nextWorkItems reserveNextWorkItem getProcessRunSteps releaseWorkItem finishStepRun
`

const afterRun = `
getStepRun listStepRuns listStepRunEvents listStepRunArtifacts getStepRunArtifact listStepRunConsoleMessages
getProcessRun listProcessRuns listOutputs listFailures getFailure updateFailure
legacyRun legacyRuns legacyWorkspaceRuns legacyRunWorkItems legacyStepRun legacyStepRuns legacyArtifacts legacyArtifact
legacyMessages legacyEvents

startProcessRunAgain stopProcessRun deleteProcessRun startProcessRunFromIntegration
legacyStart legacyStartBatch legacyStartRequested legacyRetryWorkItem
WAIT listAlertFirings listScheduleOccurrences

unlinkWorker LINK removeWorkerFromGroup drainWorker deleteWorker deleteWorkerGroup
deleteAlert deleteAlertChannel deleteTrigger deleteSchedule deleteWebhook
CLEAR deleteProcess DROP deleteTaskPackage deleteSecret deleteAsset deleteApiKey deleteUser deleteRole
listAuditEntries getAuditHead exportAudit
`

/** The bytes of the forms in responses. */
const bytesOf: Readonly<Record<string, string>> = {
  createWorkItemFile: "invoice 4710",
  legacyCreateWorkItemFile: "invoice 4710",
  createStepRunArtifact: "<html></html>",
  createRobotFile: "receipt"
}

const Form = Schema.Struct({ url: Schema.String, fields: Schema.Record(Schema.String, Schema.String) })
const Uploads = Schema.Union([
  Form,
  Schema.Struct({ url: Schema.String, form_data: Form.fields.fields }),
  Schema.Struct({ upload: Schema.Struct({ url: Schema.String, form_data: Form.fields.fields }) })
])
const Started = Schema.Struct({ id: Schema.String })
const Listed = Schema.Struct({ data: Schema.Array(Started) })

const layer = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => layerIn(folder, { rateLimit: null, allowPrivateTargets: true }))
)

const play = Effect.gen(function* () {
  const service = yield* Service
  const { key, origin, raw, workspaceId } = service
  const hooks = yield* receiver
  const examples = examplesOf((yield* raw("GET", "/api/v1/openapi.json", { key: null })).text)
  const example = (identifier: string): Example =>
    examples.get(identifier) ?? assert.fail(`the document has no operation ${identifier}`)
  const inPath = (identifier: string, parameter: string): string =>
    example(identifier).parameters.find(({ name }) => name === parameter)?.example ??
    assert.fail(`${identifier} has no example of ${parameter}`)

  const learned = new Learned({
    [inPath("getWorkspace", "workspace_id")]: workspaceId,
    "https://example.com/hooks/signalbox": `${hooks.origin}/hooks`,
    "https://example.com/hooks/alerts": `${hooks.origin}/alerts`,
    Accounting: "test",
    Example: "test",
    deploy: "test",
    "signalbox-1": hostname(),
    "0.2.0": packageJson.version
  })
  const found: Array<string> = []
  const played = new Set<string>()
  const secrets = new Set<string>()

  const credential = ({ path, schemes }: Example): string | undefined => {
    if (schemes.has("wskey")) return `RC-WSKEY ${key}`
    if (schemes.size === 0 || schemes.has("token")) return undefined
    return `Bearer ${learned.get(path.startsWith("/worker-v1") ? "worker-9kTb" : "run-5rJd")}`
  }

  const upload = Effect.fnUntraced(function* (body: Schema.Json, bytes: string | Uint8Array) {
    const form = Schema.decodeUnknownSync(Uploads)(body)
    const { url, ...fields } = "upload" in form ? form.upload : form
    const values = "fields" in fields ? fields.fields : fields.form_data
    const parts = Object.entries(values).map(([name, value]) => ({ name, value }))
    const sent = multipart([...parts, { name: "file", value: bytes, filename: "file" }])
    const { status, text } = yield* send(origin, "POST", url.slice(origin.length), sent)
    assert.strictEqual(status, 204, text)
  })

  const call = Effect.fnUntraced(function* (identifier: string) {
    const one = example(identifier)
    const { contentType, method, parameters, path, request, response, schemes } = one
    const filled = (name: string) => {
      const value = parameters.find((other) => other.name === name)?.example ?? assert.fail(`${identifier}: ${name}`)
      return encodeURIComponent(learned.get(value) ?? value)
    }
    const query = [
      ...parameters.filter((other) => other.in === "query").map(({ name }) => `${name}=${filled(name)}`),
      ...(schemes.has("token") ? [`token=${key}`] : [])
    ]
    const target = path.replace(/\{(\w+)\}/g, (_, name: string) => filled(name))
    const authorization = credential(one)
    const answer = yield* raw(method, query.length === 0 ? target : `${target}?${query.join("&")}`, {
      key: null,
      ...(request === undefined ? {} : { json: learned.fill(request) }),
      ...(authorization === undefined ? {} : { headers: { authorization } })
    })
    played.add(identifier)
    const sent = request === undefined ? null : learned.fill(request)
    const { body: bodies = [], response: responses = [] } = schemasOf.get(identifier) ?? {}
    for (const secret of secretsIn(sent, false)) secrets.add(secret)
    for (const secret of bodies.flatMap((ast) => secretsOf(ast, sent))) secrets.add(secret)
    if (answer.status !== 200) return found.push(`${identifier}: ${answer.status} ${answer.text}`)
    assert.include(answer.headers["content-type"] ?? "", contentType, identifier)
    if (contentType === "application/zip") return
    const body: Schema.Json = contentType === "application/json" ? JSON.parse(answer.text) : answer.text
    if (contentType === "application/json") {
      const ofResponse = [...secretsIn(body, false), ...responses.flatMap((ast) => secretsOf(ast, body))]
      // Of an entry the fields are any JSON.
      for (const secret of identifier === "listAuditEntries" ? [] : ofResponse) secrets.add(secret)
      const different = differences(response, body, learned, !inBackground.has(identifier))
      found.push(...different.map((difference) => `${identifier}: ${difference}`))
    }
    const bytes = bytesOf[identifier]
    if (bytes !== undefined) yield* upload(body, bytes)
    if (identifier === "getTaskPackageUpload" || identifier === "legacyRobotUpload") {
      yield* upload(body, yield* zipOf({ "robot.yaml": robotYaml("Read"), "tasks.py": identifier }))
    }
  })

  /** What happens in between, without an example. */
  const scenes: Readonly<Record<string, Effect.Effect<unknown>>> = {
    // A pending delivery cannot be repeated.
    SEND: Effect.andThen(
      service.deliverIn(0),
      Effect.suspend(() => raw("GET", `webhooks/${learned.get(inPath("getWebhook", "webhook_id"))}/deliveries`)).pipe(
        Effect.repeat({
          until: ({ text }) => text.includes('"state":"delivered"'),
          schedule: Schedule.spaced("50 millis")
        })
      )
    ),
    WAIT: Effect.andThen(service.alertIn(3 * 3_600_000), service.scheduleIn(4 * 86_400_000)),
    LINK: Effect.gen(function* () {
      const Token = Schema.Struct({ link_token: Schema.String })
      const { text } = yield* raw("POST", "workers/link-tokens")
      const { link_token } = Schema.decodeUnknownSync(Schema.fromJsonString(Token))(text)
      const linked = yield* raw("POST", "/worker-v1/link", { key: null, json: { link_token, name: "two", tasks: [] } })
      const Linked = Schema.Struct({ worker_id: Schema.String })
      const { worker_id } = Schema.decodeUnknownSync(Schema.fromJsonString(Linked))(linked.text)
      learned.set(inPath("deleteWorker", "worker_id"), worker_id)
      yield* call("addWorkerToGroup")
    }),
    CLEAR: Effect.gen(function* () {
      const idsIn = (list: string) =>
        Effect.map(raw("GET", list), ({ text }) =>
          Schema.decodeUnknownSync(Schema.fromJsonString(Listed))(text).data.map(({ id }) => id)
        )
      for (const id of yield* idsIn("process-runs")) {
        const json = { set_remaining_work_items_as_done: true, terminate_ongoing_activity_runs: true }
        yield* raw("POST", `process-runs/${id}/stop`, { json })
      }
      const waiting = yield* idsIn("work-items?state=new")
      yield* raw("POST", "work-items/batch", { json: { batch_operation: "delete", work_item_ids: waiting } })
    }),
    // An assistant names the other package.
    DROP: Effect.gen(function* () {
      const { text } = yield* raw("POST", "task-packages", { json: { name: "another" } })
      const { id } = Schema.decodeUnknownSync(Schema.fromJsonString(Started))(text)
      learned.set(inPath("deleteTaskPackage", "task_package_id"), id)
    })
  }

  const inOrder = Effect.fnUntraced(function* (order: string) {
    for (const name of order.split(/\s+/).filter((word) => word !== "")) yield* scenes[name] ?? call(name)
  })
  // However busy the machine is, the worker is not lost.
  const stayAlive = Effect.suspend(() =>
    raw("POST", "/worker-v1/heartbeat", {
      key: null,
      headers: { authorization: `Bearer ${learned.get("worker-9kTb")}` },
      json: { step_run_ids: [learned.get(inPath("getStepRun", "step_run_id"))] }
    })
  )
  yield* inOrder(beforeRun)
  yield* Effect.raceFirst(inOrder(whileInProgress), Effect.forever(Effect.andThen(Effect.sleep("1 second"), stayAlive)))
  yield* inOrder(afterRun)
  const { text: audit } = yield* raw("GET", "audit?limit=500")
  const { text: ofRoom } = yield* raw("GET", "audit?limit=500&chain=room")
  return { examples, found, played, audit, ofRoom, secrets }
})

const ruleOf = new Map(
  endpoints.map(({ declared, identifier }) => [identifier, Context.get(declared.annotations, Audited)])
)
/** The schemas of bodies and of responses. */
const schemasOf = new Map(
  endpoints.map(({ declared, identifier, successes }) => [
    identifier,
    {
      body: [...declared.payload.values()].flatMap(({ schemas }) => schemas.map(({ ast }) => ast)),
      response: [...successes.values()].flatMap((schemas) => schemas.map(({ ast }) => ast))
    }
  ])
)
const Entries = Schema.fromJsonString(
  Schema.Struct({
    data: Schema.Array(
      Schema.Struct({
        action: Schema.String,
        resource: Schema.Struct({ type: Schema.String, id: Schema.NullOr(Schema.String) })
      })
    )
  })
)

/** Members whose texts are credentials, values of secrets, content of work items, or addresses that need no key. */
const secretNames = new Set([
  "key",
  "secret",
  "ticket",
  "link_token",
  "run_token",
  "password",
  "upload_url",
  "download"
])
const contentNames = new Set(["items", "payload", "payloads"])

/** The texts at such members, however deep, that are long enough to be found by chance nowhere else. */
const secretsIn = (value: Schema.Json, isSecret: boolean): ReadonlyArray<string> => {
  // The key of a limit is a JSON pointer.
  if (typeof value === "string") return isSecret && value.length > 5 && !value.startsWith("/") ? [value] : []
  if (typeof value !== "object" || value === null) return []
  if (Array.isArray(value)) return value.flatMap((one: Schema.Json) => secretsIn(one, isSecret))
  return Object.entries(value).flatMap(([name, one]) =>
    secretsIn(one, (isSecret && name !== "content_type") || secretNames.has(name) || contentNames.has(name))
  )
}

withLayer(layer, { excludeTestServices: true, timeout: "2 minutes" })("the examples of the OpenAPI document", (it) => {
  it.effect("are what the service takes and returns, and their changes are in the audit without secrets", () =>
    Effect.gen(function* () {
      const { audit, examples, found, ofRoom, played, secrets } = yield* Effect.scoped(play)
      assert.deepStrictEqual(found, [])
      const left = [...examples.keys()].filter((identifier) => !played.has(identifier))
      assert.deepStrictEqual(left.sort(), [...notPlayed].sort())
      // Each change left the entry that its annotation says: those of keys are none of work items.
      const { data } = Schema.decodeUnknownSync(Entries)(audit)
      const ofRequests = [...played].flatMap((identifier) => {
        const rule = ruleOf.get(identifier) ?? null
        return rule?.kind === "entry" ? [`${identifier} ${rule.resource}`] : []
      })
      // An upload comes without a key, from a form that says who asked for it.
      const expected = [...ofRequests, "uploadTaskPackage task_package"]
      const entries = data.map(({ action, resource }) => `${action} ${resource.type}`)
      assert.deepStrictEqual([...new Set(entries)].sort(), expected.sort())
      const withoutId = data.filter(({ resource }) => resource.id === null).map(({ action }) => action)
      // Of several, or of what has no id.
      assert.deepStrictEqual([...new Set(withoutId)].sort(), [
        "batchWorkItems",
        "createConsoleTicket",
        "exportAudit",
        "legacyBatchWorkItems",
        "legacyStartBatch",
        "putSignInRules",
        "resumeRoom"
      ])
      // What belongs to the room is in its own chain too.
      const { data: roomEntries } = Schema.decodeUnknownSync(Entries)(ofRoom)
      assert.deepStrictEqual(
        [...new Set(roomEntries.map(({ action }) => action))].sort(),
        ofRequests
          .filter((one) => /^\w+ (room|user|workspace)$/.test(one))
          .map((one) => one.replace(/ .*/, ""))
          .sort()
      )
      assert.isAbove(secrets.size, 30)
      const shown = [...secrets].filter((secret) => shows(audit, secret) || shows(ofRoom, secret))
      assert.deepStrictEqual(shown, [])
    })
  )
})
