/** Composes the storage: repositories over the database, the vault, and the bytes of files. */
import { unhurried } from "@signalbox/sql/QueryDeadline"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Schedule from "effect/Schedule"
import * as Etag from "effect/http/Etag"
import * as HttpPlatform from "effect/http/HttpPlatform"
import type * as SqlClient from "effect/sql/SqlClient"
import { Administration } from "../../Administration.ts"
import { BlobStore } from "../../BlobStore.ts"
import type { StorageOptions } from "../../Options.ts"
import * as BlobHolds from "../blobs/BlobHolds.ts"
import * as MemoryFiles from "../blobs/MemoryFiles.ts"
import { checkStorage } from "./OptionRules.ts"
import { Outbox } from "../delivery/Outbox.ts"
import { steady } from "../background/BackgroundTask.ts"
import * as BlobStores from "../storage/BlobStores.ts"
import * as DataFolder from "../storage/DataFolder.ts"
import * as DiskUsage from "../storage/DiskUsage.ts"
import * as Opening from "../storage/Opening.ts"
import { Database } from "../store/database/Database.ts"
import { Notifier } from "../store/database/Notifier.ts"
import { Accounts } from "../store/access/Accounts.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { AuthorizationChanges } from "../store/access/AuthorizationChanges.ts"
import { ApiKeys } from "../store/access/ApiKeys.ts"
import { ConsoleSessions } from "../store/access/ConsoleSessions.ts"
import { Identities } from "../store/access/Identities.ts"
import { ProviderSignIns } from "../store/access/ProviderSignIns.ts"
import { IdempotencyRecords } from "../store/access/IdempotencyRecords.ts"
import { Memberships } from "../store/access/Memberships.ts"
import { SignInPauses } from "../store/access/SignInPauses.ts"
import { Workspaces } from "../store/access/Workspaces.ts"
import { DataKeys } from "../store/vault/DataKeys.ts"
import { AuditChain } from "../store/audit/AuditChain.ts"
import { AuditEntries } from "../store/audit/AuditEntries.ts"
import { RefusedSignIns } from "../store/audit/RefusedSignIns.ts"
import { Seal } from "../store/vault/Seal.ts"
import { Secrets } from "../store/vault/Secrets.ts"
import { TransitKeys } from "../store/vault/TransitKeys.ts"
import { Assets } from "../store/files/Assets.ts"
import { Files } from "../store/files/Files.ts"
import { Pauses } from "../store/processes/Pauses.ts"
import { Processes } from "../store/processes/Processes.ts"
import { PackageSources } from "../store/packages/PackageSources.ts"
import { PackageUses } from "../store/packages/PackageUses.ts"
import { PackageVersions } from "../store/packages/PackageVersions.ts"
import { TaskPackages } from "../store/packages/TaskPackages.ts"
import { Failures } from "../store/items/Failures.ts"
import { Limits } from "../store/items/Limits.ts"
import { Outputs } from "../store/items/Outputs.ts"
import { RunItems } from "../store/items/RunItems.ts"
import { WorkItems } from "../store/items/WorkItems.ts"
import { Blocked } from "../store/runs/Blocked.ts"
import { Leases } from "../store/runs/Leases.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { QueueDepth } from "../store/runs/QueueDepth.ts"
import { RunSteps } from "../store/runs/RunSteps.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import { Turns } from "../store/runs/Turns.ts"
import { WorkerReports } from "../store/runs/WorkerReports.ts"
import { Assistants } from "../store/workers/Assistants.ts"
import { WorkerGroups } from "../store/workers/WorkerGroups.ts"
import { Workers } from "../store/workers/Workers.ts"
import { Schedules } from "../store/starts/Schedules.ts"
import { Triggers } from "../store/starts/Triggers.ts"
import { AlertChannels } from "../store/notifications/AlertChannels.ts"
import { AlertMessages } from "../store/notifications/AlertMessages.ts"
import { Alerts } from "../store/notifications/Alerts.ts"
import { Deliveries } from "../store/notifications/Deliveries.ts"
import { Webhooks } from "../store/notifications/Webhooks.ts"
import { BulkOperations } from "../store/room/BulkOperations.ts"
import { BulkTargets } from "../store/room/BulkTargets.ts"
import { Changes } from "../store/room/Changes.ts"
import { Measures } from "../store/room/Measures.ts"
import { Nodes } from "../store/room/Nodes.ts"
import { RoomState } from "../store/room/RoomState.ts"
import { Signer } from "../transfers/Signer.ts"
import { MasterKey } from "../vault/MasterKey.ts"

/** Who may do what, and tells all nodes when that changes. */
const access = Layer.mergeAll(
  Accounts.layer,
  AccountSessions.layer,
  ConsoleSessions.layer.pipe(Layer.provideMerge(ApiKeys.layer)),
  Memberships.layer
).pipe(Layer.provideMerge(AuthorizationChanges.layer))

