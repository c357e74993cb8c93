/** The service over its storage: routes, background tasks, and the settings of request handling. */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as UrlParams from "effect/http/UrlParams"
import type { ServiceOptions } from "../../Options.ts"
import { hasHookToken } from "../settings/HooksPath.ts"
import { limits } from "../settings/Limits.ts"
import { AlertSender } from "../delivery/AlertSender.ts"
import { Deliverer } from "../delivery/Deliverer.ts"
import { ResponseMemory } from "../edge/ResponseMemory.ts"
import { Auditing } from "../edge/Auditing.ts"
import { Authorization } from "../edge/Authorization.ts"
import { ConsoleCookies } from "../edge/ConsoleCookies.ts"
import * as ConsolePages from "../edge/ConsolePages.ts"
import * as ConsoleRoutes from "../edge/ConsoleRoutes.ts"
import * as Cors from "../edge/Cors.ts"
import * as Edge from "../edge/Edge.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import * as FlowRoutes from "../edge/FlowRoutes.ts"
import { AccountEntry } from "../edge/AccountEntry.ts"
import * as AccountRoutes from "../edge/AccountRoutes.ts"
import { Idempotency } from "../edge/Idempotency.ts"
import { ProviderAccounts } from "../edge/ProviderAccounts.ts"
import * as ProviderRoutes from "../edge/ProviderRoutes.ts"
import { Providers } from "../providers/Providers.ts"
import { SessionViews } from "../edge/SessionViews.ts"
import * as SignInRoutes from "../edge/SignInRoutes.ts"
import { SignIn } from "../edge/SignIn.ts"
import { Pagination } from "../edge/Pagination.ts"
import * as Probes from "../edge/Probes.ts"
import { defaultRateLimit, RateLimits } from "../edge/RateLimits.ts"
import { UnauthenticatedRequests } from "../edge/UnauthenticatedRequests.ts"
import * as AlertChannelHandlers from "../endpoints/AlertChannels.ts"
import * as AlertHandlers from "../endpoints/Alerts.ts"
import * as ApiKeyHandlers from "../endpoints/ApiKeys.ts"
import * as RoleHandlers from "../endpoints/Roles.ts"
import * as UserHandlers from "../endpoints/Users.ts"
import * as AssetHandlers from "../endpoints/Assets.ts"
import * as AuditHandlers from "../endpoints/Audit.ts"
import * as BulkOperationHandlers from "../endpoints/BulkOperations.ts"
import * as FailureHandlers from "../endpoints/Failures.ts"
import * as AssistantHandlers from "../endpoints/Assistants.ts"
import * as ChangeHandlers from "../endpoints/Changes.ts"
import { ClientAddress } from "../edge/ClientAddress.ts"
import * as ConsoleFiles from "../endpoints/ConsoleFiles.ts"
import * as ConsoleTicketHandlers from "../endpoints/ConsoleTickets.ts"
import * as Legacy from "../endpoints/Legacy.ts"
import * as OutputHandlers from "../endpoints/Outputs.ts"
import * as Hooks from "../endpoints/Hooks.ts"
import * as PauseHandlers from "../endpoints/Pauses.ts"
import * as ProcessRunHandlers from "../endpoints/ProcessRuns.ts"
import * as ProcessHandlers from "../endpoints/Processes.ts"
import * as Robot from "../endpoints/Robot.ts"
import * as RoomHandlers from "../endpoints/Room.ts"
import * as RobotSecrets from "../endpoints/RobotSecrets.ts"
import * as ScheduleHandlers from "../endpoints/Schedules.ts"
import * as SecretHandlers from "../endpoints/Secrets.ts"
import * as StepRunHandlers from "../endpoints/StepRuns.ts"
import * as TaskPackageHandlers from "../endpoints/TaskPackages.ts"
import * as Transfers from "../endpoints/Transfers.ts"
import { Masking } from "../endpoints/Masking.ts"
import { Views } from "../endpoints/Views.ts"
import * as TriggerHandlers from "../endpoints/Triggers.ts"
import * as WebhookHandlers from "../endpoints/Webhooks.ts"
import * as WorkItemHandlers from "../endpoints/WorkItems.ts"
import * as WorkerGroupHandlers from "../endpoints/WorkerGroups.ts"
import * as WorkerProtocol from "../endpoints/WorkerProtocol.ts"
import * as WorkerHandlers from "../endpoints/Workers.ts"
import * as WorkspaceHandlers from "../endpoints/Workspaces.ts"
import { Git } from "../git/Git.ts"
import { GitPackages } from "../git/GitPackages.ts"
import { BulkOperations } from "../runs/BulkOperations.ts"
import * as Gauges from "../runs/Gauges.ts"
import { InputSchemas } from "../runs/InputSchemas.ts"
import { Secrecy } from "../runs/Secrecy.ts"
import { Alerter } from "../runs/Alerter.ts"
import { NextItems } from "../runs/NextItems.ts"
import { Retention } from "../runs/Retention.ts"
import * as AuditLinks from "../runs/AuditLinks.ts"
import { Runs } from "../runs/Runs.ts"
import { Scheduler } from "../runs/Scheduler.ts"
import { StaleAccounts } from "../runs/StaleAccounts.ts"
import { TriggerStarts } from "../runs/TriggerStarts.ts"
import { WorkSignal } from "../runs/WorkSignal.ts"
import { StorageHealth } from "../storage/StorageHealth.ts"
import { RoomState } from "../store/room/RoomState.ts"
import { UploadCompletion } from "../transfers/UploadCompletion.ts"
import { FileLinks } from "../transfers/FileLinks.ts"

