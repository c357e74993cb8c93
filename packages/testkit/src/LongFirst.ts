/**
 * The order of the files: those that mostly wait begin first, so that at the end of a run no worker is left alone with one.
 * vitest itself begins with the longest of the run before, and in a fresh clone with the largest.
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
