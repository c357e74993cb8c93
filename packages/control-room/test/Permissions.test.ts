import { assert, layer as withLayer } from "@effect/vitest"
import { Permission, startPermission } from "@signalbox/api/contract/Authorization"
import { Audited, resourcesOfRoom } from "@signalbox/api/contract/Auditing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type Endpoint, endpoints, fill } from "./support/Endpoints.ts"
import { bodyAs, errorOf } from "./support/Http.ts"
import { layer, linkWorker, Service } from "./support/Service.ts"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"

/** Every endpoint that accepts a workspace key. */
const ofKeys = endpoints.filter(({ door }) => door === "key")

/** An id that does not exist: authorized requests find nothing, and nothing happens. */
const nobody = "01900000-0000-7000-8000-000000000000"

const pathIn = (workspace: string, { path }: Endpoint) =>
  fill(path, (name) => (name === "workspace_id" ? workspace : nobody))

/** Whether an endpoint needs the permission to start runs besides its own, and why. */
const startRules: Readonly<Record<string, readonly [starts: boolean, why: string]>> = {
  resumeRoom: [false, "an act of who operates the room, after a restore"],
  pauseProcess: [false, "stops work"],
  resumeProcess: [true, "what waits starts"],
  pauseProcessStep: [false, "stops work"],
  resumeProcessStep: [true, "what waits starts"],
  pauseWorker: [false, "stops work"],
  resumeWorker: [false, "says where work runs, not that it does"],
  pauseWorkerGroup: [false, "stops work"],
  resumeWorkerGroup: [false, "says where work runs, not that it does"],
  startProcessRunAgain: [true, "starts a run"],
  batchWorkItems: [false, "of v1, whose robots and clients have its permission alone"],
  createBulkOperation: [
    false,
    "asked by its body: to retry and to start again it is needed, to settle and delete it is not"
  ],
  cancelBulkOperation: [false, "stops work"],
  createProcess: [false, "of v1, and starts nothing"],
  updateProcess: [false, "of v1, whose clients have its permission alone, though other code may run from now on"],
  deleteProcess: [false, "stops work"],
  createTaskPackage: [false, "of v1, and has no code yet"],
  configureTaskPackage: [
    false,
    "of v1, whose clients have its permission alone, though other code may run from now on"
  ],
  getTaskPackageUpload: [
    false,
    "of v1, whose clients have its permission alone, though other code may run from now on"
  ],
  deleteTaskPackage: [false, "stops work"],
  legacyRobotUpload: [false, "of the older interface, whose clients have its permission alone"],
  promoteTaskPackageVersion: [true, "other code runs from now on"],
  rollbackTaskPackage: [true, "other code runs from now on"],
  createSchedule: [true, "starts runs later"],
  updateSchedule: [true, "starts runs at other times"],
  deleteSchedule: [false, "stops work"],
  pauseSchedule: [false, "stops work"],
  resumeSchedule: [true, "starts runs later"],
  previewScheduleTimes: [false, "changes nothing"],
  createTrigger: [true, "starts runs when items or requests arrive"],
  updateTrigger: [true, "switches it on, or changes when it starts runs"],
  rotateTriggerUrl: [true, "hands out the address with which runs are started"],
  deleteTrigger: [false, "stops work"],
  legacyRetryWorkItem: [false, "of the older interface, whose clients have its permission alone"],
  legacyBatchWorkItems: [false, "of the older interface, whose clients have its permission alone"],
  legacyStartBatch: [true, "starts runs"]
}

