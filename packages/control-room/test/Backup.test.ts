/** Backups of a room that runs, and rooms that were restored from one. */
import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Audit from "@signalbox/api/Audit"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import * as Assistants from "@signalbox/api/Assistants"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Room from "@signalbox/api/Room"
import * as Schedules from "@signalbox/api/Schedules"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as Users from "@signalbox/api/Users"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as PgClient from "@effect/sql-pg/PgClient"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import { sized } from "@signalbox/testkit/Soak"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as PlatformError from "effect/PlatformError"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { basename, dirname, join } from "node:path"
import * as Archive from "../src/internal/storage/Archive.ts"
import * as Administration from "../src/Administration.ts"
import { BlobStore } from "../src/BlobStore.ts"
import { BlobHolds, guarded, hold } from "../src/internal/blobs/BlobHolds.ts"
import { withoutPassword } from "../src/internal/storage/PostgresTools.ts"
import { PackageVersions } from "../src/internal/store/packages/PackageVersions.ts"
import type { StorageOptions } from "../src/Options.ts"
import { ProviderSignIns } from "../src/internal/store/access/ProviderSignIns.ts"
import { linkOf, member, newLogin, page, signIn } from "./support/People.ts"
import {
  layer,
  layerIn,
  linkWorker,
  onPostgres,
  postgresUrl,
  Service,
  storageIn,
  temporaryFolder,
  workerAt
} from "./support/Service.ts"
import { database } from "./support/Storage.ts"

const majorOf = (tool: string) =>
  Number(/\(PostgreSQL\) (\d+)/.exec(String(spawnSync(tool, ["--version"]).stdout))?.[1] ?? 0)
const tools = Math.min(majorOf("pg_dump"), majorOf("pg_restore"))

const onServer = <A, E>(use: (sql: PgClient.PgClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(PgClient.PgClient, use).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(postgresUrl ?? ""), maxConnections: 1 })),
    Effect.orDie
  )

const serverMajor = onServer((sql) =>
  Effect.map(sql<{ readonly server_version_num: string }>`SHOW server_version_num`, ([row]) =>
    Math.floor(Number(row?.server_version_num) / 10_000)
  )
)

/** Whether this machine can back the database up; the embedded Postgres of the tests brings no `pg_dump`. */
const canDump = onPostgres ? Effect.map(serverMajor, (major) => tools >= major) : Effect.succeed(true)

/** An empty place for a restore of this folder's room. */
const emptyPlace = Effect.fnUntraced(function* (source: string) {
  const data = join(yield* temporaryFolder, "restored")
  const { database } = storageIn(source)
  if (database === undefined) return { data } satisfies StorageOptions
  const name = `restored_${crypto.randomUUID().replaceAll("-", "")}`
  const url = new URL(Redacted.value(database.url))
  url.pathname = `/${name}`
  yield* Effect.acquireRelease(
    onServer((sql) => sql`CREATE DATABASE ${sql(name)}`),
    () => onServer((sql) => sql`DROP DATABASE ${sql(name)} WITH (FORCE)`)
  )
  const storage: StorageOptions = {
    ...storageIn(source),
    data,
    database: { ...database, url: Redacted.make(url.href) }
  }
  return storage
})

/** The master key is carried apart from the backup. */
const bringKey = (from: string, to: string) =>
  Effect.sync(() => {
    if (!onPostgres) copyFileSync(join(from, "master.key"), join(to, "master.key"))
  })

const refusal = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

const writers = sized(8, 32)

