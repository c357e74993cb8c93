/** The client of the vault, against the service: with a workspace key and with the token of a run. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as SecretsClient from "@signalbox/api/Secrets"
import * as Vault from "@signalbox/api/robot/Vault"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { layer, linkWorker, Service } from "./support/Service.ts"

const vaultWith = Effect.fnUntraced(function* (permissions: Parameters<Service["Service"]["makeKey"]>[0]) {
  const { makeKey, origin, workspaceId } = yield* Service
  return yield* Vault.make({ url: `${origin}/`, token: Redacted.make(yield* makeKey(permissions)), workspaceId })
})

/** The session of a live step run, and an effect that ends it. */
const liveSession = Effect.gen(function* () {
  const worker = yield* linkWorker(["vault-task"])
  const process = yield* Processes.put({ name: "vault", steps: [{ name: "one", task: { name: "vault-task" } }] })
  yield* ProcessRuns.start(process.id)
  const { lease, session } = yield* worker.take
  return { session, end: worker.protocol.finish(lease, null) }
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the client of the vault", (it) => {
  it.effect("reads what was written over the public interface", () =>
    Effect.gen(function* () {
      const items = { user: "robot", password: "pässwörd 🔑", tries: 3, hosts: ["a", "b"], none: null }
      yield* SecretsClient.create("shop", { items, description: "the shop" })
      const vault = yield* vaultWith(["Vault.read_secret_values"])
      const secret = yield* vault.get("shop")
      assert.deepStrictEqual(Redacted.value(secret.items), items)
      assert.strictEqual(secret.description, "the shop")
      assert.notInclude(Inspectable.toStringUnknown(secret) + JSON.stringify(secret), "pässwörd")
    })
  )

  it.effect("writes, replaces, and reads that back", () =>
    Effect.gen(function* () {
      const vault = yield* vaultWith(["Vault.read_secret_values", "Vault.write_secrets"])
      const long = "x".repeat(20_000)
      yield* vault.put("written", { items: Redacted.make({ long }), description: "first" })
      assert.deepStrictEqual(Redacted.value((yield* vault.get("written")).items), { long })
      yield* vault.put("written", { items: Redacted.make({ refresh_token: "second" }) })
      const again = yield* vault.get("written")
      assert.deepStrictEqual(Redacted.value(again.items), { refresh_token: "second" })
      assert.strictEqual(again.description, null)
      yield* vault.put("empty", { items: Redacted.make({}) })
      assert.deepStrictEqual(Redacted.value((yield* vault.get("empty")).items), {})
    })
  )

  it.effect("says what is missing: the secret, the permission", () =>
    Effect.gen(function* () {
      const reader = yield* vaultWith(["Vault.read_secret_values"])
      assert.strictEqual((yield* Effect.flip(reader.get("nowhere")))._tag, "NotFound")
      const refused = yield* Effect.flip(reader.put("mine", { items: Redacted.make({ token: "hunter2" }) }))
      assert.include(refused.message, "Vault.write_secrets")
      assert.notInclude(Inspectable.toStringUnknown(refused), "hunter2")
      const nobody = yield* vaultWith([])
      assert.include((yield* Effect.flip(nobody.get("shop"))).message, "Vault.read_secret_values")
    })
  )

  it.effect("refuses a name that no secret can have", () =>
    Effect.gen(function* () {
      const vault = yield* vaultWith(["Vault.read_secret_values", "Vault.write_secrets"])
      const refused = yield* Effect.flip(vault.put("a name", { items: Redacted.make({ token: "hunter2" }) }))
      assert.strictEqual(refused._tag, "InvalidRequest")
      assert.include(refused.message, "letters, digits and underscores")
      assert.notInclude(refused.message, "hunter2")
    })
  )

  it.effect("works with the token of a run while its step run lives, and not after", () =>
    Effect.gen(function* () {
      yield* SecretsClient.put("of_run", { items: { token: "hunter2" } })
      const { end, session } = yield* liveSession
      assert.deepStrictEqual(Redacted.value((yield* session.vault.get("of_run")).items), { token: "hunter2" })
      const bytes = new TextEncoder().encode("a,b\n")
      const content = { name: "table.csv", size: bytes.length, stream: Stream.succeed(bytes) }
      yield* session.assets.put("data/table.csv", content, "text/csv")
      const text = Stream.mkString(Stream.decodeText(session.assets.download("data/table.csv")))
      assert.strictEqual(yield* text, "a,b\n")
      const missing = yield* Effect.flip(Stream.runDrain(session.assets.download("nowhere")))
      assert.strictEqual(missing._tag, "NotFound")
      yield* end
      const dead = yield* Effect.flip(session.vault.get("of_run"))
      assert.include(Inspectable.toStringUnknown(dead), "LEASE_LOST")
    })
  )
})
