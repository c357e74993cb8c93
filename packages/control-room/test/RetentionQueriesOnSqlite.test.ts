/** How retention finds data that is old or marked as deleted: by an index, however much other data exists. */
import { assert, layer as withLayer } from "@effect/vitest"
import { ProcessId, ProcessRunId, StepRunId, WebhookId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "effect/sql/Statement"
import * as Engine from "../src/internal/engine/Engine.ts"
import { Assistants } from "../src/internal/store/workers/Assistants.ts"
import { BulkOperations } from "../src/internal/store/room/BulkOperations.ts"
import { Deliveries } from "../src/internal/store/notifications/Deliveries.ts"
import { Failures } from "../src/internal/store/items/Failures.ts"
import { Files } from "../src/internal/store/files/Files.ts"
import { IdempotencyRecords } from "../src/internal/store/access/IdempotencyRecords.ts"
import { Processes } from "../src/internal/store/processes/Processes.ts"
import { Outputs } from "../src/internal/store/items/Outputs.ts"
import { ProcessRuns } from "../src/internal/store/runs/ProcessRuns.ts"
import { RunItems } from "../src/internal/store/items/RunItems.ts"
import { StepRuns } from "../src/internal/store/runs/StepRuns.ts"
import { WorkerGroups } from "../src/internal/store/workers/WorkerGroups.ts"
import { Webhooks } from "../src/internal/store/notifications/Webhooks.ts"
import { WorkerReports } from "../src/internal/store/runs/WorkerReports.ts"
import { Workers } from "../src/internal/store/workers/Workers.ts"
import { WorkItems } from "../src/internal/store/items/WorkItems.ts"
import { sqlite } from "./support/Storage.ts"

const statements: Array<string> = []

/** Records the text of every statement. */
const recording = Layer.succeed(Statement.CurrentTransformer, (statement) =>
  Effect.sync(() => {
    statements.push(statement.compile()[0])
    return statement
  })
)

const nobody = "01900000-0000-7000-8000-000000000000"
const cutoff = "2020-01-01T00:00:00.000Z"

withLayer(Layer.provideMerge(sqlite, recording), { excludeTestServices: true, timeout: "4 minutes" })(
  "the plan of a deletion",
  (it) => {
    it.effect("scans no table and sorts nothing", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const processes = yield* Processes
        const runs = yield* ProcessRuns
        const stepRuns = yield* StepRuns
        const items = yield* WorkItems
        const runItems = yield* RunItems
        const outputs = yield* Outputs
        const process = ProcessId.make(nobody)
        const run = ProcessRunId.make(nobody)
        const stepRun = StepRunId.make(nobody)
        const item = WorkItemId.make(nobody)
        const emptyRun = Engine.begin(
          { id: run, workspaceId: WorkspaceId.make(nobody), processId: process, steps: [] },
          0
        )
        const released = (step: number | null) =>
          ({ _tag: "OutputsReleased", stepRun, step, state: "pending", exception: null, failure: null }) as const
        const looks: ReadonlyArray<Effect.Effect<unknown>> = [
          processes.deleted,
          processes.inUse(process),
          processes.remove(process),
          runs.markEndedBefore(cutoff, 100),
          runs.markOf(process, 100),
          runs.deleted("all", 100),
          runs.deleted({ run }, 100),
          runs.remove([run]),
          stepRuns.withOldDetails(cutoff, 100),
          stepRuns.removeEvents([stepRun], 1000),
          stepRuns.someOf([run], 100),
          stepRuns.remove([stepRun]),
          items.someOf([run], 1000),
          outputs.someOf([run], 1000),
          items.remove([item]),
          outputs.remove([item]),
          (yield* WorkerReports).removeMessages([stepRun], 1000),
          (yield* Files).removeSome([nobody], 1000),
          (yield* Assistants).removeEndedBefore(cutoff, 1000),
          (yield* Deliveries).sweep(500),
          (yield* Webhooks).sweepCallbacks,
          (yield* Webhooks).disable(WebhookId.make(nobody), "test"),
          runItems.queued(process),
          runItems.held({ id: stepRun, state: "in_progress" }),
          outputs.drop(stepRun, [item]),
          runItems.settleWaiting(emptyRun, { _tag: "WaitingSettled", to: "done", exception: null, failures: [] }),
          outputs.release(emptyRun, released(0)),
          outputs.release(emptyRun, released(null)),
          stepRuns.lockLive(run),
          (yield* IdempotencyRecords).sweep(1000),
          (yield* Failures).sweep(cutoff, 500),
          (yield* BulkOperations).sweep(cutoff, 500),
          (yield* Workers).sweepLinkTokens(1000),
          (yield* WorkerGroups).sweepLinkTokens(cutoff, 1000)
        ]
        statements.length = 0
        yield* Effect.all(looks, { discard: true })
        assert.isAtLeast(statements.length, looks.length)
        // The queries for the plans are recorded too.
        for (const statement of statements.splice(0)) {
          const plan = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${statement}`)
          assert.notMatch(plan.map(({ detail }) => detail).join("\n"), /SCAN|TEMP B-TREE/, statement)
        }
      })
    )
  }
)