withLayer(Layer.mergeAll(layer, NodeServices.layer, NodeHttpClient.layerUndici), {
  excludeTestServices: true,
  timeout: "4 minutes"
})("a backup", (it) => {
  it.effect(
    `taken while ${writers} clients write is restored elsewhere, is sound, and is paused until resumed`,
    ({ skip }) =>
      Effect.gen(function* () {
        const { folder } = yield* Service
        const file = join(yield* temporaryFolder, "room.backup")
        const storage = { ...storageIn(folder), file }
        if (!(yield* canDump)) {
          const message = yield* refusal(Administration.backup(storage))
          assert.match(
            message,
            /^pg_dump (cannot be run|is of Postgres \d+, and the server of \d+): install the client/
          )
          assert.isFalse(existsSync(file))
          return skip(
            `the embedded Postgres of the tests brings no pg_dump, and this machine has none as new: ${message}`
          )
        }
        const task = `backup ${crypto.randomUUID()}`
        const process = yield* Processes.create({ name: task, steps: [{ name: "one", task: { name: task } }] })
        yield* Webhooks.create({ endpoint: "http://127.0.0.1:9/", events: ["process_run.started"] })
        const inAnHour = new Date((yield* Clock.currentTimeMillis) + 3_600_000).toISOString()
        yield* Schedules.create({ name: task, process: { id: process.id }, at: inAnHour })
        const { id: taskPackage } = yield* TaskPackages.create(task)
        yield* TaskPackages.upload(taskPackage, {
          name: "a.zip",
          bytes: yield* zipOf({ "robot.yaml": robotYaml("Help") })
        })
        yield* Assistants.create({ name: task, task: "Help", taskPackage })
        const first = yield* ProcessRuns.start(process.id, { payloads: ["before"] })
        const worker = yield* linkWorker([task])
        yield* worker.take
        const held = `held ${task}`
        const holding = yield* Processes.create({ name: held, steps: [{ name: "one", task: { name: held } }] })
        yield* ProcessRuns.start(holding.id, { payloads: [1, 2] })
        const holder = yield* linkWorker([held])
        const { lease } = yield* holder.take
        const write = (n: number) =>
          Effect.gen(function* () {
            const item = yield* WorkItems.create({ process: process.id, payload: { n } })
            yield* WorkItems.attachFile(item.id, { name: "a.txt", bytes: Buffer.from(`bytes of ${item.id}`) })
            yield* ProcessRuns.start(process.id, { workItems: [item.id] })
          })
        const clients = Array.from({ length: writers }, (_, n) => n)
        // Each has written something before.
        yield* Effect.forEach(clients, write, { concurrency: "unbounded" })
        const writing = yield* Effect.forEach(clients, (n) => Effect.forkChild(Effect.forever(write(n))))
        yield* Effect.sleep(sized(0, 3000))
        const here = yield* Service
        const signIn = { key: null, json: { key: here.key }, headers: { "x-signalbox-console": "1" } }
        const signedIn = yield* here.raw("POST", "/console/session", signIn)
        const cookie = String(signedIn.headers["set-cookie"]).split(";")[0] ?? ""
        yield* here.raw("POST", "console-tickets", { json: {}, headers: { "idempotency-key": "left out" } })
        const made = yield* Administration.backup(storage)
        yield* Fiber.interruptAll(writing)
        assert.strictEqual(statSync(file).mode & 0o777, 0o600)
        assert.strictEqual(statSync(file).size, made.bytes)
        assert.deepStrictEqual(made.missing, [])
        assert.isAtLeast(made.files, writers)

        const target = yield* emptyPlace(folder)
        const restored = yield* Administration.restore({ ...target, file })
        assert.strictEqual(restored.files, made.files)
        const listed = yield* Stream.runCollect(ApiKeys.stream())
        assert.includeMembers(
          restored.keys.map(({ id }) => id),
          listed.map(({ id }) => id)
        )
        assert.strictEqual(restored.needs_master_key, !onPostgres)
        yield* bringKey(folder, target.data)
        // The audit ends as its manifest says.
        const { description } = yield* Archive.decode(file, Archive.nowhere)
        const auditHeads = description.audit_heads ?? assert.fail("no ends of the audit")
        assert.isAbove(auditHeads.length, 0)
        assert.deepStrictEqual(
          (yield* Administration.check(target, { auditHeads })).filter(({ ok }) => !ok),
          []
        )

        yield* Effect.gen(function* () {
          const there = yield* Service
          assert.isTrue((yield* Room.get).paused)
          assert.lengthOf((yield* Audit.list({ action: "restoreBackup" })).data, 1)
          // Nobody is signed in, and nothing is said again that was said there.
          const shown = yield* there.raw("GET", "/console/session", { key: null, headers: { cookie } })
          assert.strictEqual(shown.status, 401, shown.text)
          const atStart = yield* there.rows
          for (const table of ["console_session", "console_ticket", "idempotency_key"]) {
            assert.deepStrictEqual(atStart[table], [], table)
          }
          // Reads are answered; a start waits like all other work.
          assert.strictEqual((yield* Processes.get(process.id)).name, task)
          const again = yield* linkWorker([task])
          assert.deepStrictEqual(yield* again.protocol.lease({ free: 9, tasks: [task], waitSeconds: 0 }), [])
          // A worker that has found its way here ends what it has, and gets nothing more.
          const session = yield* (yield* workerAt(there.origin, holder.identity, [held])).session(lease)
          const item = (yield* session.reserveNext) ?? assert.fail("what is in hand was taken away")
          yield* session.release(item, { state: "COMPLETED" })
          assert.isNull(yield* session.reserveNext)
          const assistants = yield* Assistants.list()
          const helper = assistants.data.find(({ name }) => name === task) ?? assert.fail("no assistant")
          const started = yield* there.raw("POST", `assistants/${helper.id}/runs`)
          assert.strictEqual(started.status, 409)
          assert.match(started.text, /this room was restored and is paused; resume it with `signalbox resume`/)
          const before = yield* there.rows
          yield* there.tickIn(11_000)
          yield* there.scheduleIn(3_700_000)
          yield* there.deliverIn(60_000)
          yield* there.retainIn(1e12)
          assert.deepStrictEqual(yield* there.rows, before)
          assert.strictEqual((yield* ProcessRuns.get(first.started ? first.id : assert.fail())).state, "in_progress")

          // Whoever manages the keys of one workspace does not operate the room.
          const weak = yield* there.makeKey(Permission.literals.filter((permission) => permission !== "Room.manage"))
          assert.strictEqual((yield* there.raw("POST", "room/resume", { key: weak })).status, 403)
          assert.isFalse((yield* Room.resume).paused)
          assert.isNotNull(yield* session.reserveNext)
          const { task: of } = yield* Assistants.startRun(helper.id)
          assert.strictEqual(of.name, "Help")
          assert.strictEqual((yield* Room.resume).resumed_at, (yield* Room.get).resumed_at)
          // What was in hand at the moment of the backup is with a worker of another room.
          yield* there.tickIn(25_000)
          assert.strictEqual((yield* ProcessRuns.get(first.started ? first.id : assert.fail())).state, "unresolved")
          const live = Effect.map(ProcessRuns.list({ process: process.id, limit: 1 }), ({ data }) => data[0]?.id)
          const newest = yield* live
          yield* there.scheduleIn(3_700_000)
          assert.notStrictEqual(yield* live, newest)
          const after = `after ${task}`
          const other = yield* Processes.create({ name: after, steps: [{ name: "one", task: { name: after } }] })
          const next = yield* ProcessRuns.start(other.id)
          const id = next.started ? next.id : assert.fail("not started")
          const worker = yield* linkWorker([after])
          yield* worker.protocol.finish((yield* worker.take).lease, null)
          assert.strictEqual((yield* ProcessRuns.awaitEnd(id)).state, "completed")
          // Nothing listens there: an attempt is enough.
          const sql = yield* SqlClient.SqlClient
          const attempts = sql<{ readonly n: number }>`
          SELECT count(*) AS n FROM webhook_delivery WHERE process_run_id = ${id} AND attempts > 0`
          yield* Effect.repeat(Effect.delay(attempts, "20 millis"), { until: ([row]) => row?.n === 1 })
        }).pipe(
          Effect.provide(
            Layer.unwrap(Effect.sync(() => layerIn(target.data, { rateLimit: null }, target))).pipe(
              Layer.fresh,
              Layer.orDie
            )
          )
        )
      }).pipe(Effect.scoped)
  )

  it.effect("names keys and accounts that are valid again, and brings back no session and no link", ({ skip }) =>
    Effect.gen(function* () {
      if (!(yield* canDump)) return skip("no pg_dump as new as the server")
      const { folder, raw } = yield* Service
      const { cookie, user } = yield* member({ login: newLogin("leaver"), role: "operator" })
      const link = linkOf(yield* Users.createLink(user.id))
      const begun = { provider: "p", state: "s", nonce: "n", verifier: "v", place: "/" }
      yield* (yield* ProviderSignIns).begin({ ...begun, account_id: null, link_id: null, session_id: null })
      const key = yield* ApiKeys.create("revoked later", ["Processes.read_runs"])
      const text = Redacted.value(key.key)
      assert.strictEqual((yield* raw("GET", "process-runs", { key: text })).status, 200)
      const file = join(yield* temporaryFolder, "room.backup")
      yield* Administration.backup({ ...storageIn(folder), file })
      yield* ApiKeys.remove(key.id)
      yield* Users.update(user.id, { disabled: true })

      const target = yield* emptyPlace(folder)
      const restored = yield* Administration.restore({ ...target, file })
      const again = restored.keys.find(({ id }) => id === key.id) ?? assert.fail("the key is not named")
      assert.strictEqual(again.created_at, key.created_at)
      assert.match(again.last_used_at ?? "", /^20\S+Z$/)
      const account = restored.accounts.find(({ id }) => id === user.id) ?? assert.fail("the account is not named")
      assert.deepInclude(account, { login: user.login, disabled: false, manages_room: false })
      assert.match(account.last_sign_in_at ?? "", /^20\S+Z$/)
      yield* bringKey(folder, target.data)
      yield* Effect.gen(function* () {
        const there = yield* Service
        assert.deepStrictEqual((yield* there.rows)["provider_sign_in"], [])
        // What is named can be used: it is for who reads that to revoke it before the room is resumed.
        assert.strictEqual((yield* there.raw("GET", "process-runs", { key: text })).status, 200)
        yield* ApiKeys.remove(key.id)
        assert.strictEqual((yield* there.raw("GET", "process-runs", { key: text })).status, 403)
        assert.strictEqual((yield* page("GET", "/console/session", undefined, cookie)).status, 401)
        assert.strictEqual((yield* page("POST", "/console/link", { link })).status, 403)
        assert.strictEqual((yield* signIn(user.login)).status, 200)
      }).pipe(
        Effect.provide(
          Layer.unwrap(Effect.sync(() => layerIn(target.data, { rateLimit: null }, target))).pipe(
            Layer.fresh,
            Layer.orDie
          )
        )
      )
    }).pipe(Effect.scoped)
  )

  const onSqlite = onPostgres ? it.effect.skip : it.effect
  /** A small backup of the service of these tests. */
  const small = Effect.gen(function* () {
    const { folder } = yield* Service
    const file = join(yield* temporaryFolder, "small.backup")
    const item = yield* WorkItems.create({
      process: (yield* Processes.create({
        name: crypto.randomUUID(),
        steps: [{ name: "one", task: { name: "none" } }]
      })).id,
      payload: 1
    })
    yield* WorkItems.attachFile(item.id, { name: "large.bin", bytes: randomBytes(300_000) })
    yield* Administration.backup({ ...storageIn(folder), file })
    return { file, folder }
  })

  onSqlite("that is cut off or altered anywhere is refused, and nothing is written", () =>
    Effect.gen(function* () {
      const { file } = yield* small
      const whole = readFileSync(file)
      const data = join(yield* temporaryFolder, "restored")
      const altered = `${file}.altered`
      const refused = Effect.fnUntraced(function* (bytes: Uint8Array, expected: RegExp) {
        writeFileSync(altered, bytes)
        assert.match(yield* refusal(Administration.restore({ data, file: altered })), expected)
        assert.isFalse(existsSync(data))
      })
      for (const length of [0, 100, 512, 1100, 5000, whole.length - 200_000, whole.length - 2048]) {
        yield* refused(whole.subarray(0, length), /is cut off|is not a backup of a control room/)
      }
      for (const at of [600, 2000, whole.length / 2, whole.length - 200_000]) {
        const bytes = Buffer.from(whole)
        const index = Math.floor(at)
        bytes[index] = (bytes[index] ?? 0) ^ 1
        yield* refused(bytes, /has been altered|is not a backup/)
      }
      yield* refused(Buffer.concat([whole.subarray(0, -1024), whole]), /has been altered|is not a backup/)
      yield* refused(randomBytes(10_000), /has been altered, or is not a backup/)
    }).pipe(Effect.scoped)
  )

  it.effect("whose restore was killed leaves a folder in which no room starts, and no other restore", () =>
    Effect.gen(function* () {
      const { folder } = yield* Service
      const target = yield* emptyPlace(folder)
      mkdirSync(join(target.data, "restoring", "files"), { recursive: true })
      mkdirSync(join(target.data, "files"))
      const started = Effect.scoped(Layer.build(Layer.fresh(layerIn(target.data, {}, target))))
      assert.match(
        yield* refusal(started),
        /^a restore into .*restored has not ended: .* restore the backup into another/
      )
      const file = join(target.data, "..", "any.backup")
      writeFileSync(file, "")
      assert.match(
        yield* refusal(Administration.restore({ ...target, file })),
        /restored has files of another restore: .* remove `restoring` and `files` there/
      )
      assert.sameMembers(readdirSync(target.data), ["restoring", "files"])
    }).pipe(Effect.scoped)
  )

  onSqlite("is refused where its disk is full, which it names, and leaves nothing", () =>
    Effect.gen(function* () {
      const { folder } = yield* Service
      const place = yield* temporaryFolder
      const fs = yield* FileSystem.FileSystem
      const full = PlatformError.systemError({
        _tag: "Unknown",
        module: "FileSystem",
        method: "write",
        cause: Object.assign(new Error("no space left on device"), { code: "ENOSPC" })
      })
      const onFullDisk = FileSystem.make({
        ...fs,
        open: (path, options) => (basename(path) === "archive" ? Effect.fail(full) : fs.open(path, options))
      })
      const backup = Administration.backup({ ...storageIn(folder), file: join(place, "room.backup") })
      assert.strictEqual(
        yield* refusal(Effect.provideService(backup, FileSystem.FileSystem, onFullDisk)),
        `the disk of ${place} is full: free space there, or give a FILE on another disk`
      )
      assert.deepStrictEqual(readdirSync(place), [])
    }).pipe(Effect.scoped)
  )

  onSqlite("refuses a file that exists, and a place that is not empty", () =>
    Effect.gen(function* () {
      const { file, folder } = yield* small
      const before = readFileSync(file)
      const storage = { ...storageIn(folder), file }
      assert.match(
        yield* refusal(Administration.backup(storage)),
        /exists: choose another name, or replace it with --force/
      )
      assert.isTrue(readFileSync(file).equals(before))
      yield* Administration.backup({ ...storage, force: true })
      assert.isFalse(readFileSync(file).equals(before))
      assert.match(yield* refusal(Administration.restore(storage)), /is not empty, it has/)
      assert.deepStrictEqual(
        readdirSync(dirname(file)).filter((name) => name !== basename(file)),
        []
      )
      const url = Redacted.make("postgres://nobody@127.0.0.1:1/none")
      const elsewhere = { data: join(folder, "new"), database: { url }, file }
      assert.match(
        yield* refusal(Administration.restore(elsewhere)),
        /is of a room on SQLite: restore it with --data alone/
      )
      assert.isFalse(existsSync(elsewhere.data))
    }).pipe(Effect.scoped)
  )

  onSqlite("replaces no folder and no special file, whatever is asked", () =>
    Effect.gen(function* () {
      const { file, folder } = yield* small
      const pipe = join(dirname(file), "pipe")
      assert.strictEqual(spawnSync("mkfifo", [pipe]).status, 0)
      for (const special of [pipe, dirname(file)]) {
        const made = Administration.backup({ ...storageIn(folder), file: special, force: true })
        assert.match(yield* refusal(made), /is a folder, a device or a special file: choose the name of a file/)
      }
      assert.isTrue(statSync(pipe).isFIFO())
    }).pipe(Effect.scoped)
  )

  onSqlite("removes what killed backups to the same file left an hour ago, and nothing else", () =>
    Effect.gen(function* () {
      const { folder } = yield* Service
      const place = yield* temporaryFolder
      const hourAgo = Date.now() / 1000 - 3700
      const left = {
        "x.backup.0a1b2c3d.partial": hourAgo,
        "x.backup.00000001.partial": Date.now() / 1000,
        "y.backup.0a1b2c3d.partial": hourAgo,
        "x.backup.mine.partial": hourAgo
      }
      for (const [name, at] of Object.entries(left)) {
        mkdirSync(join(place, name))
        writeFileSync(join(place, name, "database"), "some")
        for (const path of [join(place, name, "database"), join(place, name)]) utimesSync(path, at, at)
      }
      // Its folder is old, and it is still written to.
      mkdirSync(join(place, "x.backup.00000002.partial"))
      writeFileSync(join(place, "x.backup.00000002.partial", "archive"), "some")
      utimesSync(join(place, "x.backup.00000002.partial"), hourAgo, hourAgo)
      yield* Administration.backup({ ...storageIn(folder), file: join(place, "x.backup") })
      assert.sameMembers(readdirSync(place), [
        "x.backup",
        "x.backup.00000001.partial",
        "x.backup.00000002.partial",
        "x.backup.mine.partial",
        "y.backup.0a1b2c3d.partial"
      ])
    }).pipe(Effect.scoped)
  )

  onSqlite("that is interrupted leaves no file, and nothing that keeps blobs", () =>
    Effect.gen(function* () {
      const { folder } = yield* Service
      const place = yield* temporaryFolder
      const running = yield* Effect.forkChild(
        Administration.backup({ ...storageIn(folder), file: join(place, "x.backup") })
      )
      yield* Effect.repeat(
        Effect.sync(() => readdirSync(place).length),
        { until: (n) => n > 0, schedule: Schedule.spaced(1) }
      )
      yield* Fiber.interrupt(running)
      assert.deepStrictEqual(readdirSync(place), [])
      const holds = join(folder, "backups")
      // There is no folder before the first backup that held files.
      assert.deepStrictEqual(existsSync(holds) ? readdirSync(holds) : [], [])
    }).pipe(Effect.scoped)
  )

  it.effect("is of what the check finds whole: packages by their digest", () =>
    Effect.gen(function* () {
      const { folder, blobs, workspaceId } = yield* Service
      const before = new Set((yield* blobs).kept)
      const { id } = yield* TaskPackages.create(crypto.randomUUID())
      yield* TaskPackages.upload(id, { name: "a.zip", bytes: yield* zipOf({ "robot.yaml": robotYaml("one") }) })
      const blob = (yield* blobs).kept.find((name) => !before.has(name)) ?? assert.fail("no blob")
      const path = join(folder, "files", blob.slice(-2), blob)
      const files = Effect.map(Administration.check(storageIn(folder)), (found) =>
        (found.find(({ check }) => check === "files")?.files ?? []).map(({ altered, owner }) => ({ altered, owner }))
      )
      // Older versions are packages too.
      yield* TaskPackages.upload(id, { name: "b.zip", bytes: yield* zipOf({ "robot.yaml": robotYaml("two") }) })
      const { rows } = yield* (yield* PackageVersions).list(workspaceId, id, { after: null, limit: 10 })
      const owner = rows.at(-1)?.id
      assert.lengthOf(rows, 2)
      assert.deepStrictEqual(yield* files, [])
      const whole = readFileSync(path)
      writeFileSync(path, Buffer.alloc(whole.length, 1))
      assert.deepStrictEqual(yield* files, [{ altered: true, owner }])
      writeFileSync(path, whole)
    })
  )

  it.effect("is of what the check finds sound, which names runs with counters that differ from their rows", () =>
    Effect.gen(function* () {
      const { folder } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const name = `counted ${crypto.randomUUID()}`
      const process = yield* Processes.create({ name, steps: [{ name: "one", task: { name } }] })
      const run = yield* ProcessRuns.start(process.id, { payloads: [1, 2] })
      const id = run.started ? run.id : assert.fail("not started")
      const counters = Effect.map(Administration.check(storageIn(folder)), (found) =>
        found.find(({ check }) => check === "counters")
      )
      assert.isTrue((yield* counters)?.ok)
      yield* sql`UPDATE process_run SET failed = 1 WHERE id = ${id}`
      const found = yield* counters
      assert.isFalse(found?.ok)
      assert.include(found?.message, id)
      yield* sql`UPDATE process_run SET failed = 0 WHERE id = ${id}`
    })
  )
})

