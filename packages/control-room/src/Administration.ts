/**
 * What the owner of a control room does besides serving it: the first workspace and key, the newest schema, checks of the
 * storage, and another master key.
 */
import * as SqliteClient from "@signalbox/sql/SqliteClient"
import { TaggedError } from "@signalbox/transport/Printed"
import { firstKeyPermissions, type Permission } from "@signalbox/api/contract/Authorization"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Workspace } from "@signalbox/api/contract/Workspaces"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Backup from "./internal/storage/Backup.ts"
import * as BlobStores from "./internal/storage/BlobStores.ts"
import * as BucketCheck from "./internal/storage/BucketCheck.ts"
import * as MasterKeyFile from "./internal/storage/MasterKeyFile.ts"
import * as Opening from "./internal/storage/Opening.ts"
import * as OwnSessions from "./internal/edge/OwnSessions.ts"
import * as Restore from "./internal/storage/Restore.ts"
import * as StorageCheck from "./internal/storage/StorageCheck.ts"
import { ApiKeys } from "./internal/store/access/ApiKeys.ts"
import { ConsoleSessions } from "./internal/store/access/ConsoleSessions.ts"
import { AuditEntries, auditKeyId, type NewEntry, roomChain } from "./internal/store/audit/AuditEntries.ts"
import { AuditReading, type ChainHead } from "./internal/store/audit/AuditReading.ts"
import { checkLines } from "./internal/storage/AuditCheck.ts"
import { DataKeys, storedKey } from "./internal/store/vault/DataKeys.ts"
import { Database } from "./internal/store/database/Database.ts"
import * as Migrations from "./internal/store/database/Migrations.ts"
import * as Nodes from "./internal/store/room/Nodes.ts"
import { Workers } from "./internal/store/workers/Workers.ts"
import { Workspaces } from "./internal/store/access/Workspaces.ts"
import * as Tokens from "./internal/vault/Tokens.ts"
import { MasterKey } from "./internal/vault/MasterKey.ts"
import type { StorageOptions } from "./Options.ts"

export { type OwnSession, SessionRefused } from "./internal/edge/OwnSessions.ts"
export { BackupError } from "./internal/storage/Archive.ts"
export type { BackupOptions, Made } from "./internal/storage/Backup.ts"
export type { RestoreOptions, Restored } from "./internal/storage/Restore.ts"
export type { AuditFinding } from "./internal/storage/AuditCheck.ts"
export type { Finding, LostFile } from "./internal/storage/StorageCheck.ts"
export { CannotOpen } from "./internal/vault/Encryption.ts"
export { MasterKeyError } from "./internal/vault/MasterKey.ts"

/** The end of the audit of a workspace. */
export interface AuditHead extends ChainHead {}

/** The first workspace of a control room, and a key of it. */
export interface FirstKey {
  readonly workspaceId: WorkspaceId
  readonly key: Redacted.Redacted
}

/**
 * What needs the tables of a control room but no request. `Server.layerStorage` and `Server.layerMemory` provide it.
 *
 * ```ts
 * import { Administration } from "@signalbox/control-room/Administration"
 * import * as Server from "@signalbox/control-room/Server"
 * import * as Effect from "effect/Effect"
 *
 * export const dashboardKey = Effect.gen(function* () {
 *   const { createKey, firstWorkspace } = yield* Administration
 *   const { id } = yield* firstWorkspace("default")
 *   return yield* createKey(id, "dashboard", ["Processes.read_runs"])
 * }).pipe(Effect.provide(Server.layerStorage({ data: ".signalbox" })))
 * ```
 */
