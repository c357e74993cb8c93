/**
 * Orders the test files. Those of a project follow each other: a worker ends when the next file is one of another project, and
 * the new one loads all modules anew, which takes longer than most files. Within a project those that take or wait long start
 * first, so that no worker is left alone with one at the end: vitest itself starts with the longest of the previous run, and in a
 * fresh clone with the largest.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node"

const long =
  /(airports|BigTransfer|Cli|Conformance|documentation|Downloads|EnvironmentDrills|EnvironmentRuns|Environments|FirstMinutes|FlowsOnPostgres|GitPackages|graph|JournalOnPostgres|Journeys|Killed|KilledFlows|Kills|Large|Nodes|Packages|Recovery|Robots|Simulation|Uploads|Webhooks|Worker)\.test\.ts$/

/** Lower is earlier. The project with fewer files is first, and the many small files of the other are last. */
const places = ["postgres long", "postgres", "sqlite long", "sqlite"]

const placeOf = ({ moduleId, project }: TestSpecification) =>
  places.indexOf(long.test(moduleId) ? `${project.name} long` : project.name)

export class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}
