/**
 * Several nodes on one Postgres: any of them serves any request, none repeats what another has done, and either may be
 * killed.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, it, layer as withLayer } from "@effect/vitest"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Webhooks from "@signalbox/api/Webhooks"
import type { WorkItemId } from "@signalbox/api/contract/Ids"
import { sized, soak } from "@signalbox/testkit/Soak"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Child from "../support/Child.ts"
import { node } from "../support/Nodes.ts"
import { receiver } from "../support/Receiver.ts"
import { layerIn, linkWorkerAt, Service, temporaryFolder } from "../support/Service.ts"

const events = ["process_run.started", "process_run.completed", "process_run.unresolved"] as const

const newProcess = (task: string, maxParallel: number, attempts: number) =>
  Processes.create({
    name: task,
    steps: [
      {
        name: "only",
        task: { name: task },
        max_parallel: maxParallel,
        retry: { max_attempts: attempts, delay_seconds: 0 }
      }
    ]
  })

/** A worker that creates one output of each item, until two polls return nothing; reports its step runs. */
const work = Effect.fnUntraced(function* (origin: string, task: string, taken: Array<string>) {
  const worker = yield* linkWorkerAt(origin, [task])
  for (;;) {
    const leases = yield* worker.protocol.lease({ free: 3, tasks: [task], waitSeconds: 1 })
    if (leases.length === 0) return
    for (const lease of leases) {
      taken.push(lease.step_run_id)
      yield* worker.protocol.start(lease)
      const session = yield* worker.session(lease)
      for (let item: WorkItemId | null = lease.work_item_id; item !== null;) {
        yield* session.createOutput(item, yield* session.payload(item))
        yield* session.release(item, { state: "COMPLETED" })
        item = yield* session.reserveNext
      }
      yield* worker.protocol.finish(lease, null)
    }
  }
})

const crew = (origin: string, task: string, taken: Array<string>) =>
  Effect.all(
    Array.from({ length: 3 }, () => work(origin, task, taken)),
    { concurrency: "unbounded", discard: true }
  )

const payloadsOf = (run: Parameters<typeof Outputs.stream>[0]) =>
  Effect.map(Stream.runCollect(Outputs.stream(run)), (outputs) =>
    outputs.map(({ payload }) => Number(payload)).sort((a, b) => a - b)
  )

const items = sized(24, 500)

type Node = Effect.Success<ReturnType<typeof node>>

/** A node in this process, with the interface of one in a separate process. */
const nodeClient = ({ context, origin, workspaceId }: Node) => ({
  origin,
  workspaceId,
  client: Layer.succeedContext(context)
})