const isOfRoom = ({ declared }: Endpoint) => {
  const rule = Context.get(declared.annotations, Audited)
  return rule !== null && rule.kind !== "none" && resourcesOfRoom.has(rule.resource)
}

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("permissions", (it) => {
  it.effect(
    "stand on every endpoint of a workspace but those of the workspace and the room themselves, tickets of the console, hints of changes and the vault's public key",
    () =>
      Effect.sync(() => {
        assert.isAtLeast(ofKeys.length, 20)
        const open = ofKeys.filter(({ needed }) => needed.length === 0).map(({ identifier }) => identifier)
        assert.deepStrictEqual(open, [
          "getWorkspace",
          "getRoom",
          "createConsoleTicket",
          "watchChanges",
          "getVaultPublicKey"
        ])
      })
  )

  it.effect("are those of the workspace in the path, on every endpoint but the one that creates workspaces", () =>
    Effect.sync(() => {
      const without = ofKeys.filter(({ path }) => !path.includes("/:workspace_id"))
      assert.deepStrictEqual(
        without.map(({ identifier }) => identifier),
        ["createWorkspace"]
      )
    })
  )

  it.effect(
    "of what lets work start, or changes the code that runs, include the permission to start it, each with its reason",
    () =>
      Effect.sync(() => {
        const changesCode = (needed: Endpoint["needed"]) =>
          needed.includes("Processes.write_processes") || needed.includes("Tasks.write_task_packages")
        const concerned = ofKeys.filter(
          ({ identifier, method, needed }) =>
            changesCode(needed) ||
            (method !== "GET" &&
              /Trigger|Schedule|pause|resume|Again|batch|retry|Bulk|Version|rollback/i.test(identifier))
        )
        const found = concerned.map(({ identifier, needed }) => [identifier, needed.includes(startPermission)] as const)
        assert.deepStrictEqual(
          Object.fromEntries(found),
          Object.fromEntries(Object.entries(startRules).map(([identifier, [starts]]) => [identifier, starts]))
        )
      })
  )

  for (const endpoint of ofKeys) {
    it.effect(`${endpoint.method} ${endpoint.path} opens to ${endpoint.needed.join(" and ") || "any key"} alone`, () =>
      Effect.gen(function* () {
        const { key, makeKey, makeWorkspace, raw, rows, workspaceId } = yield* Service
        const { method, needed } = endpoint
        const other = yield* makeWorkspace
        const ofOther = yield* makeKey(Permission.literals, other)
        const without = yield* Effect.forEach(needed, (one) =>
          Effect.map(
            makeKey(Permission.literals.filter((permission) => permission !== one)),
            (made) => [one, made] as const
          )
        )
        const only = yield* makeKey(needed)
        const secret = key.slice(-43)
        // The body is one that no endpoint accepts: an authorized request gets a 400 or a 404.
        const ask = (given: string | null, workspace: string = workspaceId) =>
          raw(method, pathIn(workspace, endpoint), {
            key: given,
            ...(method === "GET" || method === "DELETE" ? {} : { json: [] })
          })
        // Created on first use.
        yield* raw("GET", `/secrets-v1/workspaces/${workspaceId}/secrets/publicKey`)
        const before = yield* rows
        const refused: ReadonlyArray<readonly [string, number, string | null, string?]> = [
          ["no key", 401, null],
          ["an empty key", 401, ""],
          ["a malformed key", 401, "nonsense"],
          ["a key cut short", 401, key.slice(0, -1)],
          ["a key that is longer", 401, `${key}x`],
          ["an unknown key", 403, `sbk_${nobody}_${secret}`],
          [
            "the key's id with another secret",
            403,
            key.slice(0, -secret.length) + secret.split("").toReversed().join("")
          ],
          ["a token of another kind", 403, key.replace("sbk_", "sbw_")],
          ...(endpoint.path.includes(":workspace_id")
            ? ([
                ["a key of another workspace", 403, ofOther],
                ["this key in another workspace", 403, key, other],
                ["this key in a workspace that is not there", 403, key, nobody]
              ] as const)
            : []),
          ...without.map(([one, made]) => [`all permissions but ${one}`, 403, made] as const)
        ]
        for (const [what, status, given, workspace] of refused) {
          const answer = yield* ask(given, workspace)
          assert.strictEqual(answer.status, status, `${what}: ${answer.text}`)
          const { error } = errorOf(answer)
          assert.strictEqual(error.code, status === 401 ? "UNAUTHENTICATED" : "FORBIDDEN", what)
          const lacking = without.find(([, made]) => made === given)
          if (lacking !== undefined) assert.include(error.message, lacking[0])
          assert.notInclude(answer.text, secret, what)
        }
        let entries = 0
        for (const opening of [only, key]) {
          const answer = yield* ask(opening)
          assert.notInclude([401, 403], answer.status, answer.text)
          assert.isBelow(answer.status, 500, answer.text)
          // What belongs to the room is in its own chain too.
          if (answer.status === 200) entries += isOfRoom(endpoint) ? 2 : 1
        }
        const { audit_entry: left = [], ...after } = yield* rows
        const { audit_entry: known = [], ...others } = before
        assert.deepStrictEqual(after, others)
        assert.isAtMost(left.length - known.length, entries, "what was refused left an entry")
      })
    )
  }

  it.effect("of bulk operations are those of what each does: to retry and to start again is to start", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw, rows } = yield* Service
      const workspace = yield* makeWorkspace
      const all = yield* makeKey(Permission.literals, workspace)
      const key = yield* makeKey(
        Permission.literals.filter((permission) => permission !== startPermission),
        workspace
      )
      const below = (path: string) => `/api/v1/workspaces/${workspace}/${path}`
      const made = (path: string, json: unknown) =>
        Effect.map(
          raw("POST", below(path), { key: all, json }),
          (answer) => bodyAs(Schema.Struct({ id: Schema.String }), answer).id
        )
      const process_id = yield* made("processes", { name: "bulk", steps: [{ name: "s", task: { name: "t" } }] })
      const payloads = { type: "with_payloads", payloads: [1, 2] }
      const run = yield* made(`processes/${process_id}/process-runs`, payloads)
      const stop = { set_remaining_work_items_as_done: false, terminate_ongoing_activity_runs: false }
      yield* raw("POST", below(`process-runs/${run}/stop`), { key: all, json: stop })
      const ask = (operation: string, dry_run: boolean) =>
        raw("POST", below("bulk-operations"), { key, json: { operation, filter: { process_id }, dry_run } })
      const before = yield* rows
      for (const [operation, starts] of [
        ["retry", true],
        ["start_again", true],
        ["mark_as_done", false],
        ["delete", false]
      ] as const) {
        const counted = yield* ask(operation, true)
        assert.strictEqual(counted.status, starts ? 403 : 200, `${operation}: ${counted.text}`)
        if (!starts) continue
        const refused = yield* ask(operation, false)
        assert.strictEqual(refused.status, 403, `${operation}: ${refused.text}`)
        assert.include(errorOf(refused).error.message, startPermission)
      }
      assert.deepStrictEqual(yield* rows, before)
      const State = Schema.Struct({ id: Schema.String, state: Schema.String })
      for (const operation of ["mark_as_done", "delete"]) {
        const taken = yield* ask(operation, false)
        assert.strictEqual(taken.status, 200, `${operation}: ${taken.text}`)
        const { id } = bodyAs(Schema.Struct({ bulk_operation: State }), taken).bulk_operation
        // Other tests compare all rows, which a job would change meanwhile.
        yield* Effect.repeat(raw("GET", below(`bulk-operations/${id}`), { key: all }), {
          until: (answer) => bodyAs(State, answer).state === "completed",
          schedule: Schedule.spaced("20 millis")
        })
      }
    })
  )

  it.effect("lets any key of a workspace see the workspace", () =>
    Effect.gen(function* () {
      const { makeKey, raw, workspaceId } = yield* Service
      const answer = yield* raw("GET", `/api/v1/workspaces/${workspaceId}`, { key: yield* makeKey([]) })
      assert.strictEqual(bodyAs(Schema.Struct({ id: Schema.String }), answer).id, workspaceId)
    })
  )

  it.effect("hide the resources of another workspace behind a 404", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const Id = Schema.Struct({ id: Schema.String })
      const steps = [{ name: "s", task: { name: "t" } }]
      const process = bodyAs(Id, yield* raw("POST", "processes", { json: { name: "hidden", steps } }))
      const item = bodyAs(Id, yield* raw("POST", "work-items", { json: { process: { id: process.id } } }))
      const run = bodyAs(Id, yield* raw("POST", `processes/${process.id}/process-runs`))
      const { data } = bodyAs(
        Schema.Struct({ data: Schema.Array(Id) }),
        yield* raw("GET", `step-runs?process_run_id=${run.id}`)
      )
      const group = bodyAs(Id, yield* raw("POST", "worker-groups", { json: { name: "hidden" } }))
      const token = bodyAs(
        Id,
        yield* raw("POST", `worker-groups/${group.id}/link-tokens`, { json: { name: "hidden" } })
      )
      const { identity } = yield* linkWorker([])
      yield* raw("POST", "secrets", { json: { name: "hidden", items: {} } })
      const apiKey = bodyAs(
        Id,
        yield* raw("POST", "api-keys", { json: { name: "hidden", permissions: ["Vault.read_secrets"] } })
      )
      const other = yield* makeWorkspace
      const key = yield* makeKey(Permission.literals, other)
      const otherGroup = bodyAs(
        Id,
        yield* raw("POST", `/api/v1/workspaces/${other}/worker-groups`, { key, json: { name: "own" } })
      )
      const foreign: ReadonlyArray<readonly [string, string, unknown?]> = [
        ["GET", `processes/${process.id}`],
        ["GET", `processes/${process.id}/definition`],
        ["POST", `processes/${process.id}`, { name: "taken over", steps }],
        ["POST", `processes/${process.id}/process-runs`],
        ["GET", `work-items/${item.id}`],
        ["POST", `work-items/${item.id}/payload`, { payload: 1 }],
        ["POST", `work-items/${item.id}/files`, { file_name: "a", file_size: 1 }],
        ["POST", "work-items", { process: { id: process.id } }],
        ["POST", "work-items/batch", { batch_operation: "delete", work_item_ids: [item.id] }],
        ["GET", `process-runs/${run.id}`],
        ["DELETE", `process-runs/${run.id}`],
        [
          "POST",
          `process-runs/${run.id}/stop`,
          { set_remaining_work_items_as_done: true, terminate_ongoing_activity_runs: true }
        ],
        ["GET", `outputs?process_run_id=${run.id}`],
        ["GET", `step-runs?process_run_id=${run.id}`],
        ["GET", `step-runs/${data[0]?.id}`],
        ["GET", `step-runs/${data[0]?.id}/events`],
        ["DELETE", `processes/${process.id}`],
        ["POST", "processes", { name: "n", steps: [{ ...steps[0], worker_group: { id: group.id } }] }],
        ["GET", `workers/${identity.workerId}`],
        ["POST", `workers/${identity.workerId}`, { name: "taken over" }],
        ["DELETE", `workers/${identity.workerId}`],
        ["GET", `worker-groups/${group.id}`],
        ["POST", `worker-groups/${group.id}`, { name: "taken over" }],
        ["DELETE", `worker-groups/${group.id}`],
        ["POST", `worker-groups/${group.id}/workers`, { worker: { id: identity.workerId } }],
        ["POST", `worker-groups/${otherGroup.id}/workers`, { worker: { id: identity.workerId } }],
        ["DELETE", `worker-groups/${group.id}/workers/${identity.workerId}`],
        ["GET", `worker-groups/${group.id}/link-tokens`],
        ["POST", `worker-groups/${group.id}/link-tokens`, { name: "n" }],
        ["GET", `worker-groups/${group.id}/link-tokens/${token.id}`],
        ["POST", `worker-groups/${group.id}/link-tokens/${token.id}`, { name: "taken over" }],
        ["DELETE", `worker-groups/${group.id}/link-tokens/${token.id}`],
        ["POST", "secrets/hidden", { items: {} }],
        ["DELETE", "secrets/hidden"],
        ["DELETE", `api-keys/${apiKey.id}`]
      ]
      const { rows, tickIn } = yield* Service
      // Says that the step run has no worker, which the service would do by itself after a second, while the rows are compared.
      yield* tickIn(11_000)
      const before = yield* rows
      for (const [method, path, json] of foreign) {
        const url = `/api/v1/workspaces/${other}/${path}`
        const answer = yield* raw(method, url, json === undefined ? { key } : { key, json })
        assert.strictEqual(answer.status, 404, `${method} ${path}: ${answer.text}`)
        assert.strictEqual(errorOf(answer).error.code, "NOT_FOUND")
      }
      for (const query of [`process_id=${process.id}`, `process_run_id=${run.id}`]) {
        const answer = yield* raw("GET", `/api/v1/workspaces/${other}/work-items?${query}`, { key })
        assert.strictEqual(answer.text, '{"data":[],"has_more":false,"next":null}')
      }
      assert.deepStrictEqual(yield* rows, before)
    })
  )
})
