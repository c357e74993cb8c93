import { assert, describe, it } from "@effect/vitest"
import { soak } from "@signalbox/testkit/Soak"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import { channelOf } from "../src/internal/journal/sql/Notifier.ts"
import { Database } from "../src/internal/journal/Database.ts"
import { postgresOptions, temporarySchema } from "./support/Engines.ts"
import { journalSuite } from "./support/JournalSuite.ts"
import { begin, found, idsOf, order, orders, owned, register, signal, write } from "./support/journal/Bench.ts"
import { held, type Process } from "./support/journal/Held.ts"
import { viewsSuite } from "./support/journal/Views.ts"
import { longCounts } from "./support/journal/LongList.ts"
import { longQueue } from "./support/journal/LongQueue.ts"
import { losingAnswers } from "./support/journal/LostAnswers.ts"
import { listen } from "./support/journal/Notifications.ts"
import { open } from "./support/journal/OnPostgres.ts"
import { makeJumping } from "./support/Jumping.ts"
import { until } from "./support/Polling.ts"
import { suiteSchema } from "./support/SuiteSchema.ts"

const inSchema = (schema: string, database = Database.layer) =>
  Effect.map(open(postgresOptions(schema), database), ({ journal }) => journal)

journalSuite({
  name: "on Postgres",
  make: Effect.map(suiteSchema(), (schema) => ({ open: inSchema(schema) }))
})

if (soak) {
  describe("when the response of every statement is lost once", () => {
    journalSuite({
      name: "on Postgres",
      losesAnswers: true,
      make: Effect.map(suiteSchema(), (schema) => ({ open: inSchema(schema, losingAnswers) }))
    })
  })
}

const twoProcesses = Effect.flatMap(suiteSchema(), (schema) =>
  Effect.map(Effect.all([open(postgresOptions(schema)), open(postgresOptions(schema))]), ([one, two]) => ({
    schema,
    one,
    two
  }))
)

held(twoProcesses)

viewsSuite(
  "on Postgres",
  Effect.flatMap(temporarySchema, (schema) => open(postgresOptions(schema)))
)

describe("the journal on Postgres: with many executions", () => {
  const process = Effect.flatMap(temporarySchema, (schema) => open(postgresOptions(schema)))
  const explain = ({ sql }: Process, statement: string) => {
    const parameters = Array.from(new Set(statement.match(/\$\d+/g)), () => null)
    const plan = sql.unsafe<{ readonly "QUERY PLAN": string }>(`EXPLAIN (GENERIC_PLAN) ${statement}`, parameters)
    return Effect.map(Effect.orDie(plan), (rows) => rows.map((row) => row["QUERY PLAN"]))
  }
  longQueue(process, explain)
  longCounts(process, explain)

  it.live("the writes of an owner are updates in place, which change no index", () =>
    Effect.gen(function* () {
      const { journal, sql } = yield* process
      const fence = yield* owned(journal, "a")
      const states = ["waiting", "running"] as const
      for (let n = 0; n < 40; n++) {
        yield* journal.write(fence, write({ execution: { state: states[n % 2] ?? "running", wakeAt: begin + n } }))
      }
      const counted = sql<{ readonly all: number; readonly inPlace: number }>`
        SELECT n_tup_upd AS all, n_tup_hot_upd AS "inPlace" FROM pg_stat_user_tables
        WHERE relname = 'flow_run' AND schemaname = current_schema()`
      yield* until(Effect.map(Effect.orDie(counted), ([row]) => (row?.all ?? 0) >= 40))
      const [row] = yield* counted
      // An update that needs another page is none in place.
      assert.isAtLeast(row?.inPlace ?? 0, 35)
    }).pipe(Effect.scoped)
  )
})

