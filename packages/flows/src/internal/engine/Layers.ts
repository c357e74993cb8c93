/**
 * The embedded engine on a `SqlClient`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { SqlClient } from "effect/sql/SqlClient"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import type { FlowEngineError } from "../../FlowErrors.ts"
import { FlowStore } from "../FlowStore.ts"
import * as SqlFlowStore from "../sql/SqlFlowStore.ts"
import * as Embedded from "./Embedded.ts"
import type { Parts } from "./Parts.ts"

/** `guard` looks after what makes this process the only one. */
export const layerEmbedded = (
  guard: (embedded: Embedded.Embedded) => Effect.Effect<void, never, Scope.Scope>
): Layer.Layer<Parts, FlowEngineError, SqlClient> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const embedded = yield* Embedded.make
      yield* guard(embedded)
      const store = yield* SqlFlowStore.makeRecorded(embedded)
      return Context.make(WorkflowEngine, embedded.engine).pipe(Context.add(FlowStore, store))
    })
  ).pipe(Layer.provide(SqlFlowStore.layerTables))
