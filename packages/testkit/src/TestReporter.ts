/**
 * Prints the slowest files and one closing line at the end of a test run. Fails the run when a project of the
 * configuration has no tests, which vitest reports only when no project has any.
 */
import type { Reporter, TestModule, Vitest } from "vitest/node"

/** A run of fewer files is somebody working on one of them. */
const wholeRun = 20

const slowest = (modules: ReadonlyArray<TestModule>) =>
  modules
    .map((module) => ({
      seconds: module.diagnostic().duration / 1000,
      name: `${module.project.name} ${module.relativeModuleId}`
    }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 10)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`)

const count = (modules: ReadonlyArray<TestModule>, state: "passed" | "failed" | "skipped") =>
  modules.reduce((sum, module) => sum + [...module.children.allTests(state)].length, 0)

export default class TestReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest) {
    this.#vitest = vitest
  }

  async onTestRunEnd(modules: ReadonlyArray<TestModule>) {
    const specifications = (await this.#vitest?.globTestSpecifications()) ?? []
    for (const project of this.#vitest?.projects ?? []) {
      if (specifications.some((specification) => specification.project === project)) continue
      console.error(`The project ${project.name} has no tests: see its \`include\` in vitest.config.ts`)
      process.exitCode = 1
    }
    if (modules.length >= wholeRun) console.log(["Slowest files", ...slowest(modules)].join("\n"))
    const skipped = count(modules, "skipped")
    console.log(
      `${count(modules, "passed")} passed, ${count(modules, "failed")} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`
    )
  }
}
