/**
 * Orders the test files. Those of a project follow each other: a worker ends when the next file is one of another project, and
 * the new one loads all modules anew, which takes longer than most files. Within a project those in `slow` folders start first, so
 * that no worker is left alone with one at the end; then vitest's order: the longest of the run before, in a fresh clone the largest. With `--sequence.shuffle` they are in an order of `--sequence.seed`.
 */
import { createHash } from "node:crypto"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Lower is earlier. The project with fewer files is first, and the many small files of the other are last. */
const places = ["postgres slow", "postgres", "sqlite slow", "sqlite"]

const placeOf = ({ moduleId, project }: TestSpecification) =>
  places.indexOf(moduleId.includes("/test/slow/") ? `${project.name} slow` : project.name)

export class SlowFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const { seed, shuffle } = this.ctx.config.sequence
    if (shuffle) {
      const place = ({ moduleId }: TestSpecification) =>
        createHash("sha256").update(`${seed} ${moduleId}`).digest("hex")
      return files.toSorted((one, other) => (place(one) < place(other) ? -1 : 1))
    }
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}