it.live(`two nodes share ${items} items and ${items / 2} deliveries, and nothing is taken twice`, () =>
  Effect.gen(function* () {
    const target = yield* receiver
    const folder = yield* temporaryFolder
    const start = soak ? Child.start(folder) : Effect.map(node(folder), nodeClient)
    const [a, b] = [yield* start, yield* start]
    assert.strictEqual(a.workspaceId, b.workspaceId)
    const { process, secret } = yield* Effect.gen(function* () {
      const process = yield* newProcess("shared", 4, 1)
      const { secret } = yield* Webhooks.create({ endpoint: `${target.origin}/runs`, events, process: process.id })
      return { process, secret }
    }).pipe(Effect.provide(a.client))
    const runs = yield* Effect.forEach(
      Array.from({ length: items / 4 }, (_, index) => index),
      (index) =>
        Effect.gen(function* () {
          const run = yield* ProcessRuns.start(process.id, { payloads: [0, 1, 2, 3].map((n) => index * 4 + n) })
          return run.started ? run.id : yield* Effect.die(new Error("not started"))
        }).pipe(Effect.provide(index % 2 === 0 ? a.client : b.client)),
      { concurrency: 4 }
    )
    const [atA, atB]: [Array<string>, Array<string>] = [[], []]
    yield* Effect.all(
      [
        Effect.provide(crew(a.origin, "shared", atA), a.client),
        Effect.provide(crew(b.origin, "shared", atB), b.client)
      ],
      { concurrency: "unbounded" }
    )
    assert.strictEqual(new Set([...atA, ...atB]).size, atA.length + atB.length, "a step run was leased twice")
    assert.isAbove(atA.length, 0)
    assert.isAbove(atB.length, 0)
    const made = yield* Effect.forEach(runs, payloadsOf).pipe(Effect.provide(b.client))
    assert.deepStrictEqual(
      made.flat().sort((x, y) => x - y),
      Array.from({ length: items }, (_, n) => n)
    )
    const received = yield* target.take("/runs", items / 2)
    const ids = received.map(({ headers }) => headers["webhook-id"])
    assert.strictEqual(new Set(ids).size, ids.length, "a delivery was made twice")
    const told = yield* Effect.forEach(received, (one) => Webhooks.receive({ ...one, secret, scheme: "standard" }))
    assert.sameMembers(
      told.map(({ action, payload }) => `${payload.processRunId} ${action}`),
      runs.flatMap((id) => [`${id} started`, `${id} completed`])
    )
  }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
)

it.live("either node may be killed: everything is done, and delivered, by the others", () =>
  Effect.gen(function* () {
    const target = yield* receiver
    const folder = yield* temporaryFolder
    const shares = soak ? [15, 45] : [12]
    const payloads = Array.from({ length: sized(40, 90) }, (_, n) => n)
    let left = yield* Child.start(folder)
    const { process, run, secret } = yield* Effect.gen(function* () {
      // The step runs of killed workers remain for 10 seconds: hence room for those of three crews.
      const process = yield* newProcess("killed", 30, 100)
      const { secret } = yield* Webhooks.create({ endpoint: `${target.origin}/runs`, events, process: process.id })
      const run = yield* ProcessRuns.start(process.id, { payloads })
      return { process, secret, run: run.started ? run.id : yield* Effect.die(new Error("not started")) }
    }).pipe(Effect.provide(left.client))
    const countOf = Effect.map(payloadsOf(run), (made) => made.length)
    for (const share of shares) {
      const [old, next] = [left, yield* Child.start(folder)]
      yield* Effect.gen(function* () {
        const crews = yield* Effect.forkChild(
          Effect.forEach(
            [old, next],
            ({ client, origin }) => Effect.exit(Effect.provide(crew(origin, "killed", []), Layer.fresh(client))),
            { concurrency: "unbounded" }
          )
        )
        yield* Effect.repeat(Effect.delay(countOf, "20 millis"), { until: (done) => done >= share, times: 4000 })
        // More runs begin while one of the two is killed.
        const starts = yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: 10 }, (_, n) => n),
            (n) => ProcessRuns.start(process.id, { payloads: [n] })
          )
        )
        yield* old.kill
        yield* Fiber.join(starts)
        yield* Fiber.interrupt(crews)
      }).pipe(Effect.provide(next.client))
      left = next
    }
    yield* Effect.gen(function* () {
      const { deliverIn, origin, tickIn } = yield* Service
      // The workers are lost, and leases that were not started expire.
      yield* tickIn(31_000)
      yield* work(origin, "killed", [])
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
      assert.deepStrictEqual(yield* payloadsOf(run), payloads)
      const runs = yield* Stream.runCollect(ProcessRuns.stream({ process: process.id }))
      assert.lengthOf(runs, 1 + 10 * shares.length)
      for (const { state } of runs) assert.strictEqual(state, "completed")
      yield* deliverIn(31_000)
      const told = new Set<string>()
      for (const one of target.at("/runs")) {
        const { action, payload } = yield* Webhooks.receive({ ...one, secret, scheme: "standard" })
        told.add(`${payload.processRunId} ${action}`)
      }
      assert.sameMembers(
        [...told],
        runs.flatMap(({ id }) => [`${id} started`, `${id} completed`])
      )
    }).pipe(Effect.provide(layerIn(folder)))
  }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
)

class Three extends Context.Service<Three, readonly [Node, Node, Node]>()("test/Three") {
  static readonly layer = Layer.effect(
    Three,
    Effect.flatMap(temporaryFolder, (folder) => Effect.all([node(folder), node(folder), node(folder)]))
  )
}

