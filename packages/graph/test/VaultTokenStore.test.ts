/**
 * Tokens in the vault of a control room: the real one, in memory.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Secrets from "@signalbox/api/Secrets"
import * as Vault from "@signalbox/api/robot/Vault"
import type { Permission } from "@signalbox/api/contract/Authorization"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as HttpClient from "effect/http/HttpClient"
import * as Testing from "signalbox/Testing"
import { TokenStore } from "../src/TokenStore.ts"
import { fromRefreshToken, type Tokens } from "../src/Tokens.ts"
import * as VaultTokenStore from "../src/VaultTokenStore.ts"

const some: Tokens = {
  accessToken: Redacted.make("AT-1"),
  refreshToken: Redacted.make("RT-1"),
  expiresAt: 1_700_000_000_000,
  scopes: ["User.Read"]
}

/** A control room, and its vault with a secret of that name. */
const inRoom = <A, E>(
  use: Effect.Effect<A, E, TokenStore | Testing.Testing | Layer.Success<ReturnType<typeof Testing.layer>>>,
  permissions?: ReadonlyArray<Permission>
) =>
  Effect.gen(function* () {
    const { apiKey, httpClient, origin, workspaceId } = yield* Testing.Testing
    const store = VaultTokenStore.layer({ url: origin, token: apiKey, workspaceId, secret: "office" })
    return yield* Effect.provide(use, Layer.provide(store, Layer.succeed(HttpClient.HttpClient, httpClient)))
  }).pipe(Effect.provide(Testing.layer({ workers: 0, ...(permissions === undefined ? {} : { permissions }) })))

const items = Effect.gen(function* () {
  const { apiKey, httpClient, origin, workspaceId } = yield* Testing.Testing
  const vault = yield* Effect.provideService(
    Vault.make({ url: origin, token: apiKey, workspaceId }),
    HttpClient.HttpClient,
    httpClient
  )
  return Redacted.value((yield* vault.get("office")).items)
})

const secret = (value: Redacted.Redacted | null | undefined) =>
  value === null || value === undefined ? null : Redacted.value(value)

describe("a secret of the vault", () => {
  it.effect("gives back what was stored, and none while there is none", () =>
    inRoom(
      Effect.gen(function* () {
        const store = yield* TokenStore
        assert.isTrue(Option.isNone(yield* store.load))
        yield* store.exclusive(store.save(some))
        const found = Option.getOrThrow(yield* store.load)
        assert.strictEqual(secret(found.accessToken), "AT-1")
        assert.strictEqual(secret(found.refreshToken), "RT-1")
        assert.strictEqual(found.expiresAt, some.expiresAt)
      })
    )
  )

  it.effect("holds `token` and `refresh_token`, and keeps its other items", () =>
    inRoom(
      Effect.gen(function* () {
        yield* Secrets.create("office", { items: { client_id: "app", client_secret: "s", refresh_token: "RT-0" } })
        const store = yield* TokenStore
        assert.strictEqual(secret(Option.getOrThrow(yield* store.load).refreshToken), "RT-0")
        yield* store.save(some)
        assert.deepStrictEqual(yield* items, {
          client_id: "app",
          client_secret: "s",
          refresh_token: "RT-1",
          token: {
            token_type: "Bearer",
            access_token: "AT-1",
            refresh_token: "RT-1",
            scope: ["User.Read"],
            expires_at: 1_700_000_000
          }
        })
        yield* store.save(fromRefreshToken(Redacted.make("RT-2")))
        assert.strictEqual(secret(Option.getOrThrow(yield* store.load).refreshToken), "RT-2")
      })
    )
  )

  it.effect.each([
    ["its parts as items", { access_token: "A", refresh_token: "R", tenant_id: "t" }],
    ["a token as text", { token: '{"access_token":"A","refresh_token":"R"}' }],
    ["a token as a value", { token: { access_token: "A", refresh_token: "R", expires_at: 5 } }]
  ] satisfies ReadonlyArray<readonly [string, Secrets.Items]>)("is read with %s", ([, content]) =>
    inRoom(
      Effect.gen(function* () {
        yield* Secrets.create("office", { items: content })
        const found = Option.getOrThrow(yield* (yield* TokenStore).load)
        assert.deepStrictEqual([secret(found.accessToken), secret(found.refreshToken)], ["A", "R"])
      })
    )
  )

  it.effect("says which permission a key lacks", () =>
    inRoom(
      Effect.gen(function* () {
        const store = yield* TokenStore
        const read = yield* Effect.flip(store.load)
        assert.include(read.message, "Vault.read_secret_values")
        const write = yield* Effect.flip(store.save(some))
        assert.include(write.message, "office")
        assert.notInclude(`${write.message}${JSON.stringify(write)}`, "RT-1")
      }),
      ["Vault.read_secrets"]
    )
  )

  it.effect.each([
    ["a run", "", { url: "RC_API_SECRET_HOST", token: "RC_API_SECRET_TOKEN", workspace: "RC_WORKSPACE_ID" }],
    [
      "a client",
      "/api/v1",
      { url: "SIGNALBOX_BASE_URL", token: "SIGNALBOX_API_KEY", workspace: "SIGNALBOX_WORKSPACE_ID" }
    ]
  ] as const)("is found by the environment of %s", ([, suffix, names]) =>
    inRoom(
      Effect.gen(function* () {
        yield* (yield* TokenStore).save(some)
        const { apiKey, httpClient, origin, workspaceId } = yield* Testing.Testing
        const env = {
          [names.url]: `${origin}${suffix}`,
          [names.token]: Redacted.value(apiKey),
          [names.workspace]: workspaceId
        }
        const found = yield* Effect.flatMap(TokenStore, (store) => store.load).pipe(
          Effect.provide(
            VaultTokenStore.layerConfig("office").pipe(
              Layer.provide(Layer.succeed(HttpClient.HttpClient, httpClient)),
              Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env)))
            )
          )
        )
        assert.strictEqual(secret(Option.getOrThrow(found).refreshToken), "RT-1")
      })
    )
  )
})