export class Administration extends Context.Service<
  Administration,
  {
    /** Returns the oldest workspace; creates one with this name where there is none. */
    readonly firstWorkspace: (name: string) => Effect.Effect<Workspace>
    /**
     * Ensures that the first workspace has a key that is saved outside of the database: the one that `saved` returns where
     * it is a key of that workspace, else a new one with every permission but the one that reads values of secrets. `save`
     * runs in any case. Both run in one transaction that other nodes wait for, so that nodes that start together create one
     * key; when `save` fails, nothing was created.
     */
    readonly ensureFirstKey: <E, R, E2, R2>(options: {
      /** The name of the workspace where there is none yet. */
      readonly workspace: string
      readonly saved: Effect.Effect<Redacted.Redacted | null, E, R>
      readonly save: (first: FirstKey) => Effect.Effect<void, E2, R2>
    }) => Effect.Effect<FirstKey, E | E2, R | R2>
    /** Creates a key and returns its text, which is not stored. */
    readonly createKey: (
      workspace: WorkspaceId,
      name: string,
      permissions: ReadonlyArray<Permission>
    ) => Effect.Effect<Redacted.Redacted>
    /** Creates a token with which one worker links itself until `expiresAt` (ISO 8601, UTC). */
    readonly createLinkToken: (workspace: WorkspaceId, expiresAt: string) => Effect.Effect<Redacted.Redacted>
    /** Creates a ticket that opens one session of the console with this key; null when the key is unknown. */
    readonly createConsoleTicket: (
      key: Redacted.Redacted,
      lifetime: Duration.Duration
    ) => Effect.Effect<Redacted.Redacted | null>
    /**
     * Signs somebody in to the console whom the program that embeds the room has signed in: returns the `Set-Cookie` of a new session. The
     * account of the subject is created at its first session; names and roles become those given, except that the last `admin` of a workspace
     * stays. Fails with `SessionRefused` for an account that is disabled, and for a role that does not exist. Serve the room with
     * `signIn: "own"`, so that its console shows no form.
     *
     * ```ts
     * import { Administration } from "@signalbox/control-room/Administration"
     * import * as Effect from "effect/Effect"
     *
     * export const setCookie = Effect.gen(function* () {
     *   const { firstWorkspace, openSession } = yield* Administration
     *   const { id } = yield* firstWorkspace("default")
     *   return yield* openSession({
     *     subject: "42",
     *     name: { first: "Ada", last: "Lovelace" },
     *     roles: [{ workspaceId: id, role: "operator" }],
     *     publicUrl: "https://app.example.com/automation"
     *   })
     * })
     * ```
     */
    readonly openSession: (
      session: OwnSessions.OwnSession
    ) => Effect.Effect<Redacted.Redacted, OwnSessions.SessionRefused>
  }
