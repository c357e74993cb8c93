import { assert, layer as withLayer } from "@effect/vitest"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Secrets from "@signalbox/api/Secrets"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import {
  constants,
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes
} from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Answer, assertError, bodyAs, errorOf } from "../support/Http.ts"
import { manySecrets } from "../support/ManySecrets.ts"
import { layer, linkWorker, Service } from "../support/Service.ts"

const scheme = "robocloud-vault-transit-v2"
const oaep = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" } as const
/** Keys that the real client generates itself. */
const reader = generateKeyPairSync("rsa", { modulusLength: sized(2048, 4096) })
const derOf = (key: KeyObject) => key.export({ type: "spki", format: "der" }).toString("base64")

const Sealed = Schema.Struct({
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  value: Schema.String,
  encryption: Schema.Struct({
    encryptionScheme: Schema.Literal(scheme),
    encryptedAES: Schema.String,
    authTag: Schema.String,
    iv: Schema.String
  })
})

const bytes = (text: string) => Buffer.from(text, "base64")

/** Like the library of robots: the nonce is the hex of the iv, as ASCII. */
const decrypted = (answer: Answer): unknown => {
  assert.strictEqual(answer.status, 200, answer.text)
  const { encryption, value } = bodyAs(Sealed, answer)
  const key = privateDecrypt({ key: reader.privateKey, ...oaep }, bytes(encryption.encryptedAES))
  assert.strictEqual(key.length, 32)
  assert.strictEqual(bytes(encryption.iv).length, 16)
  assert.strictEqual(bytes(encryption.authTag).length, 16)
  const nonce = Buffer.from(bytes(encryption.iv).toString("hex"), "ascii")
  const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAuthTag(bytes(encryption.authTag))
  return JSON.parse(Buffer.concat([decipher.update(bytes(value)), decipher.final()]).toString())
}

/** Like the library of robots: the nonce is the iv itself. */
const encrypted = (vaultKey: string, name: string, text: string, description: string | null = null) => {
  const key = randomBytes(32)
  const iv = randomBytes(16)
  const cipher = createCipheriv("aes-256-gcm", key, iv)
  const value = Buffer.concat([cipher.update(text), cipher.final()])
  const vault = createPublicKey({ key: bytes(vaultKey), format: "der", type: "spki" })
  return {
    name,
    description,
    value: value.toString("base64"),
    encryption: {
      encryptionScheme: scheme,
      encryptedAES: publicEncrypt({ key: vault, ...oaep }, key).toString("base64"),
      authTag: cipher.getAuthTag().toString("base64"),
      iv: iv.toString("base64")
    }
  }
}

/** Requests of a robot with this token; of the bearer scheme, as robots send it. */
const robot = (token: string) =>
  Effect.map(Service, ({ raw, workspaceId }) => {
    const call = (method: string, path: string, json?: unknown) =>
      raw(method, `/secrets-v1/workspaces/${workspaceId}/secrets/${path}`, {
        key: null,
        headers: { authorization: `Bearer ${token}` },
        ...(json === undefined ? {} : { json })
      })
    return {
      call,
      get: (name: string, key = derOf(reader.publicKey)) =>
        call("GET", `${name}?${new URLSearchParams({ encryptionScheme: scheme, publicKey: key })}`),
      publicKey: Effect.map(call("GET", "publicKey"), (answer) => answer.text)
    }
  })

