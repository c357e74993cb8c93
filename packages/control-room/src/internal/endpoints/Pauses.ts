/** Pauses of processes, steps, workers and worker groups. */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Endpoints from "../edge/Endpoints.ts"
import * as Actor from "../edge/Actor.ts"
import { notFound, orNotFound } from "../edge/Failures.ts"
import * as Pausing from "../runs/Pausing.ts"
import { Processes } from "../store/processes/Processes.ts"
import { WorkerGroups } from "../store/workers/WorkerGroups.ts"
import { Workers } from "../store/workers/Workers.ts"

interface InWorkspace {
  readonly workspace_id: WorkspaceId
}

interface OfProcess extends InWorkspace {
  readonly process_id: string
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
    const author = yield* Actor.make
    const pausing = yield* Pausing.make

    const pause =
      <P, E>(subjectOf: (params: P) => Effect.Effect<Pausing.Subject, E>) =>
      ({ params, payload }: Request<P>) =>
        Effect.gen(function* () {
          const subject = yield* subjectOf(params)
          return { paused: yield* pausing.pause(subject, yield* author, payload?.note ?? null) }
        })

    const resume =
      <P, E>(subjectOf: (params: P) => Effect.Effect<Pausing.Subject, E>) =>
      ({ params }: { readonly params: P }) =>
        Effect.gen(function* () {
          yield* pausing.resume(yield* subjectOf(params))
          return { paused: null }
        })

    const found = Effect.fnUntraced(function* ({ process_id, workspace_id }: OfProcess) {
      const { view } = yield* orNotFound("process", process_id, processes.get(workspace_id, process_id))
      return { view, process: { id: view.id, name: view.name } }
    })

    const processOf = (params: OfProcess) =>
      Effect.map(found(params), ({ process }): Pausing.Subject => {
        return { workspaceId: params.workspace_id, id: process.id, of: { process, step: null } }
      })

    const stepOf = Effect.fnUntraced(function* (params: OfProcess & { readonly step_id: string }) {
      const { process, view } = yield* found(params)
      const step = view.steps.find(({ id }) => id === params.step_id)
      if (step === undefined) return yield* notFound("step of this process", params.step_id)
      const subject: Pausing.Subject = {
        workspaceId: params.workspace_id,
        id: step.id,
        of: { process, step: step.name }
      }
      return subject
    })

    const workerOf = ({ worker_id, workspace_id }: InWorkspace & { readonly worker_id: string }) =>
      Effect.map(orNotFound("worker", worker_id, workers.get(workspace_id, worker_id)), ({ id }): Pausing.Subject => ({
        workspaceId: workspace_id,
        id,
        of: null
      }))

    const groupOf = ({ worker_group_id, workspace_id }: InWorkspace & { readonly worker_group_id: string }) =>
      Effect.map(
        orNotFound("worker group", worker_group_id, groups.get(workspace_id, worker_group_id)),
        ({ id }): Pausing.Subject => ({ workspaceId: workspace_id, id, of: null })
      )

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
