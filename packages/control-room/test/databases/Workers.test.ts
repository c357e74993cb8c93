import { assert, layer as withLayer } from "@effect/vitest"
import { Linked } from "@signalbox/api/contract/WorkerProtocol"
import { GroupLinkTokenCreated } from "@signalbox/api/contract/WorkerGroups"
import { LinkToken } from "@signalbox/api/contract/Workers"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as Workers from "@signalbox/api/Workers"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { assertError, bodyAs } from "../support/Http.ts"
import { layer, linkWorker, Service, workerAt } from "../support/Service.ts"

const exception = { type: "APPLICATION", code: "E", message: "m" } as const
const nobody = "01900000-0000-7000-8000-000000000000"

const unique = (what: string) => `${what} ${crypto.randomUUID()}`

/** A process with one step for a separate task, optionally bound to a group. */
const newProcess = Effect.fnUntraced(function* (group: WorkerGroups.WorkerGroup | null = null) {
  const task = unique("task")
  const steps = [{ name: "s", task: { name: task }, worker_group: group === null ? null : { id: group.id } }]
  return { process: yield* Processes.create({ name: unique("process"), steps }), task, steps }
})

const started = Effect.fnUntraced(function* (process: Processes.Process) {
  const run = yield* ProcessRuns.start(process.id)
  return run.started ? run.id : yield* Effect.die(new Error("not started"))
})

/** Links through the interface of workers, without the client. */
const link = (token: string, name = "linked") =>
  Effect.flatMap(Service, ({ raw }) =>
    raw("POST", "/worker-v1/link", { key: null, json: { link_token: token, name, tasks: [] } })
  )

