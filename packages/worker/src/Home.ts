/**
 * The folder of a worker: its identity, so that it is the same worker after a restart, and the task packages that it
 * runs.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import { check, type Rules, text, whole } from "@signalbox/transport/OptionError"
import { WorkerId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { WorkerIdentity } from "@signalbox/api/robot/WorkerProtocol"
import * as Folder from "@signalbox/transport/Folder"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { join, resolve } from "node:path"
import * as Builder from "./internal/environments/Builder.ts"
import type { Settings } from "./internal/environments/Settings.ts"
import * as Cache from "./internal/packages/Cache.ts"
import * as Orphans from "./internal/process/Orphans.ts"
import * as Enforced from "./internal/process/Enforced.ts"
import * as PackageRun from "./internal/packages/PackageRun.ts"
import * as RunFolders from "./internal/process/RunFolders.ts"
import type { Limits } from "./Limits.ts"

/** The folder cannot be used; the message says why, and the remedy. */
export class HomeError extends TaggedError<HomeError>()("HomeError", {
  message: Schema.String,
  /** Another worker is using the folder. */
  inUse: Schema.Boolean
}) {}

const limitRules: Rules<Limits> = {
  cpuSeconds: whole(1),
  openFiles: whole(1),
  fileBytes: whole(1),
  memoryBytes: whole(1)
}

const unusableBecause = (message: string, inUse = false) => new HomeError({ message, inUse })

const Stored = Schema.Struct({
  service: Schema.String,
  origin: Schema.String,
  worker_id: WorkerId,
  workspace_id: WorkspaceId,
  worker_token: Schema.String,
  heartbeat_seconds: Schema.Finite
})

const encode = Schema.encodeSync(Schema.fromJsonString(Stored))
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Stored))

/** A linked worker, and the address at which it was linked. */
export interface Linked {
  readonly origin: string
  readonly identity: WorkerIdentity
}

/** A worker's folder, locked by this process. */
export interface Home {
  readonly folder: string
  /** The identity of the worker, null when it is not linked to this service. Fails when it is linked to another one. */
  readonly linked: Effect.Effect<Linked | null, HomeError>
  readonly remember: (linked: Linked) => Effect.Effect<void, HomeError>
  readonly forget: Effect.Effect<void, HomeError>
  /** Runs task packages. */
  readonly packages: PackageRun.Packages
}

export interface Options {
  /** Created when missing; for one process at a time. */
  readonly folder: string
  /**
   * Identifies the service: its address, or the id of the workspace where the address changes. A folder that belongs to
   * the worker of another service is refused. Null: any service.
   */
  readonly service: string | null
  /** The folder of unpacked task packages; several workers may share it. Default: `packages` in the folder. */
  readonly packagesFolder?: string
  /** How many bytes of unused unpacked task packages are cached; default 5 GB. */
  readonly packagesLimit?: number
  /** How environments of task packages are built; default: by the first tool on `PATH` that can. */
  readonly environments?: Settings
  /** The folder of environments; workers of this machine may share it. Default: `environments` in the folder. */
  readonly environmentsFolder?: string
  /** How many bytes of unused environments are retained; default 20 GB. */
  readonly environmentsLimit?: number
  /** What a task of a package may use of this machine; which of it the machine cannot enforce is logged. Default: all. */
  readonly limits?: Limits
}

/**
 * Opens the folder of a worker until the scope closes. First terminates processes that a killed worker left behind.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 * import * as Home from "@signalbox/worker/Home"
 * import * as Worker from "@signalbox/worker/Worker"
 *
 * export const robots = Effect.scoped(
 *   Effect.gen(function* () {
 *     const origin = "http://127.0.0.1:4700"
 *     const home = yield* Home.open({
 *       folder: ".signalbox-worker",
 *       service: origin
 *     })
 *     return yield* Worker.run({
 *       origin,
 *       linkToken: Redacted.make("sbl_…"),
 *       name: "robots",
 *       tasks: [],
 *       home
 *     })
 *   })
 * )
 * ```
 */
