/**
 * What one long execution costs as it grows, on SQLite or on a Postgres that never waits for its disk.
 *
 * `node src/flows/long.ts chapters sqlite|postgres 20000`: chapters of `Flow.continueAs`, milliseconds each, the median of the last
 * thousand beside that of the first.
 * `node src/flows/long.ts steps sqlite|postgres 10000`: an execution of so many steps and sleeps, by turns.
 */
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as Flow from "@signalbox/flows/Flow"
import { startServer } from "@signalbox/testkit/Postgres"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { quantile } from "./Contender.ts"

const [what = "", where = "", text = ""] = process.argv.slice(2)
const count = Number(text)
const folder = await mkdtemp(join(tmpdir(), "signalbox-long-"))
const postgres = where === "postgres" ? await startServer() : null
const engine =
  postgres === null
    ? FlowEngine.layerSqlite({ file: join(folder, "flows.db") })
    : FlowEngine.layerPostgres({ url: Redacted.make(postgres.url) })

const times: Array<number> = []
const note = Flow.step("note", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  run: (n) => Effect.sync(() => (times.push(performance.now()), n))
})

const chapters = Flow.make("chapters", {
  version: 1,
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: () => "one",
  run: Effect.fnUntraced(function* (n: number) {
    yield* note(n)
    return yield* n < count ? Flow.continueAs({ name: "chapters", input: Schema.Finite }, n + 1) : Effect.succeed(n)
  })
})

const steps = Flow.make("steps", {
  version: 1,
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: String,
  run: Effect.fnUntraced(function* (count: number) {
    for (let n = 0; n < count; n += 2) {
      yield* note(n, { key: String(n) })
      yield* Flow.sleep("nap", 0, { key: String(n) })
    }
    return count
  })
})

const main =
  what === "chapters"
    ? Effect.gen(function* () {
        yield* Flow.execute(chapters, 1)
        const each = times.slice(1).map((at, n) => at - (times[n] ?? at))
        const [first, last] = [each.slice(0, 1000), each.slice(-1000)].map((some) => quantile(some, 0.5))
        console.log(
          `${count} chapters on ${where}: first thousand ${first?.toFixed(2)} ms, last ${last?.toFixed(2)} ms each`
        )
      })
    : Effect.gen(function* () {
        yield* Flow.execute(steps, 50)
        const begin = performance.now()
        yield* Flow.execute(steps, count)
        const took = performance.now() - begin
        console.log(
          `${count} steps and sleeps on ${where}: ${(took / 1000).toFixed(2)} s, ${(took / count).toFixed(2)} ms each`
        )
      })

await Effect.runPromise(
  Effect.provide(main, Layer.mergeAll(Flow.layer(chapters), Flow.layer(steps)).pipe(Layer.provideMerge(engine)))
)
await postgres?.remove()
await rm(folder, { recursive: true, force: true })
