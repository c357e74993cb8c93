import { describe, it } from "@effect/vitest"
import { startServer } from "@signalbox/testkit/Postgres"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { open } from "../support/journal/OnPostgres.ts"
import { troubled } from "../support/journal/Troubled.ts"

const ownServer = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => startServer()),
    (server) => Effect.promise(() => server.remove())
  ),
  (server) => ({ server, options: { url: Redacted.make(server.url), schema: "flows" } })
)

describe("the journal on Postgres: a database that becomes unavailable in the middle", () => {
  it.live("loses and doubles nothing while the server ends its connections", () =>
    Effect.gen(function* () {
      const { options } = yield* ownServer
      const { sql } = yield* open({ ...options, schema: "admin" })
      const cut = sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`
      yield* troubled([yield* open(options), yield* open(options)], Effect.ignore(cut), sized(3, 250))
    }).pipe(Effect.scoped)
  )

  it.live("loses and doubles nothing while it is restarted", () =>
    Effect.gen(function* () {
      const { options, server } = yield* ownServer
      const restart = Effect.promise(() => server.stop().then(() => server.start()))
      yield* troubled([yield* open(options), yield* open(options)], restart, sized(1, 12))
    }).pipe(Effect.scoped)
  )
})