/** A worker that was linked with this token. */
const linkedWith = Effect.fnUntraced(function* (token: Redacted.Redacted, tasks: ReadonlyArray<string>) {
  const { origin } = yield* Service
  const identity = yield* WorkerProtocol.link({ origin, linkToken: token, name: "of a group", tasks })
  return yield* workerAt(origin, identity, tasks)
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("workers", (it) => {
  it.effect("of a thousand tasks are given what waits for one of them, of one process and of several", () =>
    Effect.gen(function* () {
      const some = [yield* newProcess(), yield* newProcess()]
      const others = Array.from({ length: 998 }, (_, n) => `task ${n}`)
      const worker = yield* linkWorker([...others, ...some.map(({ task }) => task)])
      for (const { process } of some) yield* started(process)
      assert.include(
        some.map(({ process }) => process.id),
        (yield* worker.lease).process_id
      )
      assert.include(
        some.map(({ process }) => process.id),
        (yield* worker.lease).process_id
      )
    })
  )

  it.effect("are idle, busy or offline, by their leases and their last heartbeat", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { process, task } = yield* newProcess()
      const worker = yield* linkWorker([task])
      const id = worker.identity.workerId
      const state = Effect.map(Workers.get(id), (found) => found.state)
      const { last_seen_at, ...linked } = yield* Workers.get(id)
      assert.deepStrictEqual(linked, {
        id,
        name: "test",
        state: "idle",
        labels: [],
        draining: false,
        paused: null,
        worker_groups: [],
        step_runs: []
      })
      assert.match(last_seen_at ?? "", /Z$/)
      yield* started(process)
      const lease = yield* worker.lease
      assert.strictEqual(yield* state, "busy")
      yield* worker.protocol.start(lease)
      assert.strictEqual(yield* state, "busy")
      const heardOf = (secondsAgo: number) =>
        sql`UPDATE worker SET last_seen_at = ${new Date(Date.now() - secondsAgo * 1000).toISOString()} WHERE id = ${id}`
      yield* heardOf(11)
      assert.strictEqual(yield* state, "offline")
      yield* heardOf(5)
      assert.strictEqual(yield* state, "busy")
      yield* worker.protocol.heartbeat([lease.step_run_id])
      yield* worker.protocol.finish(lease, null)
      assert.strictEqual(yield* state, "idle")
      yield* heardOf(3600)
      assert.strictEqual(yield* state, "offline")
      const listed = (yield* Stream.runCollect(Workers.stream({ limit: 1 }))).find((one) => one.id === id)
      assert.isBelow(Date.parse(listed?.last_seen_at ?? ""), Date.now() - 3_599_000)
      assert.deepInclude(listed, { id, name: "test", state: "offline", step_runs: [] })
    })
  )

  it.effect("show their groups, and the step runs that they have in hand", () =>
    Effect.gen(function* () {
      const { process, task } = yield* newProcess()
      const worker = yield* linkWorker([task])
      const other = yield* linkWorker([task])
      const id = worker.identity.workerId
      const [first, second] = [
        yield* WorkerGroups.create(unique("first")),
        yield* WorkerGroups.create(unique("second"))
      ]
      yield* WorkerGroups.addWorker(second.id, id)
      yield* WorkerGroups.addWorker(first.id, id)
      const run = yield* started(process)
      const lease = yield* worker.lease
      const { step_runs, worker_groups } = yield* Workers.get(id)
      assert.deepStrictEqual(worker_groups, [
        { id: first.id, name: first.name },
        { id: second.id, name: second.name }
      ])
      assert.deepStrictEqual(step_runs, [{ id: lease.step_run_id, step: "s", process_run: { id: run } }])
      const listed = yield* Stream.runCollect(Workers.stream())
      assert.deepStrictEqual(listed.find((one) => one.id === id)?.step_runs, step_runs)
      const idle = listed.find((one) => one.id === other.identity.workerId)
      assert.deepInclude(idle, { state: "idle", step_runs: [], worker_groups: [] })
      yield* worker.protocol.start(lease)
      assert.deepStrictEqual((yield* Workers.get(id)).step_runs, step_runs)
      yield* worker.protocol.finish(lease, null)
      assert.deepStrictEqual((yield* Workers.get(id)).step_runs, [])
    })
  )

  it.effect("of one group are listed alone, page by page", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* linkWorker([]), yield* linkWorker([])].map(({ identity }) => identity.workerId)
      const group = yield* WorkerGroups.create(unique("members"))
      const members = Effect.map(Stream.runCollect(Workers.stream({ workerGroup: group.id, limit: 1 })), (all) =>
        all.map(({ id }) => id)
      )
      assert.deepStrictEqual(yield* members, [])
      for (const id of [one, two]) if (id !== undefined) yield* WorkerGroups.addWorker(group.id, id)
      assert.deepStrictEqual(yield* members, [two, one])
      yield* WorkerGroups.remove(group.id)
      assert.deepStrictEqual(yield* members, [])
    })
  )

  it.effect("are renamed, and keep their name without a new one", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { identity } = yield* linkWorker([])
      const path = `workers/${identity.workerId}`
      assert.strictEqual((yield* Workers.rename(identity.workerId, "renamed")).name, "renamed")
      assert.include((yield* raw("POST", path, { json: {} })).text, '"name":"renamed"')
      assert.include((yield* raw("PUT", path, { json: { name: "again" } })).text, '"name":"again"')
      assert.strictEqual((yield* Workers.get(identity.workerId)).name, "again")
      assertError(yield* raw("POST", path, { json: { name: "" } }), 400, "INVALID_REQUEST", /name/)
      assertError(yield* raw("POST", path, { json: { name: null } }), 400, "INVALID_REQUEST", /name/)
      assertError(yield* raw("POST", `workers/${nobody}`, { json: {} }), 404, "NOT_FOUND", /worker/)
      assertError(yield* raw("GET", "workers/nonsense"), 404, "NOT_FOUND", /worker nonsense/)
    })
  )

  it.effect("are deleted only without a lease, and are then dead", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { process, task } = yield* newProcess()
      const worker = yield* linkWorker([task])
      const path = `workers/${worker.identity.workerId}`
      yield* started(process)
      const lease = yield* worker.lease
      assertError(yield* raw("DELETE", path), 409, "CONFLICT", /lease/)
      yield* worker.protocol.start(lease)
      assertError(yield* raw("DELETE", path), 409, "CONFLICT", /lease/)
      yield* worker.protocol.finish(lease, null)
      yield* Workers.remove(worker.identity.workerId)
      assert.strictEqual((yield* raw("DELETE", path)).status, 404)
      assert.strictEqual((yield* raw("GET", path)).status, 404)
      const refused = yield* Effect.flip(worker.protocol.heartbeat([]))
      assert.strictEqual(refused._tag === "ControlRoomError" ? refused.reason._tag : refused._tag, "Forbidden")
    })
  )

  it.effect("that wait for work while they are deleted get none", () =>
    Effect.gen(function* () {
      const { process, task } = yield* newProcess()
      const worker = yield* linkWorker([task])
      const waiting = yield* Effect.forkChild(worker.protocol.lease({ free: 1, tasks: [task], waitSeconds: 1 }))
      yield* Effect.sleep("200 millis")
      yield* Workers.remove(worker.identity.workerId)
      yield* started(process)
      assert.deepStrictEqual(yield* Fiber.join(waiting), [])
      // Another one can use it.
      const other = yield* linkWorker([task])
      assert.strictEqual((yield* other.lease).process_id, process.id)
    })
  )

  it.effect("may leave by themselves, without a lease", () =>
    Effect.gen(function* () {
      const { origin, raw } = yield* Service
      const { process, task } = yield* newProcess()
      const worker = yield* linkWorker([task])
      const { unlink } = yield* WorkerProtocol.makeReports(origin, worker.identity)
      yield* started(process)
      const { lease } = yield* worker.take
      const refused = yield* Effect.flip(unlink)
      assert.strictEqual(refused._tag, "Conflict")
      yield* worker.protocol.finish(lease, null)
      yield* unlink
      assert.strictEqual((yield* raw("GET", `workers/${worker.identity.workerId}`)).status, 404)
      const headers = { authorization: `Bearer ${Redacted.value(worker.identity.token)}` }
      assert.strictEqual((yield* raw("DELETE", "/worker-v1/link", { key: null, headers })).status, 403)
    })
  )

  it.effect("link with a separate token once, before it expires", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const token = (json: object) => raw("POST", "workers/link-tokens", { json })
      assertError(yield* token({ expires_at: "2020-01-01T00:00:00Z" }), 400, "INVALID_REQUEST", /expires_at/)
      assertError(yield* token({ expires_at: "tomorrow" }), 400, "INVALID_REQUEST", /expires_at/)
      const made = bodyAs(LinkToken, yield* token({ expires_at: "2099-01-01T02:00:00+02:00" }))
      assert.strictEqual(made.expires_at, "2099-01-01T00:00:00.000Z")
      assert.strictEqual((yield* link(made.link_token)).status, 200)
      assertError(yield* link(made.link_token), 403, "FORBIDDEN", /link_token/)
      const late = bodyAs(LinkToken, yield* token({}))
      yield* sql`UPDATE link_token SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${late.id}`
      assertError(yield* link(late.link_token), 403, "FORBIDDEN", /expired/)
    })
  )
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("worker groups", (it) => {
  it.effect("are created, listed, renamed and deleted, under unique names", () =>
    Effect.gen(function* () {
      const { makeWorkspace, raw } = yield* Service
      const [a, b] = [unique("a"), unique("b")]
      const one = yield* WorkerGroups.create(a)
      const two = yield* WorkerGroups.create(b)
      assert.deepStrictEqual(yield* WorkerGroups.get(one.id), { id: one.id, name: a, paused: null })
      const listed = yield* Stream.runCollect(WorkerGroups.stream({ limit: 1 }))
      assert.deepStrictEqual(listed.slice(0, 2), [two, one])
      assertError(yield* raw("POST", "worker-groups", { json: { name: a } }), 409, "CONFLICT", new RegExp(a))
      const path = `worker-groups/${two.id}`
      assertError(yield* raw("POST", path, { json: { name: a } }), 409, "CONFLICT", new RegExp(a))
      assert.strictEqual((yield* WorkerGroups.rename(two.id, b)).name, b)
      assert.include((yield* raw("PUT", path, { json: {} })).text, b)
      assert.strictEqual((yield* WorkerGroups.rename(two.id, `${b}!`)).name, `${b}!`)
      for (const json of [{}, { name: "" }, { name: 5 }, { name: "x".repeat(256) }]) {
        assertError(yield* raw("POST", "worker-groups", { json }), 400, "INVALID_REQUEST", /name/)
      }
      const other = yield* makeWorkspace
      assert.strictEqual((yield* raw("GET", `/api/v1/workspaces/${other}/${path}`)).status, 403)
      yield* WorkerGroups.remove(two.id)
      for (const method of ["GET", "DELETE", "POST"]) {
        assertError(yield* raw(method, path, method === "POST" ? { json: {} } : {}), 404, "NOT_FOUND", /worker group/)
      }
    })
  )

  it.effect("have members, which stay when the group goes", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const one = yield* WorkerGroups.create(unique("one"))
      const two = yield* WorkerGroups.create(unique("two"))
      const { identity } = yield* linkWorker([])
      const worker = identity.workerId
      assert.deepStrictEqual(yield* WorkerGroups.addWorker(two.id, worker), {
        worker: { id: worker },
        worker_groups: [two]
      })
      const both = { worker: { id: worker }, worker_groups: [one, two] }
      assert.deepStrictEqual(yield* WorkerGroups.addWorker(one.id, worker), both)
      assert.deepStrictEqual(yield* WorkerGroups.addWorker(one.id, worker), both)
      const path = `worker-groups/${one.id}/workers`
      const add = (id: unknown) => raw("POST", path, { json: { worker: { id } } })
      assertError(yield* add(nobody), 404, "NOT_FOUND", /worker\.id: /)
      assertError(yield* add(5), 400, "INVALID_REQUEST", /worker\.id/)
      assert.strictEqual(
        (yield* raw("POST", `worker-groups/${nobody}/workers`, { json: { worker: { id: worker } } })).status,
        404
      )
      assert.deepStrictEqual((yield* WorkerGroups.removeWorker(one.id, worker)).worker_groups, [two])
      assertError(yield* raw("DELETE", `${path}/${worker}`), 404, "NOT_FOUND", /member/)
      yield* WorkerGroups.remove(two.id)
      assert.strictEqual((yield* Workers.get(worker)).id, worker)
      // And a group loses a deleted worker.
      yield* WorkerGroups.addWorker(one.id, worker)
      yield* Workers.remove(worker)
      assertError(yield* raw("DELETE", `${path}/${worker}`), 404, "NOT_FOUND", /member/)
      yield* WorkerGroups.remove(one.id)
    })
  )

  it.effect("take in any number of workers by a link token, until it is changed or deleted", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const group = yield* WorkerGroups.create(unique("group"))
      const other = yield* WorkerGroups.create(unique("other"))
      const path = `worker-groups/${group.id}/link-tokens`
      const made = yield* WorkerGroups.createLinkToken(group.id, { name: "autoscaler" })
      const { link_token, ...shown } = made
      assert.deepStrictEqual(shown, {
        id: made.id,
        name: "autoscaler",
        expires_at: null,
        worker_group: { id: group.id }
      })
      const text = Redacted.value(link_token)
      const secret = text.slice(-43)
      assert.deepStrictEqual(yield* WorkerGroups.getLinkToken(group.id, made.id), shown)
      assert.deepStrictEqual(yield* Stream.runCollect(WorkerGroups.linkTokens(group.id)), [shown])
      for (const url of [path, `${path}/${made.id}`]) assert.notInclude((yield* raw("GET", url)).text, secret)
      assert.notInclude(JSON.stringify(yield* rows), secret)

      const workers = yield* Effect.forEach([1, 2, 3], () => Effect.map(link(text), (answer) => bodyAs(Linked, answer)))
      assert.strictEqual(new Set(workers.map(({ worker_id }) => worker_id)).size, 3)
      for (const { worker_id } of workers) {
        assert.deepStrictEqual((yield* WorkerGroups.addWorker(group.id, worker_id)).worker_groups, [group])
      }
      // A wrong secret does not use it up.
      const wrong = text.slice(0, -43) + secret.split("").toReversed().join("")
      assertError(yield* link(wrong), 403, "FORBIDDEN", /link_token/)
      assert.strictEqual((yield* link(text)).status, 200)

      for (const url of [`worker-groups/${other.id}/link-tokens/${made.id}`, `${path}/${nobody}`]) {
        for (const method of ["GET", "POST", "DELETE"]) {
          assertError(yield* raw(method, url, method === "POST" ? { json: {} } : {}), 404, "NOT_FOUND", /link token/)
        }
      }
      const dated = yield* WorkerGroups.updateLinkToken(group.id, made.id, { expiresAt: "2099-01-01T00:00:00Z" })
      assert.strictEqual(dated.expires_at, "2099-01-01T00:00:00.000Z")
      assert.strictEqual(dated.name, "autoscaler")
      assert.strictEqual((yield* WorkerGroups.updateLinkToken(group.id, made.id, { name: "renamed" })).name, "renamed")
      assert.strictEqual((yield* WorkerGroups.getLinkToken(group.id, made.id)).expires_at, "2099-01-01T00:00:00.000Z")
      const past = { json: { name: "n", expires_at: "2020-01-01T00:00:00Z" } }
      assertError(yield* raw("POST", path, past), 400, "INVALID_REQUEST", /expires_at/)
      assertError(yield* raw("POST", `${path}/${made.id}`, past), 400, "INVALID_REQUEST", /expires_at/)
      assertError(yield* raw("POST", path, { json: {} }), 400, "INVALID_REQUEST", /name/)

      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE group_link_token SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${made.id}`
      assertError(yield* link(text), 403, "FORBIDDEN", /expired/)
      assert.isNull((yield* WorkerGroups.updateLinkToken(group.id, made.id, { expiresAt: null })).expires_at)
      assert.strictEqual((yield* link(text)).status, 200)
      yield* WorkerGroups.removeLinkToken(group.id, made.id)
      assertError(yield* link(text), 403, "FORBIDDEN", /link_token/)
      assert.strictEqual((yield* raw("DELETE", `${path}/${made.id}`)).status, 404)

      // Deleting a group deletes its tokens.
      const last = bodyAs(GroupLinkTokenCreated, yield* raw("POST", path, { json: { name: "n", expires_at: null } }))
      yield* WorkerGroups.remove(group.id)
      assert.strictEqual((yield* link(Redacted.value(last.link_token))).status, 403)
      assert.strictEqual((yield* raw("GET", path)).status, 404)
    })
  )

  it.effect("bind a step: only their workers take it", () =>
    Effect.gen(function* () {
      const group = yield* WorkerGroups.create(unique("group"))
      const { process, task } = yield* newProcess(group)
      const outsider = yield* linkWorker([task])
      const { link_token } = yield* WorkerGroups.createLinkToken(group.id, { name: "n" })
      yield* started(process)
      const ask = (worker: typeof outsider) => worker.protocol.lease({ free: 5, tasks: [task], waitSeconds: 0 })
      assert.deepStrictEqual(yield* ask(outsider), [])
      const insider = yield* linkedWith(link_token, [task])
      assert.strictEqual((yield* ask(insider)).length, 1)

      // A waiting worker gets it as soon as it is in the group.
      yield* started(process)
      const waiting = yield* Effect.forkChild(
        outsider.protocol.lease({ free: 1, tasks: [task], waitSeconds: 20 }).pipe(Effect.timeout("10 seconds"))
      )
      yield* Effect.sleep("200 millis")
      yield* WorkerGroups.addWorker(group.id, outsider.identity.workerId)
      assert.strictEqual((yield* Fiber.join(waiting)).length, 1)
      // And none when it has left.
      yield* WorkerGroups.removeWorker(group.id, outsider.identity.workerId)
      yield* started(process)
      assert.deepStrictEqual(yield* ask(outsider), [])
      // Steps without a group are for all.
      const free = yield* newProcess()
      yield* started(free.process)
      const [lease] = yield* insider.protocol.lease({ free: 5, tasks: [free.task], waitSeconds: 0 })
      assert.strictEqual(lease?.process_id, free.process.id)
    })
  )

  it.effect("must be there when a step names them, and stay while one does", () =>
    Effect.gen(function* () {
      const { makeWorkspace, raw, rows } = yield* Service
      const { process, steps } = yield* newProcess()
      const before = yield* rows
      const naming = (id: string) => ({ name: unique("p"), steps: [{ ...steps[0], worker_group: { id } }] })
      for (const path of ["processes", `processes/${process.id}`]) {
        const answer = yield* raw("POST", path, { json: naming(nobody) })
        assertError(answer, 404, "NOT_FOUND", /steps\.0\.worker_group\.id: .*worker group/)
      }
      assert.deepStrictEqual(yield* rows, before)
      const other = yield* makeWorkspace
      const sql = yield* SqlClient.SqlClient
      const foreign = yield* WorkerGroups.create(unique("foreign"))
      yield* sql`UPDATE worker_group SET workspace_id = ${other} WHERE id = ${foreign.id}`
      assert.strictEqual((yield* raw("POST", "processes", { json: naming(foreign.id) })).status, 404)

      const group = yield* WorkerGroups.create(unique("group"))
      const bound = yield* newProcess(group)
      const definition = yield* Processes.getDefinition(bound.process.id)
      assert.deepStrictEqual(definition.steps[0]?.worker_group, { id: group.id })
      const path = `worker-groups/${group.id}`
      assertError(yield* raw("DELETE", path), 409, "CONFLICT", new RegExp(bound.process.name))
      // A run keeps the steps that it started with.
      const { link_token } = yield* WorkerGroups.createLinkToken(group.id, { name: "n" })
      const worker = yield* linkedWith(link_token, [bound.task])
      const run = yield* started(bound.process)
      const unbound = [{ name: "s", task: { name: bound.task }, env: { worker_group: `{"id":"${group.id}"}` } }]
      yield* Processes.update(bound.process.id, { name: bound.process.name, steps: unbound })
      assertError(yield* raw("DELETE", path), 409, "CONFLICT", new RegExp(run))
      const { lease, session } = yield* worker.take
      yield* session.release(lease.work_item_id, { state: "FAILED", exception })
      yield* worker.protocol.finish(lease, null)
      // A retry would need the group.
      assertError(yield* raw("DELETE", path), 409, "CONFLICT", /unresolved/)
      yield* WorkItems.markAsDone([lease.work_item_id])
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
      yield* WorkerGroups.remove(group.id)
    })
  )
})
