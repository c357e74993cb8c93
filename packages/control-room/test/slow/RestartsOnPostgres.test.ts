/**
 * Two nodes over a Postgres that is restarted under load: clients get 503s, and nothing is lost or done twice. Twice in
 * the short form, eight times in the long one.
 */
import { assert, it } from "@effect/vitest"
import { startServer } from "@signalbox/testkit/Postgres"
import { sized } from "@signalbox/testkit/Soak"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { bodyAs } from "../support/Http.ts"
import { layerIn, linkWorkerAt, masterKey, Service, temporaryFolder } from "../support/Service.ts"

const restarts = sized(2, 8)
/** Calls that succeed between two restarts. */
const requestsBetween = 60

const Created = Schema.Struct({ id: Schema.String })

it.live(
  "a Postgres that is restarted under load causes 503s and no 500, and every request is carried out once",
  () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startServer()),
        ({ remove }) => Effect.promise(remove)
      )
      const folder = yield* temporaryFolder
      const storage = { data: folder, database: { url: Redacted.make(server.url) }, masterKey }
      const logged: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void logged.push(`${logLevel} ${String(message)}`))
      const node = Effect.map(
        Layer.build(
          Layer.fresh(layerIn(folder, { rateLimit: null }, storage)).pipe(Layer.provideMerge(Logger.layer([logger])))
        ),
        (context) => ({ ...Context.get(context, Service), context })
      )
      const nodes = [yield* node, yield* node] as const
      const [first] = nodes
      const steps = [{ name: "a", task: { name: "a" } }]
      const process = bodyAs(Created, yield* first.raw("POST", "processes", { json: { name: "p", steps } })).id

      const statuses = new Map<number, number>()
      const ids: Array<string> = []
      let sent = 0
      const stopping = yield* Deferred.make<void>()
      const client = (at: (typeof nodes)[number]) =>
        Effect.gen(function* () {
          while (!(yield* Deferred.isDone(stopping))) {
            const key = `request-${sent++}`
            for (;;) {
              const answer = yield* at.raw("POST", "work-items", {
                json: { process: { id: process } },
                headers: { "idempotency-key": key }
              })
              statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
              if (answer.status === 200) {
                ids.push(bodyAs(Created, answer).id)
                break
              }
              assert.strictEqual(answer.status, 503, answer.text)
              assert.isDefined(answer.headers["retry-after"])
              yield* Effect.sleep("20 millis")
            }
          }
        })
      // Long polls keep waiting while the database is unavailable.
      const worker = yield* Effect.provide(linkWorkerAt(nodes[1].origin, ["nothing"]), nodes[1].context)
      const lease = Effect.ignore(worker.protocol.lease({ free: 1, tasks: ["nothing"], waitSeconds: 2 }))
      const leasing = yield* Effect.forkChild(Effect.forever(Effect.andThen(lease, Effect.sleep("10 millis"))))
      const clients = yield* Effect.forkChild(
        Effect.forEach([...nodes, ...nodes, ...nodes], client, { concurrency: "unbounded", discard: true })
      )
      const until = (condition: () => boolean) =>
        Effect.repeat(Effect.delay(Effect.sync(condition), "5 millis"), { until: (met) => met })
      const readyAs = (status: number) =>
        Effect.forEach(nodes, ({ raw }) =>
          Effect.repeat(Effect.delay(raw("GET", "/readyz"), "5 millis"), {
            until: (answer) => answer.status === status
          })
        )
      const drill = Effect.gen(function* () {
        for (let restart = 0; restart < restarts; restart++) {
          const before = ids.length
          yield* until(() => ids.length >= before + requestsBetween)
          yield* Effect.promise(server.stop)
          yield* readyAs(503)
          yield* Effect.promise(server.start)
          yield* readyAs(200)
        }
        const before = ids.length
        yield* until(() => ids.length >= before + requestsBetween)
        yield* Deferred.succeed(stopping, undefined)
      })
      // A client that gets another error ends the drill.
      yield* Effect.raceFirst(drill, Effect.andThen(Fiber.join(clients), Effect.never))
      yield* Fiber.join(clients)
      yield* Fiber.interrupt(leasing)

      assert.sameMembers([...statuses.keys()], [200, 503])
      const rows = (yield* first.rows)["work_item"] ?? []
      assert.lengthOf(rows, sent)
      assert.strictEqual(new Set(ids).size, sent)
      assert.deepStrictEqual(
        logged.filter((line) => /^(Error|Fatal)/.test(line)),
        []
      )
      yield* Effect.logInfo("drill", { restarts, requests: sent, statuses: Object.fromEntries(statuses) })
    }).pipe(Effect.scoped),
  300_000
)
