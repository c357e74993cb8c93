/**
 * The tests. Where a file stands says when it runs (CONTRIBUTING.md, "Where a test goes"):
 *
 * - `npx -y pnpm@12 test`: everything but `slow` folders, on SQLite; `databases` folders and `*OnPostgres` on Postgres.
 * - `npx -y pnpm@12 test:all`: everything, and all of the service on Postgres too.
 * - `npx -y pnpm@12 test:soak`: the same in the long form (`@signalbox/testkit/Soak`).
 */
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig, type TestProjectInlineConfiguration, type TestUserConfig } from "vitest/config"
import { SlowFirst } from "./packages/testkit/src/SlowFirst.ts"

const everyTest = ["packages/*/test/**/*.test.ts", "examples/test/**/*.test.ts", "actions/test/**/*.test.ts"]
const onPostgres = "packages/*/test/**/*OnPostgres.test.ts"
const onSqlite = "packages/*/test/**/*OnSqlite.test.ts"
const slow = "**/test/slow/**"

/** The modes of vitest that run more than `test`. */
const isAll = (mode: string) => mode === "all" || mode === "soak"

export const projects = (mode: string): ReadonlyArray<TestProjectInlineConfiguration> => {
  const left = isAll(mode) ? [] : [slow]
  return [
    { extends: true, test: { name: "sqlite", include: everyTest, exclude: [onPostgres, ...left] } },
    {
      extends: true,
      test: {
        name: "postgres",
        include: [`packages/control-room/test/${isAll(mode) ? "" : "databases/"}**/*.test.ts`, onPostgres],
        exclude: [onSqlite, ...left],
        globalSetup: ["packages/testkit/src/Postgres.ts"],
        setupFiles: ["packages/testkit/src/UsePostgres.ts"]
      }
    }
  ]
}

/** Far more than any test needs: a busy machine is no failure. The long form of one takes up to an hour. */
const timeout = (mode: string) => (mode === "soak" ? 3_600_000 : 240_000)

export const options = (mode: string): TestUserConfig => ({
  testTimeout: timeout(mode),
  hookTimeout: 240_000,
  env: {
    // Processes that tests start find compiled what others have loaded: half of what it costs to start one.
    NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules", ".cache", "compiled"),
    ...(mode === "soak" ? { SIGNALBOX_SOAK: "1" } : {})
  },
  // The command, for tests that start it as a process.
  globalSetup: ["packages/signalbox/bundleForTests.ts"],
  // Node itself loads the sources, whose types it strips: Vite would transform them all in a fresh clone. No test mocks a module.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // Files share the modules they import, which are most of what a file costs; nothing in them may hold state.
  isolate: false,
  // Tests start browsers, databases and other processes besides; on two cores a third one uses the time that they wait.
  maxWorkers: Math.max(3, availableParallelism()),
  sequence: { sequencer: SlowFirst },
  reporters: ["default", "packages/testkit/src/TestReporter.ts"],
  projects: [...projects(mode)]
})

export default defineConfig(({ mode }) => ({ test: options(mode) }))
