/**
 * The parts that connect to a control room in this process: a client, and its local workers. Separate from the service,
 * which is ready sooner without them.
 */
import * as NodeHttpClient from "@signalbox/platform/NodeHttpClient"
import * as NodeServices from "@signalbox/platform/NodeServices"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import type { Credentials } from "@signalbox/api/Credentials"
import { layerUploads } from "@signalbox/api/node"
import type { Process } from "@signalbox/api/Process"
import * as Workers from "@signalbox/api/Workers"
import type { Settings } from "@signalbox/worker/Environments"
import * as Home from "@signalbox/worker/Home"
import type * as Task from "@signalbox/worker/Task"
import * as Worker from "@signalbox/worker/Worker"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { join } from "node:path"
import type { Source } from "../package/Delivery.ts"

export interface Options<T extends Task.Any> {
  readonly origin: string
  readonly credentials: Credentials
  /** The tasks of the workers, which also take task packages. */
  readonly tasks: ReadonlyArray<T>
  /** How many workers. */
  readonly workers: number
  /** How they build environments of task packages. */
  readonly environments: Settings
  /** Has a folder for each worker. */
  readonly folder: string
}

/** Brings task packages into the workspace. */
export const deliverPackages = Effect.fnUntraced(
  function* (packages: Readonly<Record<string, Source>>) {
    if (Object.keys(packages).length === 0) return
    // Loaded only by programs that have packages.
    const { deliverAll } = yield* Effect.promise(() => import("../package/Delivery.ts"))
    yield* deliverAll(packages)
  },
  Effect.provide([NodeServices.layer])
)

/** Deploys processes, one after the other. */
export const deployAll = Effect.fnUntraced(function* (processes: ReadonlyArray<Process>) {
  if (processes.length === 0) return
  // Loaded only by programs that have processes as code.
  const { deploy } = yield* Effect.promise(() => import("@signalbox/api/Process"))
  yield* Effect.forEach(processes, (process) => deploy(process), { discard: true })
})

/** Opens the folder of the first local worker, from this number on, that no other process uses. */
const openHome = (
  folder: string,
  service: string,
  environments: Settings,
  number: number
): Effect.Effect<{ readonly home: Home.Home; readonly number: number }, Home.HomeError, HomeServices> =>
  Home.open({
    folder: join(folder, `local-${number}`),
    service,
    packagesFolder: join(folder, "packages"),
    environmentsFolder: join(folder, "environments"),
    environments
  }).pipe(
    Effect.map((home) => ({ home, number })),
    // Another node may share the folder.
    Effect.catchIf(
      ({ inUse }) => inUse && number < 1000,
      () => openHome(folder, service, environments, number + 1)
    )
  )
type HomeServices = Effect.Services<ReturnType<typeof Home.open>>

const startWorkers = <T extends Task.Any>({ credentials, environments, folder, origin, tasks, workers }: Options<T>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const room = yield* ControlRoom
      const linkToken = Workers.createLinkToken().pipe(
        Effect.map(({ link_token }) => Redacted.make(link_token)),
        Effect.provideService(ControlRoom, room)
      )
      const started: Array<ReturnType<typeof Worker.layer<T>>> = []
      let last = 0
      while (started.length < workers) {
        const { home, number } = yield* openHome(folder, credentials.workspace_id, environments, last + 1)
        started.push(Worker.layer({ origin, linkToken, name: `local-${number}`, tasks, home }))
        last = number
      }
      // The empty layer needs and provides nothing, so it is one of any type.
      return started.reduce((all, layer) => Layer.merge(all, layer), Layer.empty as ReturnType<typeof Worker.layer<T>>)
    })
  )

/** The client, and the workers, over the HTTP client of the program. */
export const layerOver = <T extends Task.Any>(options: Options<T>) =>
  startWorkers(options).pipe(
    Layer.provideMerge(
      ControlRoom.layerHttpClient({
        baseUrl: options.origin,
        workspaceId: options.credentials.workspace_id,
        apiKey: Redacted.make(options.credentials.api_key)
      })
    ),
    Layer.provide([NodeServices.layer, layerUploads])
  )

/** Like `layerOver`, over undici. */
export const layer = <T extends Task.Any>(options: Options<T>) =>
  Layer.provide(layerOver(options), NodeHttpClient.layerUndici)
