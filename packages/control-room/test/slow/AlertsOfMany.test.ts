/** Ten thousand runs that fail for one reason: a channel gets a message in five minutes, which stands for all of them. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as AlertChannels from "@signalbox/api/AlertChannels"
import * as Alerts from "@signalbox/api/Alerts"
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as Chunks from "../../src/internal/store/database/Chunks.ts"
import { receiver } from "../support/Receiver.ts"
import { layer, linkWorker, Service } from "../support/Service.ts"

const many = 10_000
const minute = 60_000

/** As many runs like this one. */
const copies = Effect.fnUntraced(function* (run: ProcessRunId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Record<string, string>>`SELECT * FROM process_run WHERE id = ${run}`
  const rows = Array.from({ length: many - 1 }, () => ({ ...row, id: crypto.randomUUID() }))
  yield* Chunks.forEach(rows, (some) => sql`INSERT INTO process_run ${sql.insert(some)}`)
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("many firings of an alert", (it) => {
  it.effect("are few messages, with a count, the first ten, and a link", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { alertIn } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const target = yield* receiver
        const name = "many"
        const process = yield* Processes.create({ name, steps: [{ name: "only", task: { name } }] })
        const channel = yield* AlertChannels.create({
          name,
          settings: { type: "webhook", url: `${target.origin}/many` }
        })
        const rule = { type: "run_unresolved" } as const
        const alert = yield* Alerts.create({ name, rule, channels: [{ id: channel.id }] })
        assert.strictEqual(alert.gather_seconds, 300)
        const worker = yield* linkWorker([name])
        const run = yield* ProcessRuns.start(process.id, { payloads: [1] })
        const { lease, session } = yield* worker.take
        yield* session.release((yield* session.reserveNext) ?? assert.fail("no item"), {
          state: "FAILED",
          exception: { type: "APPLICATION", code: "BANK_DOWN", message: "no answer" }
        })
        yield* worker.protocol.finish(lease, null)
        yield* copies(run.started ? run.id : assert.fail("not started"))
        // A check begins a hundred.
        let checks = 0
        while ((yield* Alerts.get(alert.id)).firing < many) yield* alertIn(checks++ * (minute / 2))
        const events = () => target.at("/many").map(({ body }): Alerts.AlertEvent => JSON.parse(body.toString()))
        const last = checks * (minute / 2)
        yield* alertIn(last + 5 * minute)
        assert.isAtMost(events().length, Math.ceil(last / (5 * minute)) + 1)
        const told = () => events().reduce((sum, { count = 1 }) => sum + count, 0)
        assert.strictEqual(told(), many)
        const digest = events()[1] ?? assert.fail("no second message")
        assert.strictEqual(digest.count, 1000)
        assert.strictEqual(digest.firings?.length, 10)
        assert.include(digest.text, "many: 1000 new\n- the run ")
        assert.match(digest.text, /and 990 more\.$/)
        // They are settled.
        const before = events().length
        yield* sql`UPDATE process_run SET state = 'completed' WHERE process_id = ${process.id}`
        yield* alertIn(last + 11 * minute)
        const [over, ...more] = events().slice(before)
        assert.deepStrictEqual(more, [])
        assert.deepStrictEqual([over?.type, over?.count], ["alert.over", many])
      })
    )
  )
})
