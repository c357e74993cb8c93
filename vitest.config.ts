import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"

const everyTest = ["packages/*/test/**/*.test.ts", "examples/test/**/*.test.ts"]

/**
 * What the service does on any database runs on SQLite and on Postgres. What needs no database, or is about that of SQLite
 * (its lock, its plans, virtual time) runs once.
 */
const service = "packages/control-room/test"
const onBoth = `${service}/*.test.ts`
const notOnPostgres = ["Availability", "Engine", "PageQueries", "RetentionQueries", "RunCommands", "TargetGuard"].map(
  (name) => `${service}/${name}.test.ts`
)
/** The command, where it opens a Postgres itself. */
const command = "packages/signalbox/test/Postgres.test.ts"
/** Where flows are kept and run, on Postgres. */
const flows = "packages/flows/test/*OnPostgres.test.ts"
const postgresOnly = [...["Postgres", "Nodes"].map((name) => `${service}/${name}.test.ts`), command, flows]

export const projects: ReadonlyArray<TestProjectInlineConfiguration> = [
  { extends: true, test: { name: "sqlite", include: everyTest, exclude: postgresOnly } },
  {
    extends: true,
    test: {
      name: "postgres",
      include: [onBoth, command, flows],
      exclude: notOnPostgres,
      globalSetup: ["packages/testkit/src/Postgres.ts"],
      setupFiles: ["packages/testkit/src/UsePostgres.ts"]
    }
  }
]

export default defineConfig({
  test: {
    testTimeout: 60_000,
    reporters: ["default", "packages/testkit/src/TestReporter.ts"],
    projects: [...projects]
  }
})
