import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"
import { LongFirst } from "./packages/testkit/src/LongFirst.ts"
import { soak } from "./packages/testkit/src/Soak.ts"

const everyTest = ["packages/*/test/**/*.test.ts", "examples/test/**/*.test.ts", "actions/test/**/*.test.ts"]

const service = "packages/control-room/test"
const ofService = (...names: ReadonlyArray<string>) => names.map((name) => `${service}/${name}.test.ts`)

/**
 * What the service does on any database runs on SQLite and on Postgres. What needs no database, or is about that of SQLite
 * (its lock, its plans, virtual time) runs once.
 */
const notOnPostgres = ofService(
  "Availability",
  "BackgroundTask",
  "BlobStores",
  "Buckets",
  "Engine",
  "Fingerprints",
  "FullDisk",
  "PageQueries",
  "RetentionQueries",
  "Rooms",
  "RunCommands",
  "SecurityPage",
  "StorageFailure",
  "TargetGuard"
)
/**
 * What is mostly about requests, keys, archives, bytes and killed processes: on Postgres in the long form alone. The statements
 * of the stores that it runs are run there by others too.
 */
const onPostgresInSoak = ofService(
  "AlertChannels",
  "Assets",
  "BulkKills",
  "Changes",
  "Connections",
  "ConsoleFiles",
  "ConsolePages",
  "ContractFuzz",
  "Cors",
  "DocumentedExamples",
  "Doors",
  "EdgeBodies",
  "EdgeHeaders",
  "EdgeRouting",
  "ExistingClients",
  "Forms",
  "GitPackages",
  "HttpEdge",
  "InputSchemas",
  "Integrations",
  "JsonSchemas",
  "Large",
  "LargeResponses",
  "Lists",
  "NextItems",
  "OlderInterface",
  "OlderPrograms",
  "PackageKills",
  "Permissions",
  "ProcessDeploy",
  "Recovery",
  "UnauthenticatedRequests",
  "TaskPackages",
  "Traces",
  "Transfers",
  "Vault",
  "VaultClient",
  "WebhookSecrecy",
  "WorkerReports"
)
/** The command, where it opens a Postgres itself. */
const command = "packages/signalbox/test/Postgres.test.ts"
/** Where flows are kept and run, on Postgres. */
const flows = "packages/flows/test/**/*OnPostgres.test.ts"
const postgresOnly = [
  ...ofService("AlertsOnNodes", "HalfOpen", "Nodes", "Postgres", "Restarts", "SchedulesOnNodes"),
  command,
  flows
]
/** Drills of processes, real or not, take minutes: of theirs, `test` has kills and full disks on SQLite. */
const drillsInSoak = [
  ...["Cancels", "LostAnswers", "Sizes"].map((name) => `packages/flows/test/drills/${name}.test.ts`),
  "packages/flows/test/FlowSchedulesOfProcesses.test.ts",
  // In the short form the claims of killed nodes are played, in BulkOperations.
  ...ofService("BulkKills"),
  ...["KilledFlows", "RoomDrills"].map((name) => `packages/signalbox/test/${name}.test.ts`)
]
const nodesInSoak = ofService("AlertsOnNodes", "SchedulesOnNodes")
const inSoak = ["Away", "Cancels", "Cluster", "Deployments", "Kills", "LostAnswers", "Orphans", "Stopped"].map(
  (name) => `packages/flows/test/drills/${name}OnPostgres.test.ts`
)

export const projects: ReadonlyArray<TestProjectInlineConfiguration> = [
  {
    extends: true,
    test: { name: "sqlite", include: everyTest, exclude: soak ? postgresOnly : [...postgresOnly, ...drillsInSoak] }
  },
  {
    extends: true,
    test: {
      name: "postgres",
      include: [`${service}/*.test.ts`, command, flows],
      exclude: soak ? notOnPostgres : [...notOnPostgres, ...onPostgresInSoak, ...nodesInSoak, ...inSoak],
      globalSetup: ["packages/testkit/src/Postgres.ts"],
      setupFiles: ["packages/testkit/src/UsePostgres.ts"]
    }
  }
]

export default defineConfig({
  test: {
    // Far more than any needs: a busy machine is no failure.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // Processes that tests start find compiled what others have loaded: half of what it costs to start one.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules", ".cache", "compiled") },
    // The command, for tests that start it as a process.
    globalSetup: ["packages/signalbox/bundleForTests.ts"],
    // Node itself loads the sources, whose types it strips: Vite would transform them all in a fresh clone. No test mocks a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Files share the modules they import, which are most of what a file costs; nothing in them may hold state.
    isolate: false,
    // Tests start browsers, databases and other processes besides; on two cores a third one uses the time that they wait.
    maxWorkers: Math.max(3, availableParallelism()),
    sequence: { sequencer: LongFirst },
    reporters: ["default", "packages/testkit/src/TestReporter.ts"],
    projects: [...projects]
  }
})
