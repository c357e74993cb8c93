/**
 * Many clients at once, on each database: whatever they do to the same runs, afterwards the counters are a recount of the
 * rows, every run ends when what it has is executed, and no item was completed twice.
 *
 * `SIGNALBOX_CLIENT_SEED` is where it begins.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Config from "effect/Config"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import { client, drain, makeProcess } from "./support/RunClients.ts"
import { assertSound, hasEnded, rowsOf } from "./support/RunRows.ts"
import { database, runsOn } from "./support/Storage.ts"

const rounds = sized(1, 20)
const firstSeed = Config.withDefault(Config.Int("SIGNALBOX_CLIENT_SEED"), 1)

const clients = 8
const commands = 60

withLayer(runsOn(database), { excludeTestServices: true, timeout: "4 minutes" })("clients at once", (it) => {
  it.effect(
    "leave every run sound, and able to end",
    () =>
      Effect.gen(function* () {
        const seed = yield* firstSeed
        for (let round = 0; round < rounds; round++) {
          const made = yield* makeProcess(3)
          yield* Effect.forEach(
            Array.from({ length: clients }),
            (_, index) => client(made, index, commands, seed + round),
            { concurrency: "unbounded", discard: true }
          )
          const process = made.process.view.id
          assertSound(yield* rowsOf(process))
          yield* drain(made)
          const rows = yield* rowsOf(process)
          assertSound(rows)
          assert.isTrue(rows.runs.every(hasEnded))
          assert.isAtLeast(rows.stepRuns.length, 10, "the clients did next to nothing")
        }
      }),
    { timeout: 600_000 }
  )
})
