/** The chain of the audit: entries wait for no lock, and what is altered, removed, put in or cut off is found. */
import { assert, layer as withLayer } from "@effect/vitest"
import { UserId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AuditChain } from "../../src/internal/store/audit/AuditChain.ts"
import { AuditEntries, auditKey, roomChain } from "../../src/internal/store/audit/AuditEntries.ts"
import { RefusedSignIns } from "../../src/internal/store/audit/RefusedSignIns.ts"
import { AuditReading, type ChainHead } from "../../src/internal/store/audit/AuditReading.ts"
import { Workspaces } from "../../src/internal/store/access/Workspaces.ts"
import { checkChains, checkLines } from "../../src/internal/storage/AuditCheck.ts"
import { Database } from "../../src/internal/store/database/Database.ts"
import { movedBy, onPostgres } from "../support/Service.ts"
import { database } from "../support/Storage.ts"

const write = (workspaceId: string, name: string) =>
  Effect.flatMap(AuditEntries, (entries) =>
    entries.write({
      workspaceId,
      actor: { type: "api_key", id: "k" },
      action: "updateProcess",
      resource: { type: "process", id: "p", name },
      before: { name: "before" },
      after: { name }
    })
  )

/** A workspace with five linked entries. */
const chain = Effect.gen(function* () {
  const { id } = yield* (yield* Workspaces).create("audited")
  for (const name of ["1", "2", "3", "4", "5"]) yield* write(id, name)
  yield* (yield* AuditChain).link
  return id
})

const headOf = (workspace: WorkspaceId) =>
  Effect.map(
    Effect.flatMap(AuditChain, ({ head }) => head(workspace)),
    ({ mac, number }): ChainHead => ({
      workspace_id: workspace,
      number,
      mac: mac ?? ""
    })
  )

/** What a check says of one workspace. */
const problemsOf = Effect.fnUntraced(function* (workspace: string, known: ReadonlyArray<ChainHead> = []) {
  const { problems } = yield* checkChains(yield* auditKey, known)
  return problems
    .filter((problem) => problem.startsWith(workspace))
    .map((problem) => problem.slice(workspace.length + 2))
})

const all = { actorId: null, action: null, resourceType: null, resourceId: null, from: null, until: null }
const linesOf = (workspace: WorkspaceId) =>
  Effect.gen(function* () {
    const { rows } = yield* (yield* AuditEntries).list(workspace, all, { after: null, limit: 100 }, "oldest first")
    return rows.map((entry) => JSON.stringify(entry))
  })

