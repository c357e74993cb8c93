/** A Postgres that disappears without closing its connections, behind a proxy that stops forwarding. */
import { assert, it } from "@effect/vitest"
import { startProxy } from "@signalbox/testkit/TcpProxy"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { QueryDeadline } from "@signalbox/sql/QueryDeadline"
import { assertError } from "../support/Http.ts"
import { layerIn, Service, storageIn, temporaryFolder } from "../support/Service.ts"

it.live(
  "a server that no longer answers is a 503, its connections are dropped, and all goes on when it answers again",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const storage = storageIn(folder)
      const { database } = storage
      if (database === undefined) return assert.fail("no Postgres")
      const url = new URL(Redacted.value(database.url))
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => startProxy({ host: url.hostname, port: Number(url.port || 5432) })),
        ({ close }) => Effect.promise(close)
      )
      url.hostname = "127.0.0.1"
      url.port = String(proxy.port)
      const logged: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void logged.push(`${logLevel} ${String(message)}`))
      yield* Effect.gen(function* () {
        const { raw } = yield* Service
        // Several connections, each of which would take a deadline to be detected.
        yield* Effect.all(
          Array.from({ length: 40 }, () => raw("GET", "work-items")),
          { concurrency: "unbounded" }
        )
        assert.strictEqual((yield* raw("GET", "/readyz")).status, 200)
        proxy.freeze()
        const answers = yield* Effect.all(
          [raw("GET", "/readyz"), raw("GET", "work-items"), raw("POST", "assets", { json: { name: "away" } })],
          { concurrency: "unbounded" }
        )
        for (const answer of answers) assertError(answer, 503, "UNAVAILABLE", /the database is unavailable/)
        assert.strictEqual((yield* raw("GET", "/healthz")).status, 200)
        // Except the one that listens to other nodes, which has a separate deadline.
        yield* Effect.repeat(
          Effect.delay(
            Effect.sync(() => proxy.stale()),
            "50 millis"
          ),
          { until: (stale) => stale <= 1 }
        )
        proxy.thaw()
        yield* Effect.repeat(Effect.delay(raw("GET", "/readyz"), "50 millis"), {
          until: ({ status }) => status === 200
        })
        assert.strictEqual((yield* raw("POST", "assets", { json: { name: "away" } })).status, 200)
        // The loops keep polling while it is unavailable, and log it once.
        const losses = logged.filter((line) => line.includes("checking for lost workers and delays failed"))
        assert.lengthOf(losses, 1, losses.join("\n"))
        for (const line of logged) assert.notMatch(line, /^(Error|Fatal)/)
      }).pipe(
        Effect.provide(
          Layer.fresh(
            layerIn(
              folder,
              { rateLimit: null },
              { ...storage, database: { ...database, url: Redacted.make(url.href) } }
            )
          )
        ),
        Effect.provideService(QueryDeadline, "2 seconds"),
        Effect.provide(Logger.layer([logger]))
      )
    }).pipe(Effect.scoped)
)
