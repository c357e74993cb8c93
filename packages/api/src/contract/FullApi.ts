/**
 * The whole contract: the public interface, the workers' own and the robot side. The service serves `Api` today and grows
 * into this; then `Api` becomes this whole, and the groups named `...Full` take the place of those that they extend.
 */
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { documentOf } from "../internal/OpenApiDocument.ts"
import { basePath } from "./Api.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { AssistantRuns } from "./AssistantRuns.ts"
import { Assistants } from "./Assistants.ts"
import { Assets } from "./Assets.ts"
import { Validation } from "./Authorization.ts"
import { Outputs } from "./Outputs.ts"
import { ProcessesFull } from "./Processes.ts"
import { ProcessRunsFull } from "./ProcessRuns.ts"
import { ErrorBody } from "./Responses.ts"
import { RobotDataFull, RobotProcess } from "./Robot.ts"
import { RobotSecrets } from "./RobotSecrets.ts"
import { Secrets } from "./Secrets.ts"
import { StepRunsFull } from "./StepRuns.ts"
import { TaskPackages } from "./TaskPackages.ts"
import { WebhookEvent } from "./WebhookEvents.ts"
import { Webhooks } from "./Webhooks.ts"
import { WorkerGroups } from "./WorkerGroups.ts"
import { WorkerProtocolFull } from "./WorkerProtocol.ts"
import { WorkersFull } from "./Workers.ts"
import { WorkItems } from "./WorkItems.ts"
import { Workspaces } from "./Workspaces.ts"

const operations = HttpApi.make("signalbox")
  .add(
    Workspaces.prefix(basePath),
    Assets.prefix(basePath),
    Assistants.prefix(basePath),
    AssistantRuns.prefix(basePath),
    ProcessesFull.prefix(basePath),
    ProcessRunsFull.prefix(basePath),
    Outputs.prefix(basePath),
    StepRunsFull.prefix(basePath),
    WorkItems.prefix(basePath),
    TaskPackages.prefix(basePath),
    Secrets.prefix(basePath),
    Webhooks.prefix(basePath),
    WorkersFull.prefix(basePath),
    WorkerGroups.prefix(basePath),
    ApiKeys.prefix(basePath),
    WorkerProtocolFull.prefix("/worker-v1"),
    RobotProcess.prefix("/process-v1"),
    RobotDataFull.prefix("/json-v1"),
    RobotSecrets.prefix("/secrets-v1")
  )
  .middleware(Validation)

export const FullApi = operations
  .annotateMerge(
    OpenApi.annotations({
      title: "Signalbox",
      version: "1.0.0",
      summary: "The interface of an automation control room",
      license: { name: "MIT", identifier: "MIT" },
      transform: documentOf(operations, basePath)
    })
  )
  .annotate(HttpApi.AdditionalSchemas, [ErrorBody, WebhookEvent])
