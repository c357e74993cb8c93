/**
 * The whole contract: the public interface, the interface of workers and the robot side. Server, client, OpenAPI
 * document and tests are derived from this one value.
 */
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { documentOf } from "../internal/documentation/OpenApiDocument.ts"
import { AlertChannels } from "./AlertChannels.ts"
import { AlertEvent, Alerts } from "./Alerts.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { Audit } from "./Audit.ts"
import { Roles } from "./Roles.ts"
import { Users } from "./Users.ts"
import { AssistantRuns } from "./AssistantRuns.ts"
import { Assistants } from "./Assistants.ts"
import { Assets } from "./Assets.ts"
import { Validation } from "./Authorization.ts"
import { ConsoleTickets } from "./ConsoleTickets.ts"
import { BulkOperations } from "./BulkOperations.ts"
import { Change, Changes } from "./Changes.ts"
import { Failures } from "./Failures.ts"
import { Legacy } from "./Legacy.ts"
import { Outputs } from "./Outputs.ts"
import { Pauses } from "./Pauses.ts"
import { Processes } from "./Processes.ts"
import { ProcessRuns } from "./ProcessRuns.ts"
import { ErrorBody } from "./Responses.ts"
import { RobotData, RobotProcess } from "./Robot.ts"
import { RobotSecrets } from "./RobotSecrets.ts"
import { Schedules } from "./Schedules.ts"
import { RoomGroup } from "./Room.ts"
import { Secrets } from "./Secrets.ts"
import { StepRuns } from "./StepRuns.ts"
import { TaskPackages } from "./TaskPackages.ts"
import { Triggers } from "./Triggers.ts"
import { WebhookEvent } from "./WebhookEvents.ts"
import { Webhooks } from "./Webhooks.ts"
import { WorkerGroups } from "./WorkerGroups.ts"
import { WorkerProtocol } from "./WorkerProtocol.ts"
import { Workers } from "./Workers.ts"
import { WorkItems } from "./WorkItems.ts"
import { Workspaces } from "./Workspaces.ts"

/** The path of the public interface below the origin of a service. */
export const basePath = "/api/v1"

/** The groups by their prefix: written out, since the declaration of the value would repeat every schema of the contract. */
type Groups =
  | HttpApiGroup.AddPrefix<
      | typeof Workspaces
      | typeof RoomGroup
      | typeof Assets
      | typeof Assistants
      | typeof AssistantRuns
      | typeof Processes
      | typeof Pauses
      | typeof ProcessRuns
      | typeof Outputs
      | typeof StepRuns
      | typeof WorkItems
      | typeof Failures
      | typeof BulkOperations
      | typeof TaskPackages
      | typeof Secrets
      | typeof Webhooks
      | typeof Schedules
      | typeof Triggers
      | typeof Workers
      | typeof WorkerGroups
      | typeof Alerts
      | typeof AlertChannels
      | typeof ApiKeys
      | typeof Audit
      | typeof Users
      | typeof Roles
      | typeof ConsoleTickets
      | typeof Changes,
      typeof basePath
    >
  | HttpApiGroup.AddPrefix<typeof WorkerProtocol, "/worker-v1">
  | HttpApiGroup.AddPrefix<typeof RobotProcess, "/process-v1">
  | HttpApiGroup.AddPrefix<typeof RobotData, "/json-v1">
  | HttpApiGroup.AddPrefix<typeof RobotSecrets, "/secrets-v1">
  | typeof Legacy

const operations: HttpApi.HttpApi<"signalbox", HttpApiGroup.AddMiddleware<Groups, Validation>> = HttpApi.make(
  "signalbox"
)
  .add(
    Workspaces.prefix(basePath),
    RoomGroup.prefix(basePath),
    Assets.prefix(basePath),
    Assistants.prefix(basePath),
    AssistantRuns.prefix(basePath),
    Processes.prefix(basePath),
    Pauses.prefix(basePath),
    ProcessRuns.prefix(basePath),
    Outputs.prefix(basePath),
    StepRuns.prefix(basePath),
    WorkItems.prefix(basePath),
    Failures.prefix(basePath),
    BulkOperations.prefix(basePath),
    TaskPackages.prefix(basePath),
    Secrets.prefix(basePath),
    Webhooks.prefix(basePath),
    Schedules.prefix(basePath),
    Triggers.prefix(basePath),
    Workers.prefix(basePath),
    WorkerGroups.prefix(basePath),
    Alerts.prefix(basePath),
    AlertChannels.prefix(basePath),
    ApiKeys.prefix(basePath),
    Audit.prefix(basePath),
    Users.prefix(basePath),
    Roles.prefix(basePath),
    ConsoleTickets.prefix(basePath),
    Changes.prefix(basePath),
    WorkerProtocol.prefix("/worker-v1"),
    RobotProcess.prefix("/process-v1"),
    RobotData.prefix("/json-v1"),
    RobotSecrets.prefix("/secrets-v1"),
    Legacy
  )
  .middleware(Validation)

export const Api: typeof operations = operations
  .annotateMerge(
    OpenApi.annotations({
      title: "Signalbox",
      version: "1.0.0",
      summary: "The interface of an automation control room",
      license: { name: "MIT", identifier: "MIT" },
      transform: documentOf(operations, basePath)
    })
  )
  .annotate(HttpApi.AdditionalSchemas, [ErrorBody, WebhookEvent, AlertEvent, Change])
