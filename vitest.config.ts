/**
 * The tests. Where a file stands says when it runs (CONTRIBUTING.md, "Where a test goes"):
 *
 * - `npx -y pnpm@12 test`: what is in no `slow` folder, on SQLite; what the service stores, also on Postgres.
 * - `npx -y pnpm@12 test:all`: everything, and most of the service on Postgres too.
 * - `npx -y pnpm@12 test:soak`: the same in the long form (`@signalbox/testkit/Soak`), the drills in `soak` folders, and all of the
 *   service on Postgres.
 */
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { configDefaults, defineConfig, type TestProjectInlineConfiguration, type TestUserConfig } from "vitest/config"
import { SlowFirst } from "./packages/testkit/src/SlowFirst.ts"

const everyTest = ["packages/*/test/**/*.test.ts", "examples/test/**/*.test.ts", "actions/test/**/*.test.ts"]
const onPostgres = "packages/*/test/**/*OnPostgres.test.ts"
/** What users of other engines expect of flows, on both databases. */
const scenarios = "packages/flows/test/scenarios/*.test.ts"
const onSqlite = "packages/*/test/**/*OnSqlite.test.ts"

interface Tier {
  /** The folders that it leaves out. */
  readonly without: ReadonlyArray<string>
  /** The tests of the service that it runs on Postgres. */
  readonly onPostgres: string
  /** In milliseconds. Far more than any test needs: a busy machine is no failure. */
  readonly timeout: number
}

const tiers = {
  test: { without: ["**/test/slow/**", "**/test/soak/**"], onPostgres: "databases/*", timeout: 240_000 },
  all: { without: ["**/test/soak/**"], onPostgres: "{*,databases/*}", timeout: 240_000 },
  soak: { without: [], onPostgres: "**/*", timeout: 3_600_000 }
} satisfies Readonly<Record<string, Tier>>

/** By the mode of vitest: `test` unless the command names another. */
const tierOf = (mode: string): Tier => (mode === "all" || mode === "soak" ? tiers[mode] : tiers.test)

export const projects = (mode: string): ReadonlyArray<TestProjectInlineConfiguration> => {
  const tier = tierOf(mode)
  return [
    {
      extends: true,
      test: { name: "sqlite", include: everyTest, exclude: [...configDefaults.exclude, onPostgres, ...tier.without] }
    },
    {
      extends: true,
      test: {
        name: "postgres",
        include: [
          `packages/control-room/test/${tier.onPostgres}.test.ts`,
          onPostgres,
          ...(tier === tiers.test ? [] : [scenarios])
        ],
        exclude: [...configDefaults.exclude, onSqlite, ...tier.without],
        globalSetup: ["packages/testkit/src/Postgres.ts"],
        setupFiles: ["packages/testkit/src/UsePostgres.ts"]
      }
    }
  ]
}

export const options = (mode: string): TestUserConfig => ({
  testTimeout: tierOf(mode).timeout,
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
