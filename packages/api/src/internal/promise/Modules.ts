/** All modules of a room. */
import * as Administration from "./AdministrationClients.ts"
import type { Connected } from "./Client.ts"
import * as Failures from "./FailureClients.ts"
import type { Members } from "./Members.ts"
import * as Notifications from "./NotificationClients.ts"
import * as Packages from "./PackageClients.ts"
import * as People from "./PeopleClients.ts"
import * as Process from "./ProcessClient.ts"
import * as Runs from "./RunClients.ts"
import * as Starts from "./StartClients.ts"
import * as StepRuns from "./StepRunClients.ts"
import * as Work from "./WorkClients.ts"
import * as Workers from "./WorkerClients.ts"

/** The modules of a client. */
export interface Modules {
  readonly alertChannels: Notifications.AlertChannelsClient
  readonly alerts: Notifications.AlertsClient
  readonly apiKeys: Administration.ApiKeysClient
  readonly assets: Administration.AssetsClient
  readonly assistants: Packages.AssistantsClient
  readonly audit: Administration.AuditClient
  readonly bulkOperations: Failures.BulkOperationsClient
  readonly changes: Administration.ChangesClient
  readonly consoleTickets: Administration.ConsoleTicketsClient
  readonly failures: Failures.FailuresClient
  readonly files: Work.FilesClient
  readonly outputs: Work.OutputsClient
  readonly process: Process.ProcessClient
  readonly processes: Runs.ProcessesClient
  readonly processRuns: Runs.ProcessRunsClient
  readonly roles: People.RolesClient
  readonly room: Administration.RoomClient
  readonly schedules: Starts.SchedulesClient
  readonly secrets: Administration.SecretsClient
  readonly stepRuns: StepRuns.StepRunsClient
  readonly taskPackages: Packages.TaskPackagesClient
  readonly triggers: Starts.TriggersClient
  readonly users: People.UsersClient
  readonly webhooks: Notifications.WebhooksClient
  readonly workerGroups: Workers.WorkerGroupsClient
  readonly workers: Workers.WorkersClient
  readonly workItems: Work.WorkItemsClient
  readonly workspaces: Administration.WorkspacesClient
}

/** A client: the modules of the workspace, and `close`. */
export interface Client extends Modules, Connected<Client> {}

export const modules: { readonly [K in keyof Modules]: Members<Modules[K]> } = {
  alertChannels: Notifications.alertChannels,
  alerts: Notifications.alerts,
  apiKeys: Administration.apiKeys,
  assets: Administration.assets,
  assistants: Packages.assistants,
  audit: Administration.audit,
  bulkOperations: Failures.bulkOperations,
  changes: Administration.changes,
  consoleTickets: Administration.consoleTickets,
  failures: Failures.failures,
  files: Work.files,
  outputs: Work.outputs,
  process: Process.process,
  processes: Runs.processes,
  processRuns: Runs.processRuns,
  roles: People.roles,
  room: Administration.room,
  schedules: Starts.schedules,
  secrets: Administration.secrets,
  stepRuns: StepRuns.stepRuns,
  taskPackages: Packages.taskPackages,
  triggers: Starts.triggers,
  users: People.users,
  webhooks: Notifications.webhooks,
  workerGroups: Workers.workerGroups,
  workers: Workers.workers,
  workItems: Work.workItems,
  workspaces: Administration.workspaces
}
