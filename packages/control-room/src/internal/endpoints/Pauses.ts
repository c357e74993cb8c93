/** Pauses of processes, steps, workers and worker groups. */
import { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import type { PausedBy } from "@signalbox/api/contract/Pauses"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Endpoints from "../edge/Endpoints.ts"
import { notFound, orNotFound } from "../edge/Failures.ts"
import * as Pausing from "../runs/Pausing.ts"
import { ApiKeys } from "../store/ApiKeys.ts"
import { Processes } from "../store/Processes.ts"
import { WorkerGroups } from "../store/WorkerGroups.ts"
import { Workers } from "../store/Workers.ts"

interface InWorkspace {
  readonly workspace_id: WorkspaceId
}

interface Request<P> {
  readonly params: P
  readonly payload: { readonly note?: string | null } | undefined
}

export const layer = Endpoints.group(
  "pauses",
  Effect.fnUntraced(function* (handlers) {
    const processes = yield* Processes
    const workers = yield* Workers
    const groups = yield* WorkerGroups
    const keys = yield* ApiKeys
    const pausing = yield* Pausing.make

    const author = Effect.gen(function* () {
      const principal = yield* CurrentPrincipal
      // The contract admits only keys of the workspace here.
      if (principal._tag !== "ApiKey") return yield* Effect.die(new Error("a pause needs a key"))
      const by: PausedBy = { type: "api_key", id: principal.keyId, name: yield* keys.nameOf(principal.keyId) }
      return by
    })

    const pause =
      <P extends InWorkspace, E>(subjectOf: (params: P) => Effect.Effect<string, E>) =>
      ({ params, payload }: Request<P>) =>
        Effect.gen(function* () {
          const subject = yield* subjectOf(params)
          const note = payload?.note ?? null
          return { paused: yield* pausing.pause(params.workspace_id, subject, yield* author, note) }
        })

    const resume =
      <P extends InWorkspace, E>(subjectOf: (params: P) => Effect.Effect<string, E>) =>
      ({ params }: { readonly params: P }) =>
        Effect.gen(function* () {
          yield* pausing.resume(params.workspace_id, yield* subjectOf(params))
          return { paused: null }
        })

    const processOf = ({ process_id, workspace_id }: InWorkspace & { readonly process_id: string }) =>
      Effect.map(orNotFound("process", process_id, processes.get(workspace_id, process_id)), ({ view }) => view.id)

    const stepOf = Effect.fnUntraced(function* (
      params: InWorkspace & { readonly process_id: string; readonly step_id: string }
    ) {
      const { process_id, step_id, workspace_id } = params
      const { steps } = yield* orNotFound("process", process_id, processes.get(workspace_id, process_id))
      const step = steps.find(({ id }) => id === step_id)
      return step?.id ?? (yield* notFound("step of this process", step_id))
    })

    const workerOf = ({ worker_id, workspace_id }: InWorkspace & { readonly worker_id: string }) =>
      Effect.map(orNotFound("worker", worker_id, workers.get(workspace_id, worker_id)), ({ id }) => id)

    const groupOf = ({ worker_group_id, workspace_id }: InWorkspace & { readonly worker_group_id: string }) =>
      Effect.map(orNotFound("worker group", worker_group_id, groups.get(workspace_id, worker_group_id)), ({ id }) => id)

    return handlers.handleAll({
      pauseProcess: pause(processOf),
      resumeProcess: resume(processOf),
      pauseProcessStep: pause(stepOf),
      resumeProcessStep: resume(stepOf),
      pauseWorker: pause(workerOf),
      resumeWorker: resume(workerOf),
      pauseWorkerGroup: pause(groupOf),
      resumeWorkerGroup: resume(groupOf)
    })
  })
)
