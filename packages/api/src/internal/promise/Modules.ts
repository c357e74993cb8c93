/** All modules of a room. */
import * as Administration from "./AdministrationClients.ts"
import type { Connected } from "./Client.ts"
import type { Members } from "./Members.ts"
import * as Process from "./ProcessClient.ts"
import * as Runs from "./RunClients.ts"
import * as Starts from "./StartClients.ts"
import * as Work from "./WorkClients.ts"
import * as Workers from "./WorkerClients.ts"

/** The modules of a client. */
export interface Modules {
  readonly alertChannels: Starts.AlertChannelsClient
  readonly alerts: Starts.AlertsClient
  readonly apiKeys: Administration.ApiKeysClient
  readonly assets: Administration.AssetsClient
  readonly assistants: Workers.AssistantsClient
  readonly bulkOperations: Work.BulkOperationsClient
  readonly changes: Administration.ChangesClient
  readonly consoleTickets: Administration.ConsoleTicketsClient
  readonly failures: Work.FailuresClient
  readonly files: Work.FilesClient
  readonly outputs: Work.OutputsClient
  readonly process: Process.ProcessClient
  readonly processes: Runs.ProcessesClient
  readonly processRuns: Runs.ProcessRunsClient
  readonly room: Administration.RoomClient
  readonly schedules: Starts.SchedulesClient
  readonly secrets: Administration.SecretsClient
  readonly stepRuns: Runs.StepRunsClient
  readonly taskPackages: Workers.TaskPackagesClient
  readonly triggers: Starts.TriggersClient
  readonly webhooks: Starts.WebhooksClient
  readonly workerGroups: Workers.WorkerGroupsClient
  readonly workers: Workers.WorkersClient
  readonly workItems: Work.WorkItemsClient
  readonly workspaces: Administration.WorkspacesClient
}

/** A client: the modules of the workspace, and `close`. */
export interface Client extends Modules, Connected<Client> {}

export const modules: { readonly [K in keyof Modules]: Members<Modules[K]> } = {
  alertChannels: Starts.alertChannels,
  alerts: Starts.alerts,
  apiKeys: Administration.apiKeys,
  assets: Administration.assets,
  assistants: Workers.assistants,
  bulkOperations: Work.bulkOperations,
  changes: Administration.changes,
  consoleTickets: Administration.consoleTickets,
  failures: Work.failures,
  files: Work.files,
  outputs: Work.outputs,
  process: Process.process,
  processes: Runs.processes,
  processRuns: Runs.processRuns,
  room: Administration.room,
  schedules: Starts.schedules,
  secrets: Administration.secrets,
  stepRuns: Runs.stepRuns,
  taskPackages: Workers.taskPackages,
  triggers: Starts.triggers,
  webhooks: Starts.webhooks,
  workerGroups: Workers.workerGroups,
  workers: Workers.workers,
  workItems: Work.workItems,
  workspaces: Administration.workspaces
}