describe("the journal on Postgres: changes in other processes", () => {
  it.live("a process is notified of messages, releases and ends by another one", () =>
    Effect.gen(function* () {
      const { one, two } = yield* twoProcesses
      yield* register(one.journal, "one")
      const heard = yield* listen(one.journal)
      const fence = yield* owned(two.journal, "a", { owner: "one" })
      yield* two.journal.send("id-a", signal("go"))
      yield* until(Effect.sync(() => heard.length > 0))
      yield* two.journal.create(order("b"))
      yield* until(Effect.sync(() => heard.length > 1))
      yield* two.journal.write(fence, {
        execution: { state: "completed", owner: null, endedAt: 1 },
        entries: [],
        undos: [],
        taken: [],
        seen: 1
      })
      yield* until(Effect.sync(() => heard.length > 2))
      assert.deepStrictEqual(heard, [
        ["one", "id-a", false],
        [null, "id-b", false],
        [null, "id-a", true]
      ])
    }).pipe(Effect.scoped)
  )

  it.live("hundreds of changes that come together reach it in few notifications", () =>
    Effect.gen(function* () {
      const { one, two } = yield* twoProcesses
      const heard = yield* listen(one.journal)
      const ids = Array.from({ length: 300 }, (_, n) => `${n} ${"é".repeat(100)}`)
      yield* Effect.forEach(ids, (id) => two.journal.create(order(id)), { concurrency: 32, discard: true })
      yield* until(Effect.sync(() => heard.length >= ids.length))
      assert.deepStrictEqual(new Set(heard.map(([, id]) => id)), new Set(ids.map((id) => `id-${id}`)))
    }).pipe(Effect.scoped)
  )

  it.live("a process polls for notifications that it missed", () =>
    Effect.gen(function* () {
      const { one, schema, two } = yield* twoProcesses
      const heard = yield* listen(one.journal)
      const [ended] = yield* two.sql<{ readonly ended: boolean }>`
        SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
        WHERE query LIKE 'LISTEN%' AND strpos(query, ${channelOf(schema)}) > 0`
      assert.deepStrictEqual({ ...ended }, { ended: true })
      yield* until(Effect.sync(() => heard.length > 0))
      assert.deepStrictEqual(heard, [[null, null, false]])
      yield* two.journal.create(order("a"))
      yield* until(Effect.sync(() => heard.length > 1))
      assert.deepStrictEqual(heard[1], [null, "id-a", false])
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None"), Effect.scoped)
  )
})

describe("the journal on Postgres: leases", () => {
  it.live("a process whose clock jumps by an hour takes nothing from another, and keeps what it has", () =>
    Effect.gen(function* () {
      const real = yield* Clock.Clock
      const jumping = makeJumping(real)
      const { one, schema } = yield* twoProcesses
      const two = yield* Effect.provideService(open(postgresOptions(schema)), Clock.Clock, jumping.clock)
      yield* register(one.journal, "one", 60_000)
      yield* register(two.journal, "two", 60_000)
      const fence = yield* owned(one.journal, "a", { owner: "one" })
      const other = yield* owned(one.journal, "b", { owner: "two" })
      for (const hours of [1, -1]) {
        jumping.jump(hours * 3_600_000)
        yield* Effect.gen(function* () {
          assert.strictEqual(yield* two.journal.reap(), 0)
          assert.isNull(yield* two.journal.claimOne("two", "id-a"))
          assert.isTrue(yield* register(two.journal, "two", 60_000))
          assert.deepStrictEqual(idsOf(yield* two.journal.processes), ["one", "two"])
        }).pipe(Effect.provideService(Clock.Clock, jumping.clock))
        assert.strictEqual(yield* one.journal.reap(), 0)
        assert.isTrue(yield* register(one.journal, "one", 60_000))
        yield* one.journal.write(fence, write())
        yield* two.journal.write(other, write())
      }
      // What it leaves is due for others, whatever its clock says.
      jumping.jump(3_600_000)
      yield* Effect.provideService(two.journal.leave("two"), Clock.Clock, jumping.clock)
      assert.deepStrictEqual(idsOf(yield* one.journal.claim("one", [orders], Date.now() + 1_000, 5)), ["id-b"])
    }).pipe(Effect.scoped)
  )

  it.live("the lease of a process of an older version has one more lease, since its clock wrote it", () =>
    Effect.gen(function* () {
      const { one, two } = yield* twoProcesses
      const expired = (id: string, millis: number) => one.sql`
        INSERT INTO flow_process (id, host, flows, expires_at, reaped, token)
        VALUES (${id}, 'here', '[]', CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) - ${millis}, 0, '')`
      yield* expired("a while ago", 3_000)
      yield* expired("long ago", 7_000)
      yield* owned(one.journal, "a", { owner: "a while ago" })
      yield* owned(one.journal, "b", { owner: "long ago" })
      assert.strictEqual(yield* two.journal.reap(), 1)
      assert.isNull((yield* found(one.journal, "id-b")).owner)
      assert.deepStrictEqual(idsOf(yield* two.journal.processes), ["a while ago"])
    }).pipe(Effect.scoped)
  )
})