/** The token of a started step run, and an effect that ends it. */
const running = Effect.gen(function* () {
  const name = `secrets ${crypto.randomUUID()}`
  const process = yield* Processes.create({ name, steps: [{ name: "s", task: { name } }] })
  yield* ProcessRuns.start(process.id)
  const worker = yield* linkWorker([name])
  const { lease } = yield* worker.take
  yield* worker.stayAlive
  return { token: lease.run_token, end: worker.protocol.finish(lease, null) }
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("secrets", (it) => {
  it.effect("go in, are listed without items, are replaced whole, and go", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const made = yield* Secrets.create("shop_1", {
        items: { user: "robot", password: Redacted.make("pass-in-the-clear") },
        description: "back office"
      })
      assert.deepStrictEqual(made, { name: made.name, description: "back office", hosts: [] })
      const listed = yield* raw("GET", "secrets?name=shop_1")
      assert.strictEqual(
        listed.text,
        '{"data":[{"name":"shop_1","description":"back office","hosts":[]}],"has_more":false,"next":null}'
      )
      const taken = yield* raw("POST", "secrets", { json: { name: "shop_1", items: { password: "pass-of-another" } } })
      assertError(taken, 409, "CONFLICT", /shop_1/)
      assert.notInclude(taken.text, "pass-of-another")

      const { token } = yield* running
      const { get } = yield* robot(token)
      assert.deepStrictEqual(decrypted(yield* get("shop_1")), { user: "robot", password: "pass-in-the-clear" })
      const kept = yield* Secrets.update("shop_1", { items: { token: { nested: [1, null, "ż"] } } })
      assert.strictEqual(kept.description, "back office")
      assert.deepStrictEqual(decrypted(yield* get("shop_1")), { token: { nested: [1, null, "ż"] } })
      assert.strictEqual((yield* Secrets.update("shop_1", { items: {}, description: null })).description, null)
      // PUT is a POST of older clients.
      const put = yield* raw("PUT", "secrets/shop_1", { json: { items: { a: "b" }, description: "again" } })
      assert.strictEqual(put.text, '{"name":"shop_1","description":"again","hosts":[]}')

      const removed = yield* Secrets.remove("shop_1")
      assert.isTrue(removed.deleted)
      assertError(yield* raw("DELETE", "secrets/shop_1"), 404, "NOT_FOUND", /secret shop_1/)
      assertError(yield* raw("POST", "secrets/shop_1", { json: { items: {} } }), 404, "NOT_FOUND", /secret shop_1/)
      assertError(yield* get("shop_1"), 404, "NOT_FOUND", /secret shop_1/)
      assert.notInclude(JSON.stringify((yield* rows)["secret"]), "shop_1")
    })
  )

  it.effect("are shown with the names of their items, and never with a value", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      yield* Secrets.create("named", { items: { user: "robot", password: Redacted.make("needle"), "": { deep: 1 } } })
      const shown = yield* raw("GET", "secrets/named")
      assert.strictEqual(
        shown.text,
        '{"name":"named","description":null,"hosts":[],"item_names":["user","password",""]}'
      )
      yield* Secrets.update("named", { items: { token: "t" }, description: "the shop's" })
      assert.deepStrictEqual((yield* Secrets.get("named")).item_names, ["token"])
      yield* Secrets.remove("named")
      assertError(yield* raw("GET", "secrets/named"), 404, "NOT_FOUND", /secret named/)
    })
  )

  it.effect("take single items, and keep the others: of many requests at one time none is lost", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const { token } = yield* running
      const { get } = yield* robot(token)
      yield* Secrets.create("merged", { items: { user: "robot", pin: 1, password: "old" }, description: "kept" })
      yield* Secrets.setItems("merged", { items: { password: Redacted.make("new") }, remove: ["pin", "none"] })
      assert.deepStrictEqual(decrypted(yield* get("merged")), { user: "robot", password: "new" })
      assert.strictEqual((yield* Secrets.get("merged")).description, "kept")
      yield* Effect.forEach(
        Array.from({ length: 10 }, (_, n) => n),
        (n) => Secrets.setItems("merged", { items: { [`n${n}`]: n } }),
        { concurrency: "unbounded" }
      )
      assert.lengthOf((yield* Secrets.get("merged")).item_names, 12)

      const before = yield* rows
      const path = "secrets/merged/items"
      const large = { items: { large: `canary${"x".repeat(65_500)}` } }
      const tooLarge = yield* raw("POST", path, { json: large })
      assertError(tooLarge, 413, "PAYLOAD_TOO_LARGE", /^items: .*65536/)
      assert.notInclude(tooLarge.text, "canary")
      const both = yield* raw("POST", path, { json: { items: { user: "canary" }, remove: ["user"] } })
      assertError(both, 400, "INVALID_REQUEST", /^remove: the item "user" is also in items/)
      const none = yield* raw("POST", "secrets/missing/items", { json: { items: {} } })
      assertError(none, 404, "NOT_FOUND", /secret missing/)
      assert.deepStrictEqual(yield* rows, before)
      yield* Secrets.remove("merged")
    })
  )

  it.effect("stand on disk in no readable form", () =>
    Effect.gen(function* () {
      const { folder, rows } = yield* Service
      yield* Secrets.create("on_disk", { items: { password: "needle-in-the-haystack" } })
      assert.notInclude(JSON.stringify(yield* rows), "needle-in")
      for (const file of readdirSync(folder).filter((name) => name.startsWith("control-room.db"))) {
        if (file.endsWith(".lock")) continue
        assert.isFalse(readFileSync(join(folder, file)).includes("needle-in"), file)
      }
      yield* Secrets.remove("on_disk")
    })
  )

  it.effect("refuse invalid names and content, report it without the content, and change nothing", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      yield* Secrets.create("there", { items: { a: 1 } })
      const canary = "canary-value"
      const before = yield* rows
      const items = { a: canary }
      const bad: ReadonlyArray<readonly [unknown, RegExp, number?]> = [
        [{ items }, /name/],
        [{ name: "", items }, /name/],
        [{ name: "with space", items }, /name/],
        [{ name: "with-dash", items }, /name/],
        [{ name: "zażółć", items }, /name/],
        [{ name: "publicKey", items }, /publicKey/],
        [{ name: "a".repeat(256), items }, /name/],
        [{ name: "a" }, /items/],
        [{ name: "a", items: canary }, /items/],
        [{ name: "a", items: [canary] }, /items/],
        [{ name: "a", items: null }, /items/],
        [{ name: "a", items, description: 5 }, /description/],
        [{ name: "a", items, description: "d".repeat(1001) }, /description/],
        [{ name: "a", items: { a: canary + "x".repeat(64 * 1024) } }, /items: .*65536/, 413]
      ]
      for (const [json, says, status = 400] of bad) {
        const ofContent = says.source.startsWith("items") || says.source.startsWith("description")
        for (const path of ofContent ? ["secrets", "secrets/there"] : ["secrets"]) {
          const answer = yield* raw("POST", path, { json })
          assertError(answer, status, status === 413 ? "PAYLOAD_TOO_LARGE" : "INVALID_REQUEST", says)
          assert.notInclude(answer.text, canary)
        }
      }
      const broken = yield* raw("POST", "secrets", { body: `{"name":"a","items":{"a":"${canary}"` })
      assertError(broken, 400, "INVALID_REQUEST", /./)
      assert.notInclude(broken.text, canary)
      const nan = yield* raw("POST", "secrets", { body: `{"name":"a","items":{"a":1e999,"b":"${canary}"}}` })
      assertError(nan, 400, "INVALID_REQUEST", /items/)
      assert.notInclude(nan.text, canary)
      assert.deepStrictEqual(yield* rows, before)

      // Exactly the maximum.
      const most = "x".repeat(64 * 1024 - '{"a":""}'.length)
      assert.strictEqual((yield* raw("POST", "secrets", { json: { name: "most", items: { a: most } } })).status, 200)
      yield* Secrets.remove("most")
      yield* Secrets.remove("there")
    })
  )

  it.effect("come in pages of 1,000, whatever limit is asked for", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const names = yield* manySecrets("page", 1001)
      const page = yield* Secrets.list()
      assert.strictEqual(page.data.length, 1000)
      assert.isTrue(page.has_more)
      const ListOf = Schema.Struct({ data: Schema.Array(Schema.Unknown) })
      assert.strictEqual(bodyAs(ListOf, yield* raw("GET", "secrets?limit=3")).data.length, 1000)
      const all = yield* Stream.runCollect(Secrets.stream())
      assert.deepStrictEqual(new Set(all.map(({ name }) => String(name))), new Set(names))
      assert.strictEqual(all.length, 1001)
      assertError(yield* raw("GET", "secrets?cursor=x"), 400, "INVALID_REQUEST", /cursor/)
      yield* sql`DELETE FROM secret WHERE ${sql.in("name", names)}`
    })
  )

  it.effect("belong to their workspace", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      yield* Secrets.create("mine", { items: { a: "1" } })
      const other = yield* makeWorkspace
      const key = yield* makeKey(Permission.literals, other)
      const there = (method: string, path: string, json?: unknown) =>
        raw(method, `/api/v1/workspaces/${other}/${path}`, { key, ...(json === undefined ? {} : { json }) })
      assert.include((yield* there("GET", "secrets")).text, '"data":[]')
      assert.strictEqual((yield* there("POST", "secrets/mine", { items: {} })).status, 404)
      assert.strictEqual((yield* there("DELETE", "secrets/mine")).status, 404)
      // Another workspace can use the same name.
      assert.strictEqual((yield* there("POST", "secrets", { name: "mine", items: {} })).status, 200)
      // A value encrypted for one vault cannot be decrypted by another.
      const { token } = yield* running
      const sealed = encrypted(yield* (yield* robot(token)).publicKey, "moved", '{"a":"1"}')
      const moved = yield* raw("PUT", `/secrets-v1/workspaces/${other}/secrets/moved`, { key, json: sealed })
      assertError(moved, 400, "INVALID_REQUEST", /value: does not decrypt/)
      const query = new URLSearchParams({ encryptionScheme: scheme, publicKey: derOf(reader.publicKey) })
      const foreign = yield* raw("GET", `/secrets-v1/workspaces/${other}/secrets/mine?${query}`, {
        key: null,
        headers: { authorization: `Bearer ${token}` }
      })
      assert.strictEqual(foreign.status, 403)
      yield* Secrets.remove("mine")
    })
  )

  it.effect("travel to and from robots as their library does it", () =>
    Effect.gen(function* () {
      const { end, token } = yield* running
      const { call, get, publicKey } = yield* robot(token)
      const items = { username: "robot", password: "zażółć 🤖", n: 1, list: [null] }
      // `create_secret`: a GET that expects a 404, then a PUT.
      assert.strictEqual((yield* get("from_robot")).status, 404)
      const vaultKey = yield* publicKey
      assert.match(vaultKey, /^[A-Za-z0-9+/]+=*$/, "base64, without quotes")
      assert.strictEqual(createPublicKey({ key: bytes(vaultKey), format: "der", type: "spki" }).type, "public")
      assert.strictEqual(yield* publicKey, vaultKey)
      const made = yield* call(
        "PUT",
        "from_robot",
        encrypted(vaultKey, "from_robot", JSON.stringify(items), "by a robot")
      )
      assert.strictEqual(made.text, '{"name":"from_robot","description":"by a robot"}')
      assert.deepStrictEqual(decrypted(yield* get("from_robot")), items)
      // The next write replaces all items.
      yield* call("PUT", "from_robot", encrypted(vaultKey, "from_robot", '{"only":"this"}'))
      const read = yield* get("from_robot")
      assert.deepStrictEqual(decrypted(read), { only: "this" })
      assert.isNull(bodyAs(Sealed, read).description)
      // Each response is encrypted anew, and only for the reader.
      assert.notStrictEqual(bodyAs(Sealed, yield* get("from_robot")).value, bodyAs(Sealed, read).value)
      assert.notInclude(read.text, Buffer.from('{"only"').toString("base64").slice(0, 8))
      assert.include(
        (yield* Stream.runCollect(Secrets.stream())).map(({ name }) => String(name)),
        "from_robot"
      )

      yield* end
      assertError(yield* get("from_robot"), 409, "LEASE_LOST", /token has expired/)
      assert.strictEqual((yield* call("PUT", "from_robot", {})).status, 409)
      yield* Secrets.remove("from_robot")
    })
  )

  it.effect("open to keys and tokens that may read or write their values, and to no other", () =>
    Effect.gen(function* () {
      const { makeKey, raw } = yield* Service
      yield* Secrets.create("guarded", { items: { a: "b" } })
      const readable = yield* makeKey(["Vault.read_secret_values"])
      assert.deepStrictEqual(decrypted(yield* (yield* robot(readable)).get("guarded")), { a: "b" })
      const others = yield* makeKey(Permission.literals.filter((name) => name !== "Vault.read_secret_values"))
      assertError(yield* (yield* robot(others)).get("guarded"), 403, "FORBIDDEN", /Vault.read_secret_values/)
      const writer = yield* robot(yield* makeKey(["Vault.write_secrets"]))
      const put = encrypted(yield* writer.publicKey, "guarded", '{"c":"d"}')
      assert.strictEqual((yield* writer.call("PUT", "guarded", put)).status, 200)
      assert.strictEqual((yield* writer.get("guarded")).status, 403)
      // On the public interface a run's token may write secrets, and do nothing else that robots do not do.
      const { token } = yield* running
      const asRun = { key: null, headers: { authorization: `Bearer ${token}` } }
      assert.strictEqual((yield* raw("POST", "secrets/guarded", { ...asRun, json: { items: {} } })).status, 200)
      for (const path of ["secrets", "processes", "work-items", "api-keys", "workers"]) {
        assertError(yield* raw("GET", path, asRun), 403, "FORBIDDEN", /lacks the permission/)
      }
      const wrong = token.slice(0, -43) + token.slice(-43).split("").toReversed().join("")
      assert.strictEqual((yield* (yield* robot(wrong)).get("guarded")).status, 403)
      yield* Secrets.remove("guarded")
    })
  )

  it.effect("do not travel for unfit keys or in broken envelopes, and change nothing", () =>
    Effect.gen(function* () {
      const { rows } = yield* Service
      yield* Secrets.create("firm", { items: { a: "kept-value" } })
      const { token } = yield* running
      const { call, get, publicKey } = yield* robot(token)
      const vaultKey = yield* publicKey
      const before = yield* rows
      const rsa = (modulusLength: number) => derOf(generateKeyPairSync("rsa", { modulusLength }).publicKey)
      for (const [what, key] of [
        ["nothing", ""],
        ["no base64", "%%%"],
        ["no key", "AAAA"],
        ["a short key", rsa(1024)],
        ["an elliptic one", derOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey)],
        ["one for signing", derOf(generateKeyPairSync("rsa-pss", { modulusLength: 2048 }).publicKey)],
        ["a private one", reader.privateKey.export({ type: "pkcs8", format: "der" }).toString("base64").slice(0, 4000)]
      ] as const) {
        const answer = yield* get("firm", key)
        assert.strictEqual(answer.status, 400, `${what}: ${answer.text}`)
        assert.match(errorOf(answer).error.message, /publicKey/, what)
      }
      assertError(yield* call("GET", "firm"), 400, "INVALID_REQUEST", /encryptionScheme|publicKey/)
      assertError(
        yield* call("GET", `firm?${new URLSearchParams({ encryptionScheme: "v1", publicKey: vaultKey })}`),
        400,
        "INVALID_REQUEST",
        /encryptionScheme/
      )

      const good = encrypted(vaultKey, "firm", '{"a":"sent-value"}')
      const other = encrypted(derOf(reader.publicKey), "firm", '{"a":"sent-value"}')
      const flipped = bytes(good.value)
      flipped.writeUInt8(flipped.readUInt8(0) ^ 1, 0)
      const withEncryption = (change: object) => ({ ...good, encryption: { ...good.encryption, ...change } })
      for (const [what, body, says] of [
        ["encrypted for another", other, /value: does not decrypt/],
        ["changed", { ...good, value: flipped.toString("base64") }, /value: does not decrypt/],
        ["a tag of another", withEncryption({ authTag: other.encryption.authTag }), /does not decrypt/],
        // A tag of eight bytes is easier to guess than one of sixteen.
        [
          "a tag cut short",
          withEncryption({ authTag: bytes(good.encryption.authTag).subarray(0, 8).toString("base64") }),
          /does not decrypt/
        ],
        ["an empty iv", withEncryption({ iv: "" }), /does not decrypt/],
        ["another scheme", withEncryption({ encryptionScheme: "none" }), /encryptionScheme/],
        ["no JSON", encrypted(vaultKey, "firm", "sent-value"), /value: must be a JSON object/],
        ["an array", encrypted(vaultKey, "firm", '["sent-value"]'), /value: must be a JSON object/],
        ["another name", { ...good, name: "other" }, /name/],
        ["no envelope", { name: "firm", value: good.value }, /encryption/]
      ] as const) {
        const answer = yield* call("PUT", "firm", body)
        assert.strictEqual(answer.status, 400, `${what}: ${answer.text}`)
        assert.match(errorOf(answer).error.message, says, what)
        assert.notInclude(answer.text, "sent-value")
      }
      const large = encrypted(vaultKey, "firm", JSON.stringify({ a: "x".repeat(64 * 1024) }))
      assertError(yield* call("PUT", "firm", large), 413, "PAYLOAD_TOO_LARGE", /value/)
      const named = encrypted(vaultKey, "publicKey", "{}")
      assertError(yield* call("PUT", "publicKey", named), 400, "INVALID_REQUEST", /publicKey/)
      assertError(yield* call("PUT", "a-b", { ...named, name: "a-b" }), 400, "INVALID_REQUEST", /secret_name|name/)
      assert.deepStrictEqual(yield* rows, before)
      assert.deepStrictEqual(decrypted(yield* get("firm")), { a: "kept-value" })
      yield* Secrets.remove("firm")
    })
  )

  it.effect("can be written concurrently, and end as one of the writers wrote it", () =>
    Effect.gen(function* () {
      const { rows } = yield* Service
      const { token } = yield* running
      const { call, get, publicKey } = yield* robot(token)
      const vaultKey = yield* publicKey
      const answers = yield* Effect.forEach(
        Array.from({ length: 16 }, (_, index) => index),
        (index) => call("PUT", "contested", encrypted(vaultKey, "contested", JSON.stringify({ index }))),
        { concurrency: "unbounded" }
      )
      for (const answer of answers) assert.strictEqual(answer.status, 200, answer.text)
      assert.match(JSON.stringify(decrypted(yield* get("contested"))), /^\{"index":\d+\}$/)
      const { secret } = yield* rows
      assert.strictEqual(secret?.filter((row) => JSON.stringify(row).includes("contested")).length, 1)
      yield* Secrets.remove("contested")
    })
  )
})
