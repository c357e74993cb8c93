/**
 * Assistants and their runs over HTTP.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Assistants, heartbeatSeconds } from "../store/workers/Assistants.ts"
import { RoomState } from "../store/room/RoomState.ts"
import { TaskPackages } from "../store/packages/TaskPackages.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { conflict, refusals, notFound, orNotFound } from "../edge/Failures.ts"
import { FileLinks } from "../transfers/FileLinks.ts"
import { Pagination } from "../edge/Pagination.ts"
import { locate } from "./TaskPackages.ts"

const assistants = Endpoints.group(
  "assistants",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Assistants
    const { page } = yield* Pagination
    return handlers.handleAll({
      getAssistant: ({ params }) =>
        orNotFound("assistant", params.assistant_id, store.get(params.workspace_id, params.assistant_id)),
      listAssistants: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createAssistant: Effect.fnUntraced(function* ({ params, payload }) {
        const { id, name } = yield* store
          .create(params.workspace_id, payload.name, payload.task)
          .pipe(refusals("NOT_FOUND", "CONFLICT"))
        return { id, name }
      })
    })
  })
)

const runs = Endpoints.group(
  "assistantRuns",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Assistants
    const packages = yield* TaskPackages
    const links = yield* FileLinks
    const { page } = yield* Pagination
    const room = yield* RoomState
    const what = "assistant run"
    const params = (given: { readonly workspace_id: WorkspaceId; readonly assistant_run_id: string }) =>
      [given.workspace_id, given.assistant_run_id] as const
    return handlers.handleAll({
      getAssistantRun: ({ params: given }) => orNotFound(what, given.assistant_run_id, store.getRun(...params(given))),
      listAssistantRuns: ({ params: { workspace_id }, query, request }) =>
        page(request, query, (from) => store.listRuns(workspace_id, query.assistant_id ?? null, from), Effect.succeed),
      startAssistantRun: Effect.fnUntraced(function* ({ params: { assistant_id, workspace_id } }) {
        const assistant = yield* orNotFound("assistant", assistant_id, store.get(workspace_id, assistant_id))
        if (!(yield* room.running)) {
          return yield* conflict("this room was restored and is paused; resume it with `signalbox resume`")
        }
        const { name, package_id } = assistant.task
        const content = yield* refusals("CONFLICT")(packages.forTask(workspace_id, package_id, name, null))
        const located = yield* locate(links, workspace_id, content)
        const started = yield* store.start(workspace_id, assistant, content.version)
        return {
          id: started.id,
          run_token: Redacted.make(started.token),
          task: { name },
          package: located,
          heartbeat_seconds: heartbeatSeconds
        }
      }),
      heartbeatAssistantRun: Effect.fnUntraced(function* ({ params: given }) {
        const run = yield* refusals("CONFLICT")(store.seen(...params(given)))
        return run ?? (yield* notFound(what, given.assistant_run_id))
      }),
      completeAssistantRun: Effect.fnUntraced(function* ({ params: given, payload: { error } }) {
        const run = yield* refusals("CONFLICT")(store.complete(...params(given), error?.code ?? null))
        return run ?? (yield* notFound(what, given.assistant_run_id))
      })
    })
  })
)

export const layer = Layer.mergeAll(assistants, runs)