>()("@signalbox/control-room/Administration") {
  /** Administration on the repositories in the context. */
  static readonly layer = Layer.effect(
    Administration,
    Effect.gen(function* () {
      const { transaction } = yield* Database
      const apiKeys = yield* ApiKeys
      const audit = yield* AuditEntries
      const sessions = yield* ConsoleSessions
      const workers = yield* Workers
      const workspaces = yield* Workspaces

      /** What a command on the storage has done. */
      const entry = (
        workspaceId: WorkspaceId,
        action: string,
        resource: NewEntry["resource"],
        after: NewEntry["after"] = null
      ) => audit.write({ workspaceId, actor: { type: "command", id: null }, action, resource, before: null, after })

      const createKey = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        name: string,
        permissions: ReadonlyArray<Permission>
      ) {
        const { key, view } = yield* apiKeys.create(workspace, name, permissions)
        yield* entry(workspace, "createApiKey", { type: "api_key", id: view.id, name }, { name, permissions })
        return Redacted.make(key)
      }, transaction)

      const isKeyOf = Effect.fnUntraced(function* (workspace: WorkspaceId, text: Redacted.Redacted) {
        const token = Tokens.parse(Redacted.value(text))
        const key = token === null ? null : yield* apiKeys.authenticate(token)
        return key?.workspaceId === workspace
      })

      const openSession = yield* OwnSessions.make

      return Administration.of({
        openSession,
        firstWorkspace: workspaces.firstOr,
        ensureFirstKey: ({ save, saved, workspace }) =>
          transaction(
            Effect.gen(function* () {
              // Locks until the end of the transaction: other nodes wait here, and then find the key.
              const { id } = yield* workspaces.firstOr(workspace)
              const known = yield* saved
              const key =
                known !== null && (yield* isKeyOf(id, known))
                  ? known
                  : yield* createKey(id, "first key", [...firstKeyPermissions, "Room.manage"])
              // Whoever has the data folder operates the room, also with a key of an older version.
              const granted = yield* apiKeys.grant(Redacted.value(key), "Room.manage")
              if (granted !== null) {
                const resource = { type: "api_key", id: granted, name: yield* apiKeys.nameOf(id, granted) } as const
                yield* entry(id, "updateApiKey", resource, { permissions: ["Room.manage"] })
              }
              const first: FirstKey = { workspaceId: id, key }
              yield* save(first)
              return first
            })
          ),
        createKey,
        createLinkToken: Effect.fnUntraced(function* (workspace, expiresAt) {
          const { link_token } = yield* workers.createLinkToken(workspace, expiresAt)
          const resource = { type: "link_token", id: null, name: null } as const
          yield* entry(workspace, "createWorkerLinkToken", resource, { expires_at: expiresAt })
          return Redacted.make(link_token)
        }, transaction),
        createConsoleTicket: Effect.fnUntraced(function* (text, lifetime) {
          const token = Tokens.parse(Redacted.value(text))
          const key = token === null ? null : yield* apiKeys.authenticate(token)
          if (key === null) return null
          const { ticket } = yield* sessions.createTicket(key.workspaceId, key.id, lifetime)
          yield* entry(key.workspaceId, "createConsoleTicket", { type: "api_key", id: key.id, name: null })
          return Redacted.make(ticket)
        }, transaction)
      })
    })
  )
}

/** What a migration did. */
export interface Migrated {
  /** The names of the migrations that were applied, in their order. */
  readonly applied: ReadonlyArray<string>
  /** The name of the newest migration of the database. */
  readonly schema: string | null
}

/**
 * Brings the database to the newest schema, as every start does. Stop the service first: on SQLite it fails while another
 * process has the folder open.
 *
 * ```ts
 * import * as NodeServices from "@effect/platform-node/NodeServices"
 * import * as Administration from "@signalbox/control-room/Administration"
 * import * as Effect from "effect/Effect"
 *
 * export const schema = Administration.migrate({ data: ".signalbox" }).pipe(
 *   Effect.map(({ schema }) => schema),
 *   Effect.provide(NodeServices.layer)
 * )
 * ```
 */
export const migrate = Effect.fn("Administration.migrate")(function* (options: StorageOptions) {
  const migrated = Effect.gen(function* () {
    const applied = yield* Nodes.migrate
    const newest = yield* Migrations.newest
    const result: Migrated = {
      applied: applied.map(Migrations.label),
      schema: newest === null ? null : Migrations.label(newest)
    }
    return result
  })
  return yield* Effect.provide(migrated, Opening.layerClient(options))
})

/** There is nothing to compact here. */
export class CannotCompact extends TaggedError<CannotCompact>()("CannotCompact", { message: Schema.String }) {}

/** The size of a database before and after it was compacted, in bytes. */
export interface Compacted {
  readonly before: number
  readonly after: number
}

/**
 * Writes an SQLite database anew without the pages that deleted rows have left free. One that an older version has made gives such pages
 * back by itself from then on, as new ones do. Stop the service first: it fails while another process has the folder open. It
 * needs free space for a copy of the database, beside it and in the folder of temporary files; when it fails or is killed, nothing was
 * changed.
 *
 * Fails with `CannotCompact` on Postgres, whose vacuum does this, and with `SqliteOpenError` where the database cannot be opened or
 * the disk is full.
 *
 * ```ts
 * import * as NodeServices from "@effect/platform-node/NodeServices"
 * import * as Administration from "@signalbox/control-room/Administration"
 * import * as Effect from "effect/Effect"
 *
 * export const gained = Administration.compact({ data: ".signalbox" }).pipe(
 *   Effect.map(({ after, before }) => before - after),
 *   Effect.provide(NodeServices.layer)
 * )
 * ```
 */
