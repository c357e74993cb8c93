/** The client of a room: its modules, and what concerns all of them. */
import { placeOf } from "@signalbox/transport/Promised"
import type * as Effect from "effect/Effect"
import type { ControlRoom } from "../../ControlRoom.ts"
import * as Administration from "./AdministrationClients.ts"
import { type CallOptions, checked, merged } from "./CallOptions.ts"
import { nothingSeen } from "../calls/CurrentCall.ts"
import * as Failures from "./FailureClients.ts"
import type { Call } from "./Failure.ts"
import { functionsOf, type Members } from "./Members.ts"
import * as Notifications from "./NotificationClients.ts"
import * as Packages from "./PackageClients.ts"
import * as Process from "./ProcessClient.ts"
import * as Runs from "./RunClients.ts"
import { close, execute, type Session } from "./Session.ts"
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
  readonly bulkOperations: Failures.BulkOperationsClient
  readonly changes: Administration.ChangesClient
  readonly consoleTickets: Administration.ConsoleTicketsClient
  readonly failures: Failures.FailuresClient
  readonly files: Work.FilesClient
  readonly outputs: Work.OutputsClient
  readonly process: Process.ProcessClient
  readonly processes: Runs.ProcessesClient
  readonly processRuns: Runs.ProcessRunsClient
  readonly room: Administration.RoomClient
  readonly schedules: Starts.SchedulesClient
  readonly secrets: Administration.SecretsClient
  readonly stepRuns: StepRuns.StepRunsClient
  readonly taskPackages: Packages.TaskPackagesClient
  readonly triggers: Starts.TriggersClient
  readonly webhooks: Notifications.WebhooksClient
  readonly workerGroups: Workers.WorkerGroupsClient
  readonly workers: Workers.WorkersClient
  readonly workItems: Work.WorkItemsClient
  readonly workspaces: Administration.WorkspacesClient
}

/** A client: the modules of the workspace, and `close`. */
export interface Client extends Modules, AsyncDisposable {
  /**
   * Runs any effect that needs the connection.
   * @example const items = await room.run(Effect.map(WorkItems.list(), ({ data }) => data))
   */
  readonly run: <A, E>(effect: Effect.Effect<A, E, ControlRoom>, options?: CallOptions) => Promise<A>
  /**
   * The same client, whose calls and streams have these options, unless a call has its own.
   * @example const { data } = await room.with({ timeout: "5 seconds" }).workers.list()
   */
  readonly with: (options: CallOptions) => Client
  /**
   * The same client, whose calls and streams `signal` aborts, with their requests. They reject with its reason.
   * @example await room.withSignal(AbortSignal.timeout(60_000)).workItems.list()
   */
  readonly withSignal: (signal: AbortSignal) => Client
  /** Closes the connection and ends what is active, which rejects with `Closed`, as later calls do. May be called again. */
  readonly close: () => Promise<void>
}

const modules: { readonly [K in keyof Modules]: Members } = {
  alertChannels: Notifications.alertChannels,
  alerts: Notifications.alerts,
  apiKeys: Administration.apiKeys,
  assets: Administration.assets,
  assistants: Packages.assistants,
  bulkOperations: Failures.bulkOperations,
  changes: Administration.changes,
  consoleTickets: Administration.consoleTickets,
  failures: Failures.failures,
  files: Work.files,
  outputs: Work.outputs,
  process: Process.process,
  processes: Runs.processes,
  processRuns: Runs.processRuns,
  room: Administration.room,
  schedules: Starts.schedules,
  secrets: Administration.secrets,
  stepRuns: StepRuns.stepRuns,
  taskPackages: Packages.taskPackages,
  triggers: Starts.triggers,
  webhooks: Notifications.webhooks,
  workerGroups: Workers.workerGroups,
  workers: Workers.workers,
  workItems: Work.workItems,
  workspaces: Administration.workspaces
}

/** How functions beside a client call with its session and options. */
interface Callable {
  readonly [callable]: <A>(effect: Effect.Effect<A, unknown, ControlRoom>, call: Call, options: unknown) => Promise<A>
}

const callable = Symbol("@signalbox/api/promise: calls of functions beside the client")

/** Runs an effect for a function of this package that is no member of the client, such as one that needs Node. */
export const callWith = async <A>(
  client: Client,
  effect: Effect.Effect<A, unknown, ControlRoom>,
  operation: string,
  door: (...args: never) => unknown,
  options: CallOptions | undefined
): Promise<A> => {
  const call: Call = { operation, place: placeOf(door), seen: nothingSeen() }
  // Each client is made by `clientOf`.
  return (client as Client & Callable)[callable](effect, call, options)
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
  const run: Callable[typeof callable] = async (effect, call, options) =>
    execute(session, effect, call, merged(view, checked(options, call)))
  Object.defineProperty(client, callable, { value: run })
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
