/**
 * The configuration of the tests with one thing in it that decides how the run ends, named by `GATE`: `.ci/gate` tries each.
 */
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"
import { options, projects } from "./vitest.config.ts"

type Project = NonNullable<TestProjectInlineConfiguration["test"]>

const folder = "packages/testkit/gate"
const passing = [`${folder}/Passing.test.ts`]

const ways: Readonly<Record<string, (project: Project) => Partial<Project>>> = {
  passing: () => ({ include: passing }),
  failing: () => ({ include: [`${folder}/Failing.test.ts`] }),
  dying: () => ({ include: [`${folder}/Dying.test.ts`] }),
  setup: ({ globalSetup = [] }) => ({ include: passing, globalSetup: [globalSetup, `${folder}/Setup.ts`].flat() }),
  empty: ({ name }) => ({ include: name === "postgres" ? ["nothing"] : passing })
}

const way = ways[process.env["GATE"] ?? ""]
if (way === undefined) throw new Error(`GATE: one of ${Object.keys(ways).join(", ")}`)

export default defineConfig(({ mode }) => ({
  test: {
    ...options(mode),
    projects: projects(mode).map(({ test = {}, ...project }) => ({ ...project, test: { ...test, ...way(test) } }))
  }
}))
