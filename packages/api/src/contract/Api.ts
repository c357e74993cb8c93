/**
 * The whole contract: one value from which the server, the client, the OpenAPI document and the tests are made.
 */
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { AssistantRuns } from "./AssistantRuns.ts"
import { Assistants } from "./Assistants.ts"
import { Assets } from "./Assets.ts"
import { Validation } from "./Authorization.ts"
import { Outputs } from "./Outputs.ts"
import { Processes } from "./Processes.ts"
import { ProcessRuns } from "./ProcessRuns.ts"
import { RobotDataFull, RobotProcess } from "./Robot.ts"
import { StepRunsFull } from "./StepRuns.ts"
import { TaskPackages } from "./TaskPackages.ts"
import { WorkerProtocolFull } from "./WorkerProtocol.ts"
import { Workers } from "./Workers.ts"
import { WorkItems } from "./WorkItems.ts"
import { Workspaces } from "./Workspaces.ts"

/** Where the public interface lies below the origin of a service. */
export const basePath = "/api/v1"

export const Api = HttpApi.make("signalbox")
  .add(
    Workspaces.prefix(basePath),
    Processes.prefix(basePath),
    WorkItems.prefix(basePath),
    ProcessRuns.prefix(basePath),
    StepRunsFull.prefix(basePath),
    Outputs.prefix(basePath),
    Assets.prefix(basePath),
    TaskPackages.prefix(basePath),
    Assistants.prefix(basePath),
    AssistantRuns.prefix(basePath),
    Workers.prefix(basePath),
    WorkerProtocolFull.prefix("/worker-v1"),
    RobotProcess.prefix("/process-v1"),
    RobotDataFull.prefix("/json-v1")
  )
  .middleware(Validation)
  .annotateMerge(OpenApi.annotations({ title: "Signalbox", version: "1.0.0" }))