const repositories = Layer.mergeAll(
  access,
  Identities.layer,
  ProviderSignIns.layer,
  SignInPauses.layer,
  IdempotencyRecords.layer,
  Workspaces.layer,
  Secrets.layer,
  TransitKeys.layer,
  Files.layer,
  Pauses.layer,
  Processes.layer,
  PackageUses.layer,
  PackageVersions.layer,
  Failures.layer,
  Limits.layer,
  Outputs.layer,
  RunItems.layer,
  WorkItems.layer,
  Blocked.layer,
  Leases.layer,
  ProcessRuns.layer,
  QueueDepth.layer,
  RunSteps.layer,
  StepRuns.layer,
  Turns.layer,
  WorkerReports.layer,
  Assistants.layer,
  WorkerGroups.layer,
  Workers.layer,
  Schedules.layer,
  Triggers.layer,
  Deliveries.layer,
  Webhooks.layer,
  BulkOperations.layer,
  BulkTargets.layer,
  Changes.layer,
  Measures.layer,
  Layer.provideMerge(RoomState.layer, Nodes.layer),
  Layer.merge(AuditChain.layer, RefusedSignIns.layer).pipe(Layer.provideMerge(AuditEntries.layer))
)

/** Alerts, whose channels have secrets. */
const alerts = Layer.mergeAll(Alerts.layer, AlertMessages.layer, AlertChannels.layer)

const vault = Seal.layer.pipe(Layer.provideMerge(DataKeys.layer))

/** Repositories whose rows name blobs. */
const content = Layer.mergeAll(Assets.layer, PackageSources.layer, TaskPackages.layer)

type Stored =
  | Layer.Success<typeof repositories | typeof content | typeof vault | typeof alerts>
  | Database
  | MasterKey
  | Notifier
  | Outbox
  | Signer
  | SqlClient.SqlClient

/**
 * Everything the service needs of a storage besides the `BlobStore`, as one service, so that public layers name no
 * internals.
 */
export class Storage extends Context.Service<Storage, Context.Context<Stored>>()("@signalbox/control-room/Storage") {}

/** Deletes what a killed process left behind. */
const sweepNow = Effect.gen(function* () {
  const { referenced } = yield* Files
  // The oldest workspace is never deleted; before it exists, nothing is stored.
  const room = yield* (yield* Workspaces).first
  if (room === null) return
  const swept = yield* unhurried((yield* BlobStore).sweep(referenced, room.id))
  if (swept > 0) yield* Effect.logInfo(`deleted ${swept} unfinished uploads`)
})

/** Before anything is served. */
const sweep = Layer.effectDiscard(sweepNow)

/**
 * Deletes from a bucket what was left behind. It may be large or unavailable, which keeps no service from starting, and
 * removals may fail while it runs. A restored room is paused, and may be a copy whose rows lack what is there.
 */
const sweepDaily = Layer.effectDiscard(
  Effect.gen(function* () {
    if (yield* (yield* RoomState).running) yield* sweepNow
  }).pipe(steady("deleting unfinished uploads"), Effect.repeat(Schedule.spaced(Duration.days(1))), Effect.forkScoped)
)

/** What every storage has above its tables and its key. */
const repositoriesOn = <E, R, E2, R2>(
  blobs: Layer.Layer<BlobStore, E, R>,
  sweep: Layer.Layer<never, never, BlobStore | Files | RoomState | Workspaces>,
  keyAndTables: Layer.Layer<MasterKey | Database | Notifier | SqlClient.SqlClient, E2, R2>
) =>
  sweep.pipe(
    Layer.provideMerge(blobs),
    Layer.provideMerge(Signer.layer),
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(alerts),
    Layer.provideMerge(content),
    Layer.provideMerge(Layer.provideMerge(Administration.layer, repositories)),
    Layer.provideMerge(vault),
    Layer.provideMerge(keyAndTables),
    // Without the `BlobStore`, so that the service takes the one that is provided to it.
    Layer.flatMap((all) =>
      Layer.merge(Layer.succeedContext(all), Layer.succeed(Storage, Context.omit(BlobStore, Administration)(all)))
    )
  )

/** Everything a control room stores, on disk or in Postgres. */
export const layerStorage = (options: StorageOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      checkStorage("Server.layerStorage", options)
      const { data, database } = options
      yield* DataFolder.prepare(data, database !== undefined)
      return repositoriesOn(
        BlobHolds.guarded.pipe(Layer.provide(BlobStores.layer(options)), Layer.provide(Opening.layerHolds(options))),
        options.s3 === undefined ? sweep : sweepDaily,
        Layer.provideMerge(Opening.layerMasterKey(options), Opening.layerTables(options)).pipe(
          Layer.merge(Layer.succeed(DiskUsage.DiskUsage, DiskUsage.ofFolder(data)))
        )
      )
    })
  )

/** Everything a control room stores, in memory. */
export const layerMemory = repositoriesOn(
  BlobStore.layerDisk("/files"),
  sweep,
  Layer.merge(MasterKey.layerRandom, Opening.layerSqlite(":memory:"))
).pipe(
  Layer.provideMerge(HttpPlatform.layer),
  Layer.provideMerge(Layer.mergeAll(MemoryFiles.layer, Path.layer, Etag.layerWeak))
)