withLayer(Layer.provideMerge(AuditReading.layer, database), { excludeTestServices: true, timeout: "2 minutes" })(
  "the chain of the audit",
  (it) => {
    it.effect("numbers what is committed, in order and without gaps, and is whole", () =>
      Effect.gen(function* () {
        const workspace = yield* chain
        const rolledBack = (yield* Database).transaction(Effect.andThen(write(workspace, "never"), Effect.fail("no")))
        yield* Effect.flip(rolledBack)
        yield* write(workspace, "6")
        const { rows: waiting } = yield* (yield* AuditEntries).list(workspace, all, { after: null, limit: 1 })
        assert.deepStrictEqual([waiting[0]?.number, waiting[0]?.mac], [null, null])
        yield* (yield* AuditChain).link
        const { rows } = yield* (yield* AuditEntries).list(workspace, all, { after: null, limit: 100 }, "oldest first")
        assert.deepStrictEqual(
          rows.map(({ number, resource }) => `${number} ${resource.name}`),
          ["1 1", "2 2", "3 3", "4 4", "5 5", "6 6"]
        )
        assert.deepStrictEqual(rows[0]?.changes, [{ field: "name", before: "before", after: "1" }])
        assert.strictEqual((yield* headOf(workspace)).mac, rows.at(-1)?.mac)
        assert.deepStrictEqual(yield* problemsOf(workspace), [])
      })
    )

    const onPostgresAlone = onPostgres ? it.effect : it.effect.skip
    onPostgresAlone("costs no lock: two changes of one workspace do not wait for each other", () =>
      Effect.gen(function* () {
        const { id } = yield* (yield* Workspaces).create("two")
        const { transaction } = yield* Database
        const [one, two] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        // Each commits only once the other has written its entry.
        const change = (name: string, mine: Deferred.Deferred<void>, other: Deferred.Deferred<void>) =>
          transaction(
            Effect.gen(function* () {
              yield* (yield* AuditEntries).lockResource(id, "process", name)
              yield* write(id, name)
              yield* Deferred.succeed(mine, undefined)
              yield* Deferred.await(other)
            })
          )
        yield* Effect.all([change("a", one, two), change("b", two, one), (yield* AuditChain).link], {
          concurrency: "unbounded"
        })
        yield* (yield* AuditChain).link
        assert.strictEqual((yield* headOf(id)).number, 2)
      })
    )

    const tampered: Readonly<Record<string, readonly [sql: (workspace: string) => string, found: RegExp]>> = {
      "an entry was altered": [
        (workspace) => `UPDATE audit_entry SET actor_id = 'x' WHERE workspace_id = '${workspace}' AND number = 3`,
        /^entry 3 is not what was written/
      ],
      "a change of an entry was altered": [
        (workspace) => `UPDATE audit_entry SET changes = '[]' WHERE workspace_id = '${workspace}' AND number = 3`,
        /^entry 3 is not what was written/
      ],
      "an entry was removed": [
        (workspace) => `DELETE FROM audit_entry WHERE workspace_id = '${workspace}' AND number = 3`,
        /^entry 3 is gone/
      ],
      "entries were removed from the front": [
        (workspace) => `DELETE FROM audit_entry WHERE workspace_id = '${workspace}' AND number < 3`,
        /^entries 1 to 2 are gone/
      ],
      "entries were cut off": [
        (workspace) => `DELETE FROM audit_entry WHERE workspace_id = '${workspace}' AND number > 3`,
        /^entries 4 to 5 are cut off/
      ],
      "an entry was moved": [
        (workspace) => `UPDATE audit_entry SET number = number + 10 WHERE workspace_id = '${workspace}' AND number = 5`,
        /^entries 5 to 14 are gone/
      ],
      "an entry was put in": [
        (
          workspace
        ) => `INSERT INTO audit_entry (workspace_id, id, mac, created_at, actor_type, action, resource_type, changes)
          VALUES ('${workspace}', 'ffffffff-0000-7000-8000-000000000000', 'mac', '2026', 'user', 'deleteSecret', 'secret', '[]')`,
        /^the service has not written the entry ffffffff/
      ]
    }
    for (const [what, [statement, found]] of Object.entries(tampered)) {
      it.effect(`shows that ${what}`, () =>
        Effect.gen(function* () {
          const workspace = yield* chain
          const { sql } = yield* Database
          yield* sql.unsafe(statement(workspace))
          // Nothing that was put in gets a place.
          yield* (yield* AuditChain).link
          const problems = yield* problemsOf(workspace)
          assert.isTrue(
            problems.some((problem) => found.test(problem)),
            problems.join("; ")
          )
        })
      )
    }

    it.effect("shows what was cut off with its end, by an end that was stored elsewhere", () =>
      Effect.gen(function* () {
        const workspace = yield* chain
        const known = yield* headOf(workspace)
        const { sql } = yield* Database
        const { at } = yield* AuditReading
        const third = yield* at(workspace, 3)
        yield* sql`DELETE FROM audit_entry WHERE workspace_id = ${workspace} AND number > 3`
        yield* sql`UPDATE audit_chain SET number = 3, mac = ${third?.entry.mac ?? ""} WHERE workspace_id = ${workspace}`
        assert.deepStrictEqual(yield* problemsOf(workspace), [])
        const [problem = ""] = yield* problemsOf(workspace, [known])
        assert.match(problem, /^entries 4 to 5 are cut off: the given end has number 5/)
        // Others written in their place do not have its MAC.
        yield* write(workspace, "other 4")
        yield* write(workspace, "other 5")
        yield* (yield* AuditChain).link
        assert.deepStrictEqual(yield* problemsOf(workspace, [known]), ["entry 5 is not that of the given end"])
        yield* sql`DELETE FROM audit_entry WHERE workspace_id = ${workspace}`
        yield* sql`DELETE FROM audit_chain WHERE workspace_id = ${workspace}`
        assert.deepStrictEqual(yield* problemsOf(workspace, [known]), ["all entries are gone"])
      })
    )

    it.effect("loses only its front by age, which an entry says, and is whole after that", () =>
      Effect.gen(function* () {
        const workspace = yield* chain
        const known = yield* headOf(workspace)
        const { sql } = yield* Database
        const { link, removeBefore } = yield* AuditChain
        const cutoff = "2027-01-01T00:00:00.000Z"
        assert.strictEqual(yield* removeBefore("2020-01-01T00:00:00.000Z", 3), 0)
        assert.isAtLeast(yield* removeBefore(cutoff, 3), 3)
        // Also before the entry of it has its place.
        assert.deepStrictEqual(yield* problemsOf(workspace, [known]), [])
        yield* link
        assert.deepStrictEqual(yield* problemsOf(workspace, [known]), [])
        const { rows } = yield* (yield* AuditEntries).list(workspace, all, { after: null, limit: 100 }, "oldest first")
        assert.deepStrictEqual(
          rows.map(({ number }) => number),
          [4, 5, 6]
        )
        assert.strictEqual(rows.at(-1)?.changes.find(({ field }) => field === "through")?.after, 3)
        yield* sql`DELETE FROM audit_entry WHERE workspace_id = ${workspace} AND number = 4`
        assert.deepStrictEqual(yield* problemsOf(workspace), ["entries 1 to 4 are gone"])
      })
    )

    it.effect("goes on after a restore with an entry that says from which backup", () =>
      Effect.gen(function* () {
        const workspace = yield* chain
        const { sql } = yield* Database
        const { link, noteRestore } = yield* AuditChain
        yield* noteRestore
        yield* sql`INSERT INTO audit_restore (backup_created_at) VALUES ('2026-11-20T08:15:30.000Z')`
        yield* noteRestore
        yield* noteRestore
        yield* link
        const { rows } = yield* (yield* AuditEntries).list(workspace, all, { after: null, limit: 100 }, "oldest first")
        assert.deepStrictEqual(
          rows.slice(5).map(({ action, changes }) => [action, changes.map(({ after }) => after)]),
          [["restoreBackup", ["2026-11-20T08:15:30.000Z", 5]]]
        )
        assert.deepStrictEqual(yield* problemsOf(workspace), [])
        const ofRoom = yield* (yield* AuditEntries).list(roomChain, all, { after: null, limit: 1 })
        assert.strictEqual(ofRoom.rows[0]?.action, "restoreBackup")
      })
    )

    it.effect("has one entry of an account and minute for refused sign-ins, once the minute is over", () =>
      Effect.gen(function* () {
        const { count, enter } = yield* RefusedSignIns
        const clock = yield* Clock.Clock
        const minute = Math.ceil(clock.currentTimeMillisUnsafe() / 60_000) * 60_000
        const at = (millis: number) =>
          Effect.provideService(Clock.Clock, movedBy(clock, minute + millis - clock.currentTimeMillisUnsafe()))
        const ada = { id: UserId.make(crypto.randomUUID()), login: "ada" }
        yield* Effect.all([count(ada, "192.0.2.1"), count(ada, "192.0.2.2"), count(null, null), enter], {
          concurrency: "unbounded"
        }).pipe(at(59_000))
        yield* at(60_500)(count(ada, null))
        yield* Effect.all([enter, enter], { concurrency: "unbounded" }).pipe(at(61_000))
        const { rows } = yield* (yield* AuditEntries).list(
          roomChain,
          { ...all, action: "refuseSignIn" },
          { after: null, limit: 10 }
        )
        const name = `${new Date(minute).toISOString().slice(0, 16)}Z`
        assert.sameDeepMembers(
          rows.map(({ address, changes, resource }) => [
            resource.name,
            address !== null,
            changes.map(({ after }) => after)
          ]),
          [
            ["ada", true, [2, name]],
            [null, false, [1, name]]
          ]
        )
      })
    )

    it.effect("is checked as an export too, of which filters may have left out entries", () =>
      Effect.gen(function* () {
        const workspace = yield* chain
        const key = yield* auditKey
        const lines = yield* linesOf(workspace)
        const check = (some: ReadonlyArray<string>) => Effect.map(checkLines(key, some), ({ problems }) => problems)
        assert.deepStrictEqual(yield* check(lines), [])
        assert.deepStrictEqual(yield* check(lines.toSpliced(2, 1)), [])
        assert.deepStrictEqual(yield* check(lines.with(2, (lines[2] ?? "").replace('"3"', '"three"'))), [
          "line 3: entry 3 is not what was written"
        ])
        assert.deepStrictEqual(yield* check([...lines, "{}"]), ["line 6 is not an entry of an audit"])
        assert.deepStrictEqual(yield* check([...lines.slice(1), ...lines.slice(0, 1)]), [
          "line 5: entry 1 is not in its place"
        ])
      })
    )
  }
)
