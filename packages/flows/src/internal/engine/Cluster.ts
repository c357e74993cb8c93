/**
 * Effect Cluster over Postgres, with the store of the flows beside it.
 */
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import type { ShardingConfig } from "effect/cluster/ShardingConfig"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { FlowEngineError } from "../../FlowErrors.ts"
import { FlowStore } from "../FlowStore.ts"
import * as Postgres from "../sql/Postgres.ts"
import * as SqlFlowStore from "../sql/SqlFlowStore.ts"
import type { ClusterOptions } from "./Options.ts"
import type { Parts } from "./Parts.ts"

/** A runner that is gone loses its executions after 9 seconds, and others look for work each second. */
const timing = {
  shardLockExpiration: "9 seconds",
  shardLockRefreshInterval: "3 seconds",
  refreshAssignmentsInterval: "1 second",
  runnerHealthCheckInterval: "3 seconds",
  entityMessagePollInterval: "1 second"
} satisfies Partial<ShardingConfig["Service"]>

const layerSharding = ({ host, listenHost, port }: ClusterOptions) =>
  NodeClusterSocket.layer({
    storage: "sql",
    shardingConfig: {
      ...timing,
      runnerAddress: Option.some(RunnerAddress.make(host, port)),
      runnerListenAddress: Option.fromUndefinedOr(listenHost).pipe(
        Option.map((listen) => RunnerAddress.make(listen, port))
      )
    }
  }).pipe(
    Layer.catch((error) =>
      Layer.effectContext(
        Effect.fail(
          new FlowEngineError({
            message: `the runner cannot listen on ${listenHost ?? host}:${port}: choose another port (${error.message})`
          })
        )
      )
    )
  )

export const layer = (options: ClusterOptions): Layer.Layer<Parts, FlowEngineError> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const engine = yield* WorkflowEngine
      const store = yield* SqlFlowStore.make(() => Effect.void)
      return Context.make(WorkflowEngine, engine).pipe(Context.add(FlowStore, store))
    })
  ).pipe(
    Layer.provide(ClusterWorkflowEngine.layer),
    Layer.provide(layerSharding(options)),
    Layer.provide(SqlFlowStore.layerTables),
    Layer.provide(Postgres.layerCluster(options))
  )
