/** Step runs: one execution of a step on one worker. A step run is executed at most once. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/StepRuns.ts"

export * from "../internal/endpoints/StepRuns.ts"

export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a step run").annotate(
  RequiredPermission,
  "Processes.read_runs"
)

export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the step runs of a process run, newest first"
).annotate(RequiredPermission, "Processes.read_processes")

/** Oldest first. */
export const listEvents: EndpointOf<typeof declared.listEvents> = endpoint(
  declared.listEvents,
  "List the events of a step run, oldest first"
).annotate(RequiredPermission, "Processes.read_run_outputs")

export const listArtifacts: EndpointOf<typeof declared.listArtifacts> = endpoint(
  declared.listArtifacts,
  "List the artifacts of a step run, newest first"
).annotate(RequiredPermission, "Processes.read_run_outputs")

export const getArtifact: EndpointOf<typeof declared.getArtifact> = endpoint(
  declared.getArtifact,
  "Get an artifact with its download address"
).annotate(RequiredPermission, "Processes.read_run_outputs")

/** A page has up to 1,000 messages, unless `count` says fewer of one requested by `position`. */
export const listConsoleMessages: EndpointOf<typeof declared.listConsoleMessages> = endpoint(
  declared.listConsoleMessages,
  "List the console messages of a step run, oldest first"
).annotate(RequiredPermission, "Processes.read_run_outputs")

export const StepRuns: Group<
  "stepRuns",
  typeof get | typeof list | typeof listEvents | typeof listArtifacts | typeof getArtifact | typeof listConsoleMessages,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("stepRuns")
  .add(get, list, listEvents, listArtifacts, getArtifact, listConsoleMessages)
  .middleware(WorkspaceAuthorization)
