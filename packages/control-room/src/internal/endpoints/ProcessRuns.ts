/** Process runs: start, read, stop and delete them. */
import { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import type { ProcessId, ProcessRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Started } from "@signalbox/api/contract/ProcessRuns"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { TargetGuard } from "../delivery/TargetGuard.ts"
import { checkPayload } from "../edge/PayloadSize.ts"
import { InputSchemas } from "../runs/InputSchemas.ts"
import { Runs } from "../runs/Runs.ts"
import { Processes } from "../store/processes/Processes.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { RunSteps } from "../store/runs/RunSteps.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { refusals, invalidRequest, orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { Masking } from "./Masking.ts"

const started = (id: ProcessRunId | null): Started => (id === null ? { started: false } : { started: true, id })

/** The person who starts a run; undefined for a key. */
const starter = Effect.map(CurrentPrincipal, (principal) => (principal._tag === "User" ? principal.user : undefined))

/** Milliseconds since 1970. */
const timeIn = (time: string | undefined) => (time === undefined ? null : Date.parse(time))

export const layer = Endpoints.group(
  "processRuns",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* ProcessRuns
    const processStore = yield* Processes
    const runs = yield* Runs
    const steps = yield* RunSteps
    const inputSchemas = yield* InputSchemas
    const guard = yield* TargetGuard
    const { hides } = yield* Masking
    const { page } = yield* Pagination
    const findProcess = (params: { readonly workspace_id: WorkspaceId; readonly process_id: ProcessId }) =>
      orNotFound("process", params.process_id, processStore.get(params.workspace_id, params.process_id))
    const find = (params: { readonly workspace_id: WorkspaceId; readonly process_run_id: ProcessRunId }) =>
      orNotFound("process run", params.process_run_id, store.get(params.workspace_id, params.process_run_id))
    return handlers.handleAll({
      getProcessRun: ({ params }) => find(params),
      getProcessRunSteps: ({ params }) =>
        Effect.map(
          orNotFound("process run", params.process_run_id, steps.of(params.workspace_id, params.process_run_id, hides)),
          (data) => ({ data })
        ),
      listProcessRuns: Effect.fnUntraced(function* ({ params, query, request }) {
        const { created_after, created_before, process_id: processId = null, state = null } = query
        const created = {
          from: timeIn(created_after),
          before: timeIn(created_before)
        }
        return yield* page(
          request,
          query,
          (from) => store.list(params.workspace_id, { processId, state, created }, from),
          Effect.succeed
        )
      }),
      startProcessRun: Effect.fnUntraced(function* ({ params, payload }) {
        const process = yield* findProcess(params)
        if (payload?.type === "with_payloads") {
          for (const [index, item] of payload.payloads.entries()) yield* checkPayload(item, `payloads.${index}`)
        }
        const { callback, priority = 0, ...input } = payload ?? {}
        const refusal = callback === undefined ? null : guard.refuses(callback.url)
        if (refusal !== null) return yield* invalidRequest(`callback.url: ${refusal}`)
        return started(
          yield* refusals(
            "CONFLICT",
            "NOT_FOUND",
            "INVALID_REQUEST"
          )(
            runs.start(params.workspace_id, process, input, {
              priority,
              callback,
              user: yield* starter
            })
          )
        )
      }),
      startProcessRunFromIntegration: Effect.fnUntraced(function* ({ headers, params, payload, query }) {
        const process = yield* findProcess(params)
        const secret = headers["x-hook-secret"]
        if (query.with_handshake === "asana" && secret !== undefined) {
          return HttpServerResponse.jsonUnsafe(started(null), { headers: { "x-hook-secret": secret } })
        }
        yield* checkPayload(payload ?? null, "the body")
        // Here besides, because the caller has sent no `payloads`.
        yield* refusals("INVALID_REQUEST")(inputSchemas.checkPayload(process, payload ?? null, "the body"))
        const input = { type: "with_payloads", payloads: [payload ?? null] } as const
        const id = yield* refusals(
          "CONFLICT",
          "NOT_FOUND",
          "INVALID_REQUEST"
        )(runs.start(params.workspace_id, process, input))
        return HttpServerResponse.jsonUnsafe(started(id))
      }),
      startProcessRunAgain: Effect.fnUntraced(function* ({ params }) {
        const run = yield* find(params)
        const id = yield* refusals(
          "CONFLICT",
          "NOT_FOUND"
        )(runs.startAgain(params.workspace_id, run.id, yield* starter))
        return { started: true, id } as const
      }),
      stopProcessRun: Effect.fnUntraced(function* ({ params, payload }) {
        const run = yield* find(params)
        const accepted = yield* runs.stop(run.id, {
          asDone: payload.set_remaining_work_items_as_done,
          terminate: payload.terminate_ongoing_activity_runs,
          reason: payload.reason ?? "the run was stopped"
        })
        return { accepted }
      }),
      deleteProcessRun: Effect.fnUntraced(function* ({ params }) {
        const run = yield* find(params)
        yield* refusals("CONFLICT")(runs.remove(run.id))
        return { id: run.id, deleted: true } as const
      })
    })
  })
)
