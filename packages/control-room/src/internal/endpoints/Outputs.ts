/**
 * Outputs of runs.
 */
import * as Effect from "effect/Effect"
import * as Endpoints from "../edge/Endpoints.ts"
import { orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { Outputs } from "../store/items/Outputs.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { Views } from "./Views.ts"

export const layer = Endpoints.group(
  "outputs",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Outputs
    const runStore = yield* ProcessRuns
    const views = yield* Views
    const { pageOfTexts } = yield* Pagination
    return handlers.handleAll({
      listOutputs: Effect.fnUntraced(function* ({ params, query, request }) {
        const id = query.process_run_id
        const run = yield* orNotFound("process run", id, runStore.get(params.workspace_id, id))
        return yield* pageOfTexts(request, query, (from) => store.list(run.id, from), views.outputs)
      })
    })
  })
)
