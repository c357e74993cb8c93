import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import { createPrivateKey, randomBytes } from "node:crypto"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as StorageLayers from "../src/internal/service/StorageLayers.ts"
import { Signer } from "../src/internal/transfers/Signer.ts"
import { Secrets } from "../src/internal/store/vault/Secrets.ts"
import { TransitKeys } from "../src/internal/store/vault/TransitKeys.ts"
import { Workspaces } from "../src/internal/store/access/Workspaces.ts"
import { DataKeys } from "../src/internal/store/vault/DataKeys.ts"
import * as MasterKeyFile from "../src/internal/storage/MasterKeyFile.ts"
import { MasterKey } from "../src/internal/vault/MasterKey.ts"
import { Seal } from "../src/internal/store/vault/Seal.ts"
import { temporaryFolder } from "./support/Service.ts"

/** Runs an effect on the storage in a folder, from opening to closing it. */
const during = <A, E, R>(folder: string, effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, StorageLayers.layerStorage({ data: folder }).pipe(Layer.provide(NodeServices.layer)))

const content = (value: string) => ({ items: Redacted.make(JSON.stringify({ value })), description: undefined })

const seeded = Effect.gen(function* () {
  const workspaces = yield* Workspaces
  const workspace = (yield* workspaces.first) ?? (yield* workspaces.create("w"))
  const secrets = yield* Secrets
  yield* secrets.create(workspace.id, "one", content("first-value"))
  yield* secrets.create(workspace.id, "two", content("second-value"))
  return workspace.id
})

const valueOf = Effect.fnUntraced(function* (name: string) {
  const workspace = yield* (yield* Workspaces).first
  const found = workspace === null ? null : yield* (yield* Secrets).read(workspace.id, name)
  return found === null ? null : Redacted.value(found.items)
})

/** Why an effect died, as text. */
const deathOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(effect), (exit) => (exit._tag === "Failure" ? String(exit.cause) : "it did not die"))

