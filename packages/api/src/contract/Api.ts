/**
 * The whole contract: one value from which the server, the client, the OpenAPI document and the tests are made.
 */
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { ApiKeys } from "./ApiKeys.ts"
import { AssistantRuns } from "./AssistantRuns.ts"
import { Assistants } from "./Assistants.ts"
import { Assets } from "./Assets.ts"
import { Validation } from "./Authorization.ts"
import { Outputs } from "./Outputs.ts"
import { ProcessesFull } from "./Processes.ts"
import { ProcessRunsFull } from "./ProcessRuns.ts"
import { RobotDataFull, RobotProcess } from "./Robot.ts"
import { RobotSecrets } from "./RobotSecrets.ts"
import { Secrets } from "./Secrets.ts"
import { StepRunsFull } from "./StepRuns.ts"
import { TaskPackages } from "./TaskPackages.ts"
import { Webhooks } from "./Webhooks.ts"
import { WorkerGroups } from "./WorkerGroups.ts"
import { WorkerProtocolFull } from "./WorkerProtocol.ts"
import { WorkersFull } from "./Workers.ts"
import { WorkItems } from "./WorkItems.ts"
import { Workspaces } from "./Workspaces.ts"

/** Where the public interface lies below the origin of a service. */
export const basePath = "/api/v1"

export const Api = HttpApi.make("signalbox")
  .add(
    Workspaces.prefix(basePath),
    ProcessesFull.prefix(basePath),
    WorkItems.prefix(basePath),
    ProcessRunsFull.prefix(basePath),
    StepRunsFull.prefix(basePath),
    Outputs.prefix(basePath),
    Assets.prefix(basePath),
    TaskPackages.prefix(basePath),
    Assistants.prefix(basePath),
    AssistantRuns.prefix(basePath),
    WorkersFull.prefix(basePath),
    WorkerGroups.prefix(basePath),
    ApiKeys.prefix(basePath),
    Secrets.prefix(basePath),
    Webhooks.prefix(basePath),
    WorkerProtocolFull.prefix("/worker-v1"),
    RobotProcess.prefix("/process-v1"),
    RobotDataFull.prefix("/json-v1"),
    RobotSecrets.prefix("/secrets-v1")
  )
  .middleware(Validation)
  .annotateMerge(OpenApi.annotations({ title: "Signalbox", version: "1.0.0" }))