type Routed = Pick<
  ServiceOptions,
  | "console"
  | "consoleKeys"
  | "cors"
  | "createWorkspaces"
  | "flows"
  | "insecureSignIn"
  | "metrics"
  | "providers"
  | "rateLimit"
  | "signIn"
  | "trustedProxies"
>

/** The whole contract. */
const endpoints = (createWorkspaces: boolean) =>
  Layer.mergeAll(
    ProcessHandlers.layer,
    PauseHandlers.layer,
    WorkItemHandlers.layer,
    FailureHandlers.layer,
    BulkOperationHandlers.layer,
    OutputHandlers.layer,
    WorkspaceHandlers.layer(createWorkspaces),
    RoomHandlers.layer,
    StepRunHandlers.layer,
    AssetHandlers.layer,
    TaskPackageHandlers.layer,
    AssistantHandlers.layer,
    ProcessRunHandlers.layer,
    WebhookHandlers.layer,
    TriggerHandlers.layer,
    AlertHandlers.layer,
    AlertChannelHandlers.layer,
    ApiKeyHandlers.layer,
    AuditHandlers.layer,
    UserHandlers.layer,
    RoleHandlers.layer,
    ConsoleTicketHandlers.layer,
    ChangeHandlers.layer,
    ScheduleHandlers.layer,
    SecretHandlers.layer,
    WorkerHandlers.layer,
    WorkerGroupHandlers.layer,
    WorkerProtocol.layer,
    Robot.layer,
    RobotSecrets.layer,
    Legacy.layer
  )

const routes = ({
  console,
  consoleKeys = false,
  cors = [],
  createWorkspaces = true,
  flows,
  insecureSignIn = false,
  metrics = false,
  providers,
  signIn
}: Routed) =>
  Layer.mergeAll(
    Layer.provide(
      Layer.merge(endpoints(createWorkspaces), FlowRoutes.layer(flows)),
      Layer.merge(Authorization.layer, Auditing.layer)
    ),
    Endpoints.layerDocument(Edge.openApiPath),
    Endpoints.layerPage(Edge.docsPath),
    Probes.layer({ metrics }),
    metrics ? Gauges.layerTicking : Layer.empty,
    Transfers.layer,
    Layer.mergeAll(
      ConsoleRoutes.layer({ mayUseKeys: consoleKeys }),
      SignInRoutes.layer({ mayBeInsecure: insecureSignIn, isOwn: signIn === "own" }),
      ProviderRoutes.layer,
      AccountRoutes.layer
    ).pipe(
      Layer.provide([AccountEntry.layer, ProviderAccounts.layer, Providers.layer(providers), SessionViews.layer]),
      Layer.provide(SignIn.layer)
    ),
    ConsoleFiles.layer,
    console === undefined ? Layer.empty : ConsolePages.layer(console),
    Hooks.layer,
    Edge.layer,
    cors.length === 0 ? Layer.empty : Cors.layer(cors)
  )