describe("the vault", () => {
  it.live("keeps no value in the clear, and none that moves", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* during(
        folder,
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const workspace = yield* seeded
          assert.strictEqual(yield* valueOf("one"), '{"value":"first-value"}')
          const rows = yield* sql<{ readonly id: string; readonly items: string }>`SELECT * FROM secret ORDER BY name`
          assert.notInclude(JSON.stringify(rows), "first-value")
          assert.notInclude(JSON.stringify(rows), Buffer.from("first-value").toString("base64").slice(0, 10))
          const [one, two] = rows
          if (one === undefined || two === undefined) return assert.fail("no secrets")

          // The items, and even items with their key, of another secret.
          yield* sql`UPDATE secret SET items = ${two.items} WHERE id = ${one.id}`
          assert.include(yield* deathOf(valueOf("one")), "does not open in its place")
          yield* sql`UPDATE data_key SET wrapped = (SELECT wrapped FROM data_key WHERE id = ${two.id}) WHERE id = ${one.id}`
          const death = yield* deathOf(valueOf("one"))
          assert.include(death, "does not open in its place")
          assert.notInclude(death, "second-value")
          // Under another name, in another workspace, as another version.
          yield* sql`UPDATE secret SET name = 'three' WHERE id = ${two.id}`
          assert.include(yield* deathOf(valueOf("three")), "does not open in its place")
          yield* sql`UPDATE secret SET name = 'two', version = 2 WHERE id = ${two.id}`
          assert.include(yield* deathOf(valueOf("two")), "does not open in its place")
          yield* sql`UPDATE secret SET version = 1 WHERE id = ${two.id}`
          assert.strictEqual(yield* valueOf("two"), '{"value":"second-value"}')
          // Any bit.
          const bytes = Buffer.from(two.items, "base64")
          for (const at of [0, 12, bytes.length - 1]) {
            const changed = Buffer.from(bytes)
            changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
            yield* sql`UPDATE secret SET items = ${changed.toString("base64")} WHERE id = ${two.id}`
            assert.include(yield* deathOf(valueOf("two")), "does not open in its place")
          }
          yield* sql`UPDATE secret SET items = '' WHERE id = ${two.id}`
          assert.include(yield* deathOf(valueOf("two")), "does not open in its place")

          // An older version cannot be restored with its row, because its key was deleted.
          yield* sql`UPDATE secret SET items = ${two.items} WHERE id = ${two.id}`
          yield* (yield* Secrets).update(workspace, "two", content("newer"))
          yield* sql`UPDATE secret SET items = ${two.items}, version = 1 WHERE id = ${two.id}`
          assert.include(yield* deathOf(valueOf("two")), "does not open in its place")
          // A data key works only for its own secret.
          const { get, renew } = yield* DataKeys
          const a = yield* renew("a")
          assert.deepStrictEqual(yield* get("a"), a)
          assert.notDeepEqual(yield* renew("b"), a)
          yield* sql`UPDATE data_key SET wrapped = (SELECT wrapped FROM data_key WHERE id = 'b') WHERE id = 'a'`
          assert.include(yield* deathOf(get("a")), "does not open in its place: data key a")
          // Deleting a secret deletes its key.
          yield* (yield* Secrets).remove(workspace, "two")
          assert.deepStrictEqual(yield* sql`SELECT * FROM data_key WHERE id = ${two.id}`, [])
        })
      )
    })
  )

  it.live("seals texts for one place", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const sealed = yield* during(
        folder,
        Effect.gen(function* () {
          const { open, seal } = yield* Seal
          const first = yield* seal("whsec_zażółć", "webhook secret 1")
          assert.notStrictEqual(yield* seal("whsec_zażółć", "webhook secret 1"), first)
          assert.strictEqual(yield* open(yield* seal("", "empty"), "empty"), "")
          const death = yield* deathOf(open(first, "webhook secret 2"))
          assert.include(death, "webhook secret 2")
          assert.notInclude(death, "whsec")
          return first
        })
      )
      // The next start opens it.
      const opened = during(
        folder,
        Effect.flatMap(Seal, ({ open }) => open(sealed, "webhook secret 1"))
      )
      assert.strictEqual(yield* opened, "whsec_zażółć")
    })
  )

  it.live("changes its master key: all keys are wrapped again and only the new one opens them", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const next = randomBytes(32)
      const keyFile = join(folder, "master.key")
      const before = yield* during(
        folder,
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const workspace = yield* seeded
          const publicKey = yield* (yield* TransitKeys).publicKey(workspace)
          const sealed = yield* (yield* Seal).seal("text", "place")
          const secrets = yield* sql`SELECT * FROM secret ORDER BY id`
          const keys = yield* sql<{ readonly id: string; readonly wrapped: string }>`SELECT * FROM data_key ORDER BY id`
          assert.strictEqual(yield* (yield* DataKeys).rewrap(MasterKey.fromBytes(next)), 4)
          const after = yield* sql<{
            readonly id: string
            readonly wrapped: string
          }>`SELECT * FROM data_key ORDER BY id`
          assert.deepStrictEqual(
            after.map(({ id }) => id),
            keys.map(({ id }) => id)
          )
          for (const [index, { wrapped }] of after.entries()) assert.notStrictEqual(wrapped, keys[index]?.wrapped)
          // Values encrypted under the data keys do not change.
          assert.deepStrictEqual(yield* sql`SELECT * FROM secret ORDER BY id`, secrets)
          return { workspace, publicKey, sealed }
        })
      )
      const refused = yield* Effect.flip(during(folder, Effect.void))
      assert.strictEqual(refused._tag, "MasterKeyError")
      assert.match(refused.message, /not the master key of this database/)

      writeFileSync(keyFile, next)
      yield* during(
        folder,
        Effect.gen(function* () {
          assert.strictEqual(yield* valueOf("one"), '{"value":"first-value"}')
          assert.strictEqual(yield* valueOf("two"), '{"value":"second-value"}')
          assert.strictEqual(yield* (yield* Seal).open(before.sealed, "place"), "text")
          const keys = yield* TransitKeys
          assert.strictEqual(yield* keys.publicKey(before.workspace), before.publicKey)
          const key = Buffer.from(Redacted.value(yield* keys.privateKey(before.workspace)))
          assert.strictEqual(createPrivateKey({ key, format: "der", type: "pkcs8" }).asymmetricKeyType, "rsa")
        })
      )
    })
  )

  it.live("changes the file of its master key, and opens whatever moment that was killed at", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = join(folder, "master.key")
      const bytes = Effect.sync(() => readFileSync(file).toString("hex"))
      const opens = Effect.gen(function* () {
        assert.strictEqual(yield* during(folder, valueOf("one")), '{"value":"first-value"}')
        assert.isFalse(existsSync(`${file}.new`) && (yield* bytes) === readFileSync(`${file}.new`).toString("hex"))
      })
      const rotated = (change: (rewrap: DataKeys["Service"]["rewrap"]) => DataKeys["Service"]["rewrap"]) =>
        Effect.exit(
          during(
            folder,
            Effect.flatMap(DataKeys, ({ rewrap }) => MasterKeyFile.replace(file, change(rewrap)))
          )
        )
      yield* during(folder, seeded)
      const first = yield* bytes

      // Before the database has changed to the next key.
      assert.isTrue(Exit.isFailure(yield* rotated(() => () => Effect.die("killed"))))
      assert.isTrue(existsSync(`${file}.new`))
      yield* opens
      assert.strictEqual(yield* bytes, first)

      // While the next key was written.
      writeFileSync(`${file}.new`, "half")
      yield* opens
      assert.strictEqual(yield* bytes, first)

      // After the database has changed, before the file is renamed.
      assert.isTrue(
        Exit.isFailure(yield* rotated((rewrap) => (next) => Effect.andThen(rewrap(next), Effect.die("killed"))))
      )
      assert.strictEqual(yield* bytes, first)
      yield* opens
      const second = yield* bytes
      assert.notStrictEqual(second, first)
      assert.isFalse(existsSync(`${file}.new`))

      // Not killed.
      assert.isTrue(Exit.isSuccess(yield* rotated((rewrap) => rewrap)))
      assert.notInclude([first, second], yield* bytes)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.isFalse(existsSync(`${file}.new`))
      yield* opens
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("changes nothing when one key does not open", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* during(
        folder,
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* seeded
          yield* sql`UPDATE data_key SET wrapped = 'AAAA' WHERE id = (SELECT max(id) FROM data_key)`
          const rows = Effect.all([sql`SELECT * FROM data_key ORDER BY id`, sql`SELECT * FROM master_key`])
          const before = yield* rows
          const failure = yield* Effect.flip((yield* DataKeys).rewrap(MasterKey.fromBytes(randomBytes(32))))
          assert.strictEqual(failure._tag, "CannotOpen")
          assert.deepStrictEqual(yield* rows, before)
        })
      )
    })
  )

  it.live("has a master key that only its owner reads, and starts with no other", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = join(folder, "master.key")
      const sign = Effect.map(Signer, ({ sign }) => sign("a"))
      const signature = yield* during(folder, Effect.andThen(seeded, sign))
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.strictEqual(yield* during(folder, sign), signature)
      const fs = yield* FileSystem.FileSystem
      const kept = yield* fs.readFile(file)
      yield* fs.remove(file)
      // A lost key is not replaced silently by one that opens nothing.
      const lost = yield* Effect.flip(during(folder, Effect.void))
      assert.match(lost.message, /master\.key is missing.*restore it from a backup/)
      assert.isFalse(yield* fs.exists(file))
      yield* fs.writeFile(file, kept.subarray(1))
      const short = yield* Effect.flip(during(folder, Effect.void))
      assert.match(short.message, /must have 32 bytes and has 31/)
      yield* fs.writeFile(file, kept)
      assert.strictEqual(yield* during(folder, valueOf("one")), '{"value":"first-value"}')
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it("derives a separate key for each purpose", () => {
    const { derive } = MasterKey.fromBytes(Buffer.alloc(32, 7))
    assert.strictEqual(derive("a").length, 32)
    assert.deepStrictEqual(derive("a"), derive("a"))
    assert.notDeepEqual(derive("a"), derive("b"))
    assert.notDeepEqual(MasterKey.fromBytes(Buffer.alloc(32, 8)).derive("a"), derive("a"))
  })
})
