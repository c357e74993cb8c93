/**
 * Pauses of processes, steps, workers and groups: no more work items are reserved, and no more step runs are leased. Step runs
 * in progress continue, with their leases and time limits.
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization, StartsWork } from "./Authorization.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Pauses.ts"

export * from "../internal/endpoints/Pauses.ts"

/** Runs of a paused process can be started; they wait. */
export const pauseProcess: EndpointOf<typeof declared.pauseProcess> = endpoint(declared.pauseProcess, "Pause a process")
  .annotate(RequiredPermission, "Processes.pause_processes")
  .annotate(Audited, entry("process"))

/** Its failures are counted from zero again. */
export const resumeProcess: EndpointOf<typeof declared.resumeProcess> = endpoint(
  declared.resumeProcess,
  "Resume a process"
)
  .annotate(RequiredPermission, "Processes.pause_processes")
  .annotate(StartsWork, true)
  .annotate(Audited, entry("process"))

export const pauseStep: EndpointOf<typeof declared.pauseStep> = endpoint(
  declared.pauseStep,
  "Pause a step of a process"
)
  .annotate(RequiredPermission, "Processes.pause_processes")
  .annotate(Audited, entry("process_step"))

/** Its failures are counted from zero again. */
export const resumeStep: EndpointOf<typeof declared.resumeStep> = endpoint(
  declared.resumeStep,
  "Resume a step of a process"
)
  .annotate(RequiredPermission, "Processes.pause_processes")
  .annotate(StartsWork, true)
  .annotate(Audited, entry("process_step"))

/** It stays online, finishes what it has, and gets nothing more. */
export const pauseWorker: EndpointOf<typeof declared.pauseWorker> = endpoint(declared.pauseWorker, "Pause a worker")
  .annotate(RequiredPermission, "Workers.pause_workers")
  .annotate(Audited, entry("worker"))

export const resumeWorker: EndpointOf<typeof declared.resumeWorker> = endpoint(declared.resumeWorker, "Resume a worker")
  .annotate(RequiredPermission, "Workers.pause_workers")
  .annotate(Audited, entry("worker"))

/** Steps that are bound to it wait; its workers still get what is not. */
export const pauseGroup: EndpointOf<typeof declared.pauseGroup> = endpoint(declared.pauseGroup, "Pause a worker group")
  .annotate(RequiredPermission, "Workers.pause_workers")
  .annotate(Audited, entry("worker_group"))

export const resumeGroup: EndpointOf<typeof declared.resumeGroup> = endpoint(
  declared.resumeGroup,
  "Resume a worker group"
)
  .annotate(RequiredPermission, "Workers.pause_workers")
  .annotate(Audited, entry("worker_group"))

export const Pauses: Group<
  "pauses",
  | typeof pauseProcess
  | typeof resumeProcess
  | typeof pauseStep
  | typeof resumeStep
  | typeof pauseWorker
  | typeof resumeWorker
  | typeof pauseGroup
  | typeof resumeGroup,
  WorkspaceAuthorization
> = HttpApiGroup.make("pauses")
  .add(pauseProcess, resumeProcess, pauseStep, resumeStep, pauseWorker, resumeWorker, pauseGroup, resumeGroup)
  .middleware(WorkspaceAuthorization)
