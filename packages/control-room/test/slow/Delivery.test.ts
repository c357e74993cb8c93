/** Deliveries when the service is killed: every event is delivered, and none that did not happen. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Webhooks from "@signalbox/api/Webhooks"
import { soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import * as StorageLayers from "../../src/internal/service/StorageLayers.ts"
import * as Child from "../support/Child.ts"
import { type Received, receiver } from "../support/Receiver.ts"
import { layerIn, linkWorkerAt, onPostgres, Service, storageIn, temporaryFolder } from "../support/Service.ts"

const events = ["process_run.started", "process_run.completed", "process_run.unresolved"] as const

/** Each kill takes a new process: on Postgres in the long form. */
const skipped = onPostgres && !soak

const newProcess = (name: string, maxParallel: number) =>
  Processes.create({ name, steps: [{ name: "only", task: { name }, max_parallel: maxParallel }] })

it.live.skipIf(skipped)("attempts in progress when the service was killed are repeated, with the same bytes", () =>
  Effect.gen(function* () {
    const target = yield* receiver
    const folder = yield* temporaryFolder
    const child = yield* Child.start(folder)
    const hung: Array<Received> = []
    yield* target.on("/hook", (received) => hung.push(received))
    const webhook = yield* Effect.gen(function* () {
      const webhook = yield* Webhooks.create({ endpoint: `${target.origin}/hook`, events })
      for (let index = 0; index < 7; index++) yield* Webhooks.test(webhook.id)
      return webhook
    }).pipe(Effect.provide(child.client))
    yield* target.take("/hook", 4)
    yield* child.kill
    yield* target.on("/hook", (received) => received.answer(204))
    yield* Effect.gen(function* () {
      // With Postgres no node knows that the process has ended: its claims expire after 30 seconds.
      if (onPostgres) yield* (yield* Service).deliverIn(31_000)
      yield* target.take("/hook", 11)
      const all = target.at("/hook")
      const bytes = new Map<unknown, Set<string>>()
      for (const received of all) {
        yield* Webhooks.verify({ ...received, secret: webhook.secret, scheme: "standard" })
        const id = received.headers["webhook-id"]
        bytes.set(id, (bytes.get(id) ?? new Set()).add(received.body.toString()))
      }
      assert.strictEqual(bytes.size, 7)
      for (const bodies of bytes.values()) assert.strictEqual(bodies.size, 1)
      for (const { headers } of hung) {
        const again = all.filter((one) => one.headers["webhook-id"] === headers["webhook-id"])
        assert.strictEqual(again.length, 2)
      }
      const log = yield* Webhooks.deliveries(webhook.id).pipe(
        Stream.runCollect,
        Effect.repeat({
          until: (list) => list.every(({ state }) => state === "delivered"),
          schedule: Schedule.spaced("20 millis")
        })
      )
      assert.strictEqual(log.length, 7)
    }).pipe(Effect.provide(layerIn(folder)))
  }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
)

it.live.skipIf(skipped)("what was committed before the service was killed is delivered, and nothing else", () =>
  Effect.gen(function* () {
    const target = yield* receiver
    const folder = yield* temporaryFolder
    const child = yield* Child.start(folder)
    const { process, secret } = yield* Effect.gen(function* () {
      const process = yield* newProcess("burst", 1)
      const { secret } = yield* Webhooks.create({ endpoint: `${target.origin}/runs`, events, process: process.id })
      const worker = yield* linkWorkerAt(child.origin, ["burst"])
      const one = Effect.gen(function* () {
        yield* ProcessRuns.start(process.id)
        const { lease } = yield* worker.take
        yield* worker.protocol.finish(lease, null)
      })
      const burst = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 4 }, () => Effect.exit(Effect.forever(one))),
          { concurrency: "unbounded" }
        )
      )
      yield* target.take("/runs", 60)
      yield* child.kill
      // The process is dead and callers keep retrying: enough of them.
      yield* Fiber.interrupt(burst)
      return { process, secret }
    }).pipe(Effect.provide(child.client))

    yield* Effect.gen(function* () {
      const { deliverIn } = yield* Service
      const runs = yield* Stream.runCollect(ProcessRuns.stream({ process: process.id }))
      const expected = runs.flatMap(({ id, state }) =>
        state === "new" ? [] : state === "in_progress" ? [`${id} started`] : [`${id} started`, `${id} completed`]
      )
      assert.isAbove(expected.length, 59)
      const told = Effect.gen(function* () {
        const all = new Set<string>()
        for (const received of target.at("/runs")) {
          const { action, payload } = yield* Webhooks.receive({ ...received, secret, scheme: "standard" })
          all.add(`${payload.processRunId} ${action}`)
        }
        return all
      })
      yield* Effect.repeat(Effect.andThen(deliverIn(onPostgres ? 31_000 : 0), told), {
        until: ({ size }) => size >= expected.length,
        schedule: Schedule.spaced("20 millis")
      })
      assert.sameMembers([...(yield* told)], expected)
    }).pipe(Effect.provide(layerIn(folder)))
  }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
)

it.live("a service that stops releases its claims", () =>
  Effect.gen(function* () {
    const target = yield* receiver
    const folder = yield* temporaryFolder
    yield* target.on("/hook", () => {})
    const webhook = yield* Effect.gen(function* () {
      const webhook = yield* Webhooks.create({ endpoint: `${target.origin}/hook`, events })
      yield* Webhooks.test(webhook.id)
      yield* target.take("/hook", 1)
      return webhook.id
    }).pipe(Effect.provide(layerIn(folder)))
    const claims = yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return yield* sql`SELECT state, attempts, claim, claimed_until FROM webhook_delivery`
    }).pipe(
      Effect.provide(Layer.provide(StorageLayers.layerStorage(storageIn(folder)), NodeServices.layer)),
      Effect.map((rows) => rows.map((row) => ({ ...row })))
    )
    assert.deepStrictEqual(claims, [{ state: "pending", attempts: 0, claim: null, claimed_until: null }])
    yield* target.on("/hook", (received) => received.answer(200))
    const delivered = yield* Effect.gen(function* () {
      yield* target.take("/hook", 2)
      return yield* Effect.repeat(Stream.runHead(Webhooks.deliveries(webhook)), {
        until: (delivery) => delivery._tag === "Some" && delivery.value.state === "delivered",
        schedule: Schedule.spaced("20 millis")
      })
    }).pipe(Effect.provide(Layer.fresh(layerIn(folder))))
    assert.strictEqual(delivered._tag === "Some" ? delivered.value.attempts : 0, 1)
  }).pipe(Effect.scoped)
)