withLayer(Layer.merge(Three.layer, NodeHttpClient.layerUndici), { excludeTestServices: true, timeout: "4 minutes" })(
  "nodes of one room",
  (it) => {
    it.effect("a lease that waits on one node wakes when another creates work", () =>
      Effect.gen(function* () {
        const [a, b] = yield* Three
        const worker = yield* Effect.provide(linkWorkerAt(b.origin, ["wake"]), b.context)
        const process = yield* Effect.provide(newProcess("wake", 1, 1), a.context)
        for (let round = 0; round < 3; round++) {
          const waiting = yield* Effect.forkChild(worker.protocol.lease({ free: 1, tasks: ["wake"], waitSeconds: 20 }))
          yield* Effect.sleep("300 millis")
          yield* Effect.provide(ProcessRuns.start(process.id), a.context)
          assert.lengthOf(yield* Fiber.join(waiting), 1)
        }
      })
    )

    it.effect("a key that is revoked on one node is soon refused on the other", () =>
      Effect.gen(function* () {
        const [a, b] = yield* Three
        const key = yield* a.makeKey(["Workspace.manage_api_keys"])
        const [, id = ""] = key.split("_")
        for (const { raw } of [a, b]) assert.strictEqual((yield* raw("GET", "api-keys", { key })).status, 200)
        assert.strictEqual((yield* a.raw("DELETE", `api-keys/${id}`)).status, 200)
        assert.strictEqual((yield* a.raw("GET", "api-keys", { key })).status, 403)
        yield* Effect.repeat(b.raw("GET", "api-keys", { key }), {
          until: ({ status }) => status === 403,
          schedule: Schedule.spaced("20 millis")
        })
      })
    )

    it.effect("a request that comes to both nodes with one idempotency key is carried out once", () =>
      Effect.gen(function* () {
        const [a, b] = yield* Three
        const process = yield* Effect.provide(newProcess("once", 1, 1), a.context)
        const answers = yield* Effect.all(
          Array.from({ length: 20 }, (_, index) =>
            (index % 2 === 0 ? a : b).raw("POST", "work-items", {
              json: { process: { id: process.id } },
              headers: { "idempotency-key": "both" }
            })
          ),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
        assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
        assert.strictEqual(answers.filter(({ headers }) => headers["idempotent-replayed"] === undefined).length, 1)
      }).pipe(Effect.scoped)
    )

    it.effect("an endpoint gets at most four concurrent requests from all nodes together", () =>
      Effect.gen(function* () {
        const target = yield* receiver
        const nodes = yield* Three
        const [first] = nodes
        const deliveries = sized(24, 60)
        let most = 0
        yield* target.on("/busy", (received) => {
          most = Math.max(most, target.open())
          setTimeout(() => received.answer(200), 20)
        })
        yield* Effect.gen(function* () {
          const { id } = yield* Webhooks.create({ endpoint: `${target.origin}/busy`, events })
          yield* Effect.forEach(Array.from({ length: deliveries }), () => Webhooks.test(id), { concurrency: 6 })
        }).pipe(Effect.provide(first.context))
        yield* Effect.forEach(nodes, ({ deliverIn }) => deliverIn(0), { concurrency: "unbounded" })
        yield* target.take("/busy", deliveries)
        assert.isAtMost(most, 4)
        assert.isAbove(most, 1)
        assert.strictEqual(new Set(target.at("/busy").map(({ headers }) => headers["webhook-id"])).size, deliveries)
        assert.lengthOf(target.at("/busy"), deliveries)
      }).pipe(Effect.scoped)
    )
  }
)

it.live("timers do no harm on all nodes concurrently", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const nodes = [yield* node(folder), yield* node(folder), yield* node(folder)]
    const [first] = nodes
    if (first === undefined) return assert.fail("no node")
    const run = yield* Effect.gen(function* () {
      const process = yield* newProcess("lost", 20, 3)
      const worker = yield* linkWorkerAt(first.origin, ["lost"])
      const run = yield* ProcessRuns.start(process.id, { payloads: Array.from({ length: 20 }, (_, n) => n) })
      const leases = yield* worker.protocol.lease({ free: 20, tasks: ["lost"], waitSeconds: 5 })
      assert.lengthOf(leases, 20)
      yield* Effect.forEach(leases, (lease) => worker.protocol.start(lease), { concurrency: 5 })
      return run.started ? run.id : yield* Effect.die(new Error("not started"))
    }).pipe(Effect.provide(first.context))
    yield* Effect.forEach(nodes, ({ tickIn }) => tickIn(11_000), { concurrency: "unbounded" })
    // Each item was released once: three attempts are allowed, and one was used.
    const rows = (yield* first.rows)["work_item"] ?? []
    assert.lengthOf(rows, 20)
    for (const row of rows) {
      assert.strictEqual(typeof row === "object" && row !== null && "attempts" in row ? row.attempts : null, 1)
    }
    assert.strictEqual((yield* Effect.provide(ProcessRuns.get(run), first.context)).state, "in_progress")
    const taken: Array<string> = []
    yield* Effect.provide(work(first.origin, "lost", taken), first.context)
    assert.strictEqual((yield* Effect.provide(ProcessRuns.get(run), first.context)).state, "completed")
  }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
)
