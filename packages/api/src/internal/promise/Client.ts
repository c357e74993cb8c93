/** The client of a room: its modules, and what concerns all of them. */
import { placeOf } from "@signalbox/transport/Promised"
import type * as Effect from "effect/Effect"
import type { ControlRoom } from "../../ControlRoom.ts"
import * as Administration from "./AdministrationClients.ts"
import { type CallOptions, checked, merged } from "./CallOptions.ts"
import { nothingSeen } from "../calls/CurrentCall.ts"
import type { Call } from "./Failure.ts"
import { functionsOf, type Members } from "./Members.ts"
import * as Process from "./ProcessClient.ts"
import * as Runs from "./RunClients.ts"
import { close, execute, type Session } from "./Session.ts"
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
export interface Client extends Modules, AsyncDisposable {
  /** Runs any effect that needs the connection. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, ControlRoom>, options?: CallOptions) => Promise<A>
  /** The same client, whose calls and streams have these options, unless a call has its own. */
  readonly with: (options: CallOptions) => Client
  /** The same client, whose calls and streams `signal` aborts, with their requests. They reject with its reason. */
  readonly withSignal: (signal: AbortSignal) => Client
  /** Closes the connection and ends what is active, which rejects with `Closed`, as later calls do. May be called again. */
  readonly close: () => Promise<void>
}

const modules: { readonly [K in keyof Modules]: Members } = {
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

/** A client of a session. `view`: the options of all its calls. */
export const clientOf = (session: Session, view: CallOptions): Client => {
  const called = (operation: string, door: (...args: never) => unknown): Call => ({
    operation,
    place: placeOf(door),
    seen: nothingSeen()
  })
  const end = () => close(session)
  const client: Omit<Client, keyof Modules> = {
    run: async function run(effect, options) {
      const call = called("run", client.run)
      return execute(session, effect, call, merged(view, checked(options, call)), true)
    },
    with: (options) => clientOf(session, merged(view, checked(options, called("with", client.with)))),
    withSignal: (signal) => clientOf(session, merged(view, { signal })),
    close: end,
    [Symbol.asyncDispose]: end
  }
  for (const [name, members] of Object.entries(modules)) {
    // Made when it is first used: a view of a client is for one call often.
    Object.defineProperty(client, name, {
      enumerable: true,
      configurable: true,
      get: () => {
        const value = functionsOf(session, view, name, members)
        Object.defineProperty(client, name, { value, enumerable: true, configurable: true, writable: true })
        return value
      }
    })
  }
  // The loop above has added the modules, each with the members of its interface, which `members` has checked.
  return client as Client
}