/** Spans are created only when a tracer collects them. */
const quietTracer = Layer.unwrap(
  Effect.map(Tracer.Tracer, (tracer) =>
    tracer === Tracer.nativeTracer ? Layer.succeed(References.TracerEnabled, false) : Layer.empty
  )
)

/** Task packages from git repositories. */
const gitPackages = GitPackages.layer.pipe(Layer.provide(Git.layer))

/** Nobody waits in vain for a room that is paused. */
const sayPaused = Layer.effectDiscard(
  Effect.gen(function* () {
    const { running } = yield* RoomState
    if (yield* running) return
    yield* Effect.logWarning(
      "the room is paused, since it was restored from a backup: no work is assigned and nothing is sent until `signalbox resume`"
    )
  })
)

/** Runs, deliveries, packages that follow a branch and retention, with their background loops. */
export const running = ({
  providerStale,
  retainAudit,
  retainRuns
}: Pick<ServiceOptions, "providerStale" | "retainAudit" | "retainRuns">) =>
  Layer.mergeAll(
    Runs.layerTicking,
    AuditLinks.layerTicking,
    Scheduler.layerTicking,
    TriggerStarts.layerTicking,
    Deliverer.layerRunning,
    GitPackages.layerTicking,
    BulkOperations.layerTicking,
    sayPaused,
    AlertSender.layerRunning,
    Alerter.layerTicking,
    Layer.provide(Retention.layerTicking, Retention.layer(retainRuns, retainAudit)),
    Layer.provide(StaleAccounts.layerTicking, StaleAccounts.layer(providerStale))
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Scheduler.layer,
        TriggerStarts.layer,
        BulkOperations.layer,
        Layer.provideMerge(Alerter.layer, AlertSender.layer)
      )
    ),
    Layer.provideMerge(Layer.mergeAll(Runs.layer, NextItems.layer, Deliverer.layer, gitPackages)),
    Layer.provideMerge(WorkSignal.layer)
  )

/** The routes of the whole service with the services that only they use. */
export const application = (options: Routed) =>
  routes(options).pipe(
    Layer.provide(
      Layer.mergeAll(
        Pagination.layer,
        Layer.provideMerge(Views.layer, Masking.layer),
        Idempotency.layer,
        ConsoleCookies.layer,
        FlowRoutes.FlowsOf.layer(options.flows),
        FlowRoutes.layerHints(options.flows),
        RateLimits.layer(options.rateLimit === undefined ? defaultRateLimit : options.rateLimit)
      )
    ),
    Layer.provide(
      Layer.merge(ResponseMemory.layer, UnauthenticatedRequests.layer(options.rateLimit === null ? null : undefined))
    ),
    Layer.provide(ClientAddress.layer(options.trustedProxies)),
    Layer.provide(Layer.mergeAll(UploadCompletion.layer, StorageHealth.layer, InputSchemas.layer, Secrecy.layer)),
    Layer.provide(FileLinks.layer)
  )

/** The settings of request handling. */
export const settings = Layer.mergeAll(
  quietTracer,
  // Keys and signatures in addresses stay out of spans.
  Layer.succeed(UrlParams.CurrentRedactedNames, ["token", "signature"]),
  // The addresses of triggers have their token in the path; `Hooks.receive` is their span.
  Layer.succeed(HttpMiddleware.TracerDisabledWhen, ({ url }) => hasHookToken(url)),
  Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(limits.jsonBody))
)