/** A blob store that only counts what is removed. */
const counting = (removed: Array<string>) =>
  Layer.succeed(
    BlobStore,
    BlobStore.of({
      stage: () => Effect.die("not used"),
      stageFile: () => Effect.die("not used"),
      read: () => Effect.die("not used"),
      sizeOf: () => Effect.die("not used"),
      names: Stream.empty,
      pathOf: (blob) => blob,
      remove: (blob) => Effect.sync(() => void removed.push(blob)),
      probe: Effect.void,
      sweep: () => Effect.succeed(7)
    })
  )

const inFolder = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => BlobHolds.layerFolder(join(folder, "backups")))
).pipe(Layer.provide(NodeServices.layer))

describe("removal of blobs", () => {
  it.effect("waits while a backup holds them, and for two minutes after one was killed", () => {
    const removed: Array<string> = []
    return Effect.gen(function* () {
      yield* TestClock.setTime(yield* Effect.sync(() => Date.now()))
      const store = yield* BlobStore
      const held = yield* BlobHolds
      yield* store.remove("a")
      assert.deepStrictEqual(removed, ["a"])
      const backup = yield* Effect.forkChild(Effect.scoped(Effect.andThen(hold, Effect.never)))
      yield* Effect.repeat(Effect.yieldNow, { until: () => Effect.map(held.any, (any) => any) })
      yield* store.remove("b")
      yield* store.remove("c")
      assert.strictEqual(yield* store.sweep(() => Effect.succeed(new Set<string>())), 0)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(removed, ["a"])
      yield* Fiber.interrupt(backup)
      yield* TestClock.adjust("10 seconds")
      yield* Effect.repeat(Effect.yieldNow, { until: () => removed.length === 3 })
      assert.deepStrictEqual(removed, ["a", "b", "c"])
      assert.strictEqual(yield* store.sweep(() => Effect.succeed(new Set<string>())), 7)
      // Killed: nobody puts it off.
      yield* held.add(crypto.randomUUID(), 120_000)
      assert.isTrue(yield* held.any)
      yield* TestClock.adjust("121 seconds")
      assert.isFalse(yield* held.any)
    }).pipe(Effect.provide(guarded.pipe(Layer.provide(counting(removed)), Layer.provideMerge(inFolder))), Effect.scoped)
  })

  it.live("waits for holds that several nodes see, until they expire", () =>
    Effect.gen(function* () {
      const held = yield* BlobHolds
      yield* held.add("backup", 60_000)
      assert.isTrue(yield* held.any)
      assert.isTrue(yield* held.extend("backup", 60_000))
      yield* held.remove("backup")
      assert.isFalse(yield* held.any)
      assert.isFalse(yield* held.extend("backup", 60_000))
      yield* held.add("killed", -1)
      assert.isFalse(yield* held.any)
      assert.isFalse(yield* held.extend("killed", 60_000))
    }).pipe(Effect.provide(BlobHolds.layerRows.pipe(Layer.provide(database))))
  )
})

describe("the password of an address", () => {
  it("is no argument of the tools of Postgres", () => {
    const plain = withoutPassword(Redacted.make("postgres://me:s%40cret@db.example:5433/room?sslmode=require"))
    assert.deepStrictEqual(plain, { address: "postgres://me@db.example:5433/room?sslmode=require", password: "s@cret" })
    const parameter = withoutPassword(Redacted.make("postgres://me@db.example/room?password=s%40cret&sslmode=require"))
    assert.deepStrictEqual(parameter, { address: "postgres://me@db.example/room?sslmode=require", password: "s@cret" })
  })
})
