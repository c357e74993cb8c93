import { afterAll, assert, describe, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Simulation from "./support/simulation/Simulation.ts"

/** Seeds that once failed: a suspend let the next attempt of a step begin in the record. */
const found = [100317, 100634, 112212]

const { close, run } = Simulation.open()
afterAll(close)

const check = ({ seed, violations }: Simulation.Report) =>
  assert.deepStrictEqual(violations, [], `replay it alone, with its trace: pnpm simulate --seed ${seed}`)

describe("processes that are killed, stopped and disconnected from a journal and a service", () => {
  it("run every execution to an end that its record explains, and do nothing twice", () => {
    for (let seed = 1; seed <= sized(40, 100_000); seed++) check(run(seed))
  })

  it("do so for the seeds that once failed", () => {
    for (const seed of found) check(run(seed))
  })

  it("do the same when a seed is run again", () => {
    for (let seed = 1; seed <= sized(3, 1_000); seed++) {
      assert.strictEqual(run(seed).hash, run(seed).hash, `the seed ${seed}`)
    }
  })
})
