import { assert, describe, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Simulation from "./support/simulation/Simulation.ts"

/** Seeds that once failed. */
const found = [
  143, 166, 365, 846, 906, 973, 4862, 10370, 10468, 11212, 12311, 13535, 14128, 14553, 14969, 63486, 103515, 120847,
  1002153, 2007309, 2013778
]

const check = ({ seed, violations }: Simulation.Report) =>
  assert.deepStrictEqual(violations, [], `replay it alone, with its trace: pnpm simulate --seed ${seed}`)

describe("processes that are killed, stopped and disconnected from a journal and a service", () => {
  it("run every execution to an end that its record explains, and do nothing twice", () => {
    for (let seed = 1; seed <= sized(40, 1_000_000); seed++) check(Simulation.run(seed))
  })

  it("do so for the seeds that once failed", () => {
    for (const seed of found) check(Simulation.run(seed))
  })

  it("do the same when a seed is run again", () => {
    for (let seed = 1; seed <= sized(3, 1_000); seed++) {
      assert.strictEqual(Simulation.run(seed).hash, Simulation.run(seed).hash, `the seed ${seed}`)
    }
  })
})
