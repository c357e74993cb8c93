import { assert, it } from "@effect/vitest"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Activity from "effect/workflow/Activity"
import * as Workflow from "effect/workflow/Workflow"
import { startServer } from "@signalbox/testkit/Postgres"
import { FlowEngine } from "../src/FlowEngine.ts"
import { embedded } from "./support/EmbeddedSuite.ts"
import { breathe, until } from "./support/Polling.ts"
import * as Killing from "./support/Killing.ts"
import { parts, postgresOptions, postgresUrl, temporaryFile, temporarySchema } from "./support/Engines.ts"

embedded(
  "the embedded engine on Postgres",
  Effect.map(temporarySchema, (schema) => FlowEngine.layerPostgres(postgresOptions(schema)))
)

it.live("what runs is stopped while the lock is lost, and goes on from what is recorded when it is held again", () =>
  Effect.gen(function* () {
    const schema = yield* temporarySchema
    const log: Array<string> = []
    const go = yield* Deferred.make<void>()
    const W = Workflow.make("Paused", { payload: {}, success: Schema.String, idempotencyKey: () => "1" })
    const step = (name: string, work: Effect.Effect<void> = Effect.void) =>
      Activity.make({
        name,
        execute: Effect.andThen(
          Effect.sync(() => log.push(name)),
          work
        )
      })
    const flow = W.toLayer(
      Effect.fnUntraced(function* () {
        yield* step("first")
        yield* step("second", Deferred.await(go))
        return "done"
      })
    )
    const sql = yield* Effect.map(
      Layer.build(PgClient.layer({ url: Redacted.make(postgresUrl), maxConnections: 2 })),
      (context) => Effect.provideContext(PgClient.PgClient, context)
    )
    yield* Effect.gen(function* () {
      const result = yield* Effect.forkChild(W.execute({}))
      yield* until(Effect.sync(() => log.includes("second")))
      const client = yield* sql
      const ended = yield* client`
        SELECT pg_terminate_backend(pid) FROM pg_locks
        WHERE locktype = 'advisory' AND granted
          AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('signalbox flows ' || ${schema}, 0)`
      assert.strictEqual(ended.length, 1)
      yield* until(Effect.sync(() => log.filter((name) => name === "second").length === 2))
      yield* breathe
      yield* Deferred.succeed(go, undefined)
      assert.strictEqual(yield* Fiber.join(result), "done")
      assert.deepStrictEqual(log, ["first", "second", "second"])
    }).pipe(Effect.provide(Layer.provideMerge(flow, parts(FlowEngine.layerPostgres(postgresOptions(schema))))))
  }).pipe(Effect.scoped)
)

it.live("what was under way in a process that was killed goes on in the next, from what is recorded", () =>
  Effect.gen(function* () {
    const schema = yield* temporarySchema
    const file = yield* temporaryFile
    const [notes, gate] = [`${file}.notes`, `${file}.gate`]
    const args = ["postgres", schema, notes, gate, "1"]
    const first = yield* Killing.start(args)
    yield* until(Effect.sync(() => Killing.begun(notes).includes("second 0")))
    yield* first.kill
    yield* Killing.open(gate)
    const second = yield* Killing.start(args)
    assert.include(yield* second.output, "complete 1")
    assert.deepStrictEqual(Killing.begun(notes), ["first 0", "second 0", "second 0"])
  }).pipe(Effect.scoped)
)

it.live("a database that refuses is an error that says so, without the password", () =>
  Effect.gen(function* () {
    const url = new URL(postgresUrl)
    url.password = "wrong-secret"
    url.username = "nobody"
    const engine = FlowEngine.layerPostgres({ url: Redacted.make(url.href) })
    const error = yield* Effect.flip(Effect.scoped(Layer.build(engine)))
    assert.include(error.message, "the database of the flows cannot be used")
    assert.notInclude(JSON.stringify(error), "wrong-secret")
  })
)

it.live("what a step did while the database was away is recorded when it is back, and not done again", () =>
  Effect.gen(function* () {
    const server = yield* Effect.acquireRelease(
      Effect.promise(() => startServer()),
      (server) => Effect.promise(() => server.remove())
    )
    const log: Array<string> = []
    const go = yield* Deferred.make<void>()
    const W = Workflow.make("Away", { payload: {}, success: Schema.String, idempotencyKey: () => "1" })
    const step = (name: string, work: Effect.Effect<void> = Effect.void) =>
      Activity.make({
        name,
        execute: Effect.andThen(
          Effect.sync(() => log.push(name)),
          work
        )
      })
    const flow = W.toLayer(
      Effect.fnUntraced(function* () {
        yield* step("first", Effect.uninterruptible(Deferred.await(go)))
        yield* step("second")
        return "done"
      })
    )
    const engine = parts(FlowEngine.layerPostgres({ url: Redacted.make(server.url) }))
    yield* Effect.gen(function* () {
      const result = yield* Effect.forkChild(W.execute({}))
      yield* until(Effect.sync(() => log.includes("first")))
      yield* Effect.promise(() => server.stop())
      yield* Deferred.succeed(go, undefined)
      yield* breathe
      yield* Effect.promise(() => server.start())
      assert.strictEqual(yield* Fiber.join(result), "done")
      assert.deepStrictEqual(log, ["first", "second"])
    }).pipe(Effect.provide(Layer.provideMerge(flow, engine)))
  }).pipe(Effect.scoped)
)
