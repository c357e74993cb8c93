/** Groups of failures: listed, muted, resolved and opened again. */
import * as Effect from "effect/Effect"
import * as Endpoints from "../edge/Endpoints.ts"
import { conflict, invalidRequest, orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { allows, failureMoves } from "../engine/Moves.ts"
import { Database } from "../store/database/Database.ts"
import { Failures } from "../store/items/Failures.ts"

export const layer = Endpoints.group(
  "failures",
  Effect.fnUntraced(function* (handlers) {
    const { now, transaction } = yield* Database
    const store = yield* Failures
    const { page } = yield* Pagination
    return handlers.handleAll({
      listFailures: ({ params, query, request }) => {
        const filter = {
          processId: query.process_id ?? null,
          stepId: query.step_id ?? null,
          type: query.type ?? null,
          code: query.code ?? null,
          state: query.state ?? null
        }
        return page(
          request,
          query,
          (from) => store.list(params.workspace_id, filter, from),
          (rows) => Effect.succeed(rows.map(({ failure }) => failure))
        )
      },
      getFailure: ({ params }) =>
        orNotFound("failure", params.failure_id, store.get(params.workspace_id, params.failure_id)),
      updateFailure: ({ params, payload }) =>
        transaction(
          Effect.gen(function* () {
            const { failure_id: id, workspace_id: workspace } = params
            const known = yield* orNotFound("failure", id, store.lock(workspace, id))
            const from = known.state
            const to = payload.state ?? from
            const given = payload.muted_until ?? null
            const until = given === null ? null : new Date(given)
            if (until !== null && to !== "muted") {
              return yield* invalidRequest(
                "muted_until: only a muted group has one; set state to muted, or leave it out"
              )
            }
            if (until !== null && !(until.getTime() > Date.parse(yield* now))) {
              return yield* invalidRequest("muted_until: must be a time in the future")
            }
            if (to !== from && !allows(failureMoves, from, to)) {
              return yield* conflict(`a ${from} group of failures cannot become ${to}; reopen it first`)
            }
            if (to === "resolved" && known.count > 0) {
              return yield* conflict(
                `the group has ${known.count} failed work items; retry, mark as done or delete them before resolving it`
              )
            }
            const mutedUntil =
              to !== "muted"
                ? null
                : payload.muted_until === undefined
                  ? known.muted_until
                  : (until?.toISOString() ?? null)
            yield* store.save(workspace, {
              id: known.id,
              state: to,
              muted_until: mutedUntil,
              note: payload.note === undefined ? known.note : payload.note,
              assignee: payload.assignee === undefined ? known.assignee : payload.assignee
            })
            return yield* orNotFound("failure", id, store.get(workspace, id))
          })
        )
    })
  })
)