export const open = Effect.fn("Home.open")(function* (options: Options) {
  check("Home.open", options, {
    folder: text,
    packagesFolder: text,
    packagesLimit: whole(1),
    environmentsFolder: text,
    environmentsLimit: whole(1)
  })
  check("Home.open", options.limits ?? {}, limitRules, "limits.")
  const fs = yield* FileSystem.FileSystem
  const folder = resolve(options.folder)
  const packagesFolder =
    options.packagesFolder === undefined ? join(folder, "packages") : resolve(options.packagesFolder)
  const runs = join(folder, "runs")
  const file = join(folder, "worker.json")
  const lock = join(folder, "worker.lock")
  const unusable = (error: { readonly message: string }) =>
    unusableBecause(`the folder ${folder} cannot be used: ${error.message}`)

  for (const used of [folder, packagesFolder]) yield* Effect.mapError(Folder.check(used), unusable)
  yield* Effect.mapError(fs.makeDirectory(runs, { recursive: true, mode: 0o700 }), unusable)
  const holder = yield* Orphans.running(lock)
  if (holder !== null) {
    const remedy = "stop it first, or give this one a separate folder"
    return yield* unusableBecause(`another worker uses ${folder} (process ${holder.pid}): ${remedy}`, true)
  }
  yield* Effect.acquireRelease(Effect.mapError(Orphans.write(lock, process.pid), unusable), () =>
    Effect.ignore(fs.remove(lock, { force: true }))
  )
  yield* RunFolders.clearLeftovers(runs)
  const cache = yield* Effect.mapError(
    Cache.make({ folder: packagesFolder, limit: options.packagesLimit ?? 5 * 1024 * 1024 * 1024 }),
    unusable
  )

  const { environmentsFolder, environmentsLimit } = options
  const environments = yield* Effect.mapError(
    Builder.make({
      folder: environmentsFolder === undefined ? join(folder, "environments") : resolve(environmentsFolder),
      settings: options.environments ?? {},
      limit: environmentsLimit
    }),
    unusable
  )

  const read = Effect.gen(function* () {
    if (!(yield* Effect.mapError(fs.exists(file), unusable))) return null
    return yield* fs.readFileString(file).pipe(
      Effect.flatMap(decode),
      Effect.mapError(() =>
        unusableBecause(`${file} cannot be read: delete it and link the worker with a new link token`)
      )
    )
  })

  const home: Home = {
    folder,
    linked: Effect.gen(function* () {
      const stored = yield* read
      if (stored === null) return null
      if (options.service !== null && stored.service !== options.service) {
        const owner = `the folder ${folder} belongs to the worker of ${stored.service}`
        return yield* unusableBecause(`${owner}: unlink that one first, or use another folder`)
      }
      const identity = {
        workerId: stored.worker_id,
        workspaceId: stored.workspace_id,
        token: Redacted.make(stored.worker_token),
        heartbeatSeconds: stored.heartbeat_seconds
      }
      return { origin: stored.origin, identity }
    }),
    remember: Effect.fnUntraced(function* ({ identity, origin }) {
      const text = encode({
        service: options.service ?? origin,
        origin,
        worker_id: identity.workerId,
        workspace_id: identity.workspaceId,
        worker_token: Redacted.value(identity.token),
        heartbeat_seconds: identity.heartbeatSeconds
      })
      const temporary = `${file}.new`
      yield* fs.remove(temporary, { force: true })
      yield* fs.writeFileString(temporary, `${text}\n`, { mode: 0o600, flag: "wx" })
      yield* fs.rename(temporary, file)
    }, Effect.mapError(unusable)),
    forget: Effect.mapError(fs.remove(file, { force: true }), unusable),
    packages: yield* PackageRun.make(cache, runs, environments, yield* Enforced.prepare(options.limits ?? {}))
  }
  return home
})