export const compact = Effect.fn("Administration.compact")(function* (options: StorageOptions) {
  if (options.database !== undefined) {
    return yield* new CannotCompact({
      message: "Postgres uses free space again by its own vacuum: nothing to compact"
    })
  }
  const filename = Opening.databaseFile(options)
  const fs = yield* FileSystem.FileSystem
  const size = Effect.map(fs.stat(filename), ({ size }) => Number(size))
  const before = yield* Effect.orElseSucceed(size, () => 0)
  yield* SqliteClient.compact({ filename })
  const result: Compacted = { before, after: yield* size }
  return result
})

/**
 * Checks that all that is stored is there and whole: the database, the master key, and the bytes of every file. Changes
 * nothing, and may run beside the service. Fails when the database cannot be opened; damage that it finds is a `Finding`.
 * `auditHeads`: the ends of the audit at an earlier time, stored elsewhere, by which it finds entries that were cut off.
 */
export const check = (
  options: StorageOptions,
  { auditHeads = [] }: { readonly auditHeads?: ReadonlyArray<AuditHead> } = {}
) =>
  StorageCheck.run(options, auditHeads).pipe(
    // Another room in the same program has another database.
    Effect.provide(Opening.layerReading(options), { local: true }),
    Effect.catchCause((cause) => {
      const finding = StorageCheck.findingOf(cause)
      return finding === null ? Effect.failCause(cause) : Effect.succeed([finding])
    })
  )

/** Returns the ends of the audit of each workspace and of the room, to be stored elsewhere. May run beside the service. */
export const auditHeads = (options: StorageOptions) =>
  Effect.flatMap(AuditReading, ({ heads }) => heads).pipe(
    Effect.provide(Opening.layerReading(options), { local: true })
  )

/** The audit of this room has no key, so none of it can be checked. */
export class NoAuditKey extends TaggedError<NoAuditKey>()("NoAuditKey", { message: Schema.String }) {}

/**
 * Checks the lines of an export of the audit: that none was altered, and none that follows another was removed between them. May run
 * beside the service. Fails with `NoAuditKey` where the master key of the room is not.
 */
export const verifyAudit = Effect.fn("Administration.verifyAudit")(
  function* (options: StorageOptions, lines: ReadonlyArray<string>) {
    const master = yield* StorageCheck.masterKeyOf(options)
    const key = master === null ? null : yield* storedKey(master, auditKeyId)
    if (key === null) {
      return yield* new NoAuditKey({
        message: "the key of the audit is not here: give the data folder, or the database and master key, of the room"
      })
    }
    return yield* checkLines(key, lines)
  },
  (effect, options) => Effect.provide(effect, Opening.layerReading(options), { local: true })
)

/**
 * Checks that transactions through the connection pooler of the options have the settings that the tables need, as each start does.
 * Fails with an `SqlError` that says what to do when they have not, or when the pooler or the server cannot be reached.
 */
export const checkPooler = ({ database }: StorageOptions) =>
  database === undefined
    ? Effect.void
    : Effect.provide(Effect.asVoid(SqlClient.SqlClient), Opening.layerDatabase(database), { local: true })

/**
 * Writes an object to the bucket of the options, reads it, lists and deletes it. Fails with `BucketError` when the bucket
 * does not let it. Without a bucket it does the same in the data folder.
 */
export const checkBucket = (options: StorageOptions) =>
  Effect.provide(BucketCheck.run, BlobStores.layer(options), { local: true })

