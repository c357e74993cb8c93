/**
 * Orders the test files: those that mostly wait start first, so that no worker is left alone with one at the end.
 * vitest itself starts with the longest of the previous run, and in a fresh clone with the largest.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node"

const long =
  /(airports|BigTransfer|Cli|documentation|GitPackages|graph|Killed|KilledFlows|Large|Nodes|Recovery|Worker)\.test\.ts$/

export class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const { rest = [], first = [] } = Object.groupBy(await super.sort(files), ({ moduleId }) =>
      long.test(moduleId) ? "first" : "rest"
    )
    return [...first, ...rest]
  }
}