/**
 * Creates a backup while the room runs: its database at one moment, and the files that it names then, none of which is deleted
 * until the backup has ended. The archive has mode 0600 and appears when it is whole. It holds payloads, and secrets sealed under the master
 * key, which it does not hold. On Postgres it runs `pg_dump`. Fails with `BackupError`, for example where the file exists.
 *
 * ```ts
 * import * as NodeServices from "@effect/platform-node/NodeServices"
 * import * as Administration from "@signalbox/control-room/Administration"
 * import * as Effect from "effect/Effect"
 *
 * export const size = Administration.backup({
 *   data: ".signalbox",
 *   file: "room.backup"
 * }).pipe(
 *   Effect.map(({ bytes }) => bytes),
 *   Effect.provide(NodeServices.layer)
 * )
 * ```
 */
export const backup = Backup.make

/**
 * Restores a backup: into a folder that is empty or has the master key alone, and on Postgres a database without a control
 * room. An archive that is cut off or altered is refused before anything is written; a restore that fails removes what it
 * wrote. The room is paused until it is resumed. Fails with `BackupError`.
 */
export const restore = Restore.run

/** The master key cannot be changed now, or not here. */
export class CannotRotate extends TaggedError<CannotRotate>()("CannotRotate", { message: Schema.String }) {}

/** Whether the master key is a file of the data folder, and not in the options. */
export const hasMasterKeyFile: (options: StorageOptions) => boolean = Opening.hasKeyFile

/** A node that still had the old key would seal values under a key that no longer opens them. */
const noNodes = Effect.gen(function* () {
  const message = yield* Nodes.runningNodes
  if (message !== null) return yield* new CannotRotate({ message })
})

/** Wraps all data keys under another master key, with an entry in the audit of the room. */
const rewrap = Effect.fnUntraced(function* (next: MasterKey["Service"]) {
  const { transaction } = yield* Database
  const keys = yield* DataKeys
  const audit = yield* AuditEntries
  const entry = (rewrapped: number) =>
    audit.write({
      workspaceId: roomChain,
      actor: { type: "command", id: null },
      action: "rotateMasterKey",
      resource: { type: "room", id: null, name: null },
      before: null,
      after: { rewrapped }
    })
  return yield* transaction(Effect.tap(keys.rewrap(next), entry))
})

/** Runs an effect on the data keys of the newest schema, while no node runs. */
const onDataKeys = <A, E, R>(options: StorageOptions, effect: Effect.Effect<A, E, R>) => {
  const layer = AuditEntries.layer.pipe(
    Layer.provideMerge(DataKeys.layer),
    Layer.provide(Opening.layerMasterKey(options)),
    Layer.provideMerge(Database.layer),
    Layer.provide(Nodes.layerMigrated)
  )
  // Before the migration, after which nobody sees nodes of a version without rows.
  return Effect.andThen(noNodes, Effect.provide(effect, layer, { local: true })).pipe(
    Effect.provide(Opening.layerClient(options), { local: true })
  )
}

/**
 * Changes the master key in `master.key` of the data folder to a new one; safe to be killed at any moment. Stop the service
 * first. Returns the file, and how many data keys are wrapped under the new key. Fails with `CannotRotate` where there is
 * no such file.
 */
export const rotateMasterKeyFile = Effect.fn("Administration.rotateMasterKeyFile")(function* (options: StorageOptions) {
  const file = Opening.keyFile(options)
  if (!(yield* (yield* FileSystem.FileSystem).exists(file))) {
    return yield* new CannotRotate({
      message: `${file} does not exist: give the folder of the control room with --data (\`data\` in code)`
    })
  }
  const changed = MasterKeyFile.replace(file, rewrap)
  return { rewrapped: yield* onDataKeys(options, changed), file }
})

/**
 * Replaces the master key of the options by `next`, base64 of 32 bytes, atomically; from then on only `next` opens the
 * database. Stop all nodes first. Returns how many data keys are wrapped under the new key. Fails with `CannotRotate`
 * while nodes use the database, and with `MasterKeyError` when either key is invalid.
 */
export const rotateMasterKey = Effect.fn("Administration.rotateMasterKey")(function* (
  options: StorageOptions,
  next: Redacted.Redacted
) {
  const key = yield* MasterKey.fromText(next)
  return yield* onDataKeys(options, rewrap(key))
})
