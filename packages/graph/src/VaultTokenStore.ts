/**
 * Tokens in a secret of a control room's vault. Inside a run it is reached with the run's token; outside with a workspace key
 * that may read and write values of secrets. Renewals are one at a time within the process; two processes that renew at once
 * both succeed, since a rotated refresh token stays valid.
 */
import * as Vault from "@signalbox/api/robot/Vault"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import type * as HttpClient from "effect/http/HttpClient"
import { TokenStore, TokenStoreError } from "./TokenStore.ts"
import { fromStored, toStored } from "./Tokens.ts"

export interface Options extends Vault.Options {
  /** The name of the secret. Its other items stay as they are. */
  readonly secret: string
}

type VaultFailure = Effect.Error<ReturnType<Vault.Vault["get"]>> | Effect.Error<ReturnType<Vault.Vault["put"]>>

type Items = Readonly<Record<string, Schema.Json>>

const make = Effect.fnUntraced(function* ({ secret, ...options }: Options) {
  const vault = yield* Vault.make(options)
  const permit = yield* Semaphore.make(1)

  const failed = (doing: string, permission: string) => (error: VaultFailure) => {
    const forbidden = error._tag === "ControlRoomError" && error.reason._tag === "Forbidden"
    const remedy = forbidden ? `; the key needs the permission ${permission}, or run this inside a run` : ""
    return new TokenStoreError({
      message: `cannot ${doing} the secret "${secret}" in the vault: ${error.message}${remedy}`
    })
  }

  const get = vault.get(secret).pipe(
    Effect.asSome,
    Effect.catchTag("NotFound", () => Effect.succeedNone),
    Effect.mapError(failed("read", "Vault.read_secret_values"))
  )

  return TokenStore.of({
    load: Effect.flatMap(get, (found) => {
      if (Option.isNone(found)) return Effect.succeedNone
      const tokens = fromStored(Redacted.value(found.value.items))
      const message = `the secret "${secret}" holds no token that can be read: give it an item "refresh_token" or authorize again`
      return tokens === "unreadable" ? Effect.fail(new TokenStoreError({ message })) : Effect.succeed(tokens)
    }),
    save: Effect.fnUntraced(function* (tokens) {
      const found = yield* get
      const before: Items = Option.isSome(found) ? Redacted.value(found.value.items) : {}
      const { refresh_token, ...token } = toStored(tokens)
      const items: Items = {
        ...before,
        token: { ...token, ...(refresh_token === undefined ? {} : { refresh_token }) } as Schema.JsonObject, // of texts and numbers alone
        ...(refresh_token === undefined || refresh_token === null ? {} : { refresh_token })
      }
      const description = Option.isSome(found) ? found.value.description : null
      yield* Effect.mapError(
        vault.put(secret, { items: Redacted.make(items), description }),
        failed("write", "Vault.write_secrets")
      )
    }),
    exclusive: permit.withPermits(1)
  })
})

/**
 * ```ts
 * import * as VaultTokenStore from "@signalbox/graph/VaultTokenStore"
 *
 * export const store = VaultTokenStore.layerConfig("office")
 * ```
 */
export const layer = (options: Options): Layer.Layer<TokenStore, never, HttpClient.HttpClient> =>
  Layer.effect(TokenStore, make(options))

/** Of whoever runs this: a run's own variables, else those of a client. */
const endpoint = (names: { readonly url: string; readonly token: string; readonly workspaceId: string }) =>
  Config.all({
    url: Config.String(names.url),
    token: Config.Redacted(names.token),
    workspaceId: Config.String(names.workspaceId)
  })

/**
 * The vault that the environment names: inside a run by `RC_API_SECRET_HOST`, `RC_API_SECRET_TOKEN` and `RC_WORKSPACE_ID`, else
 * by `SIGNALBOX_BASE_URL`, `SIGNALBOX_API_KEY` and `SIGNALBOX_WORKSPACE_ID`.
 */
export const layerConfig = (secret: string): Layer.Layer<TokenStore, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrap(
    endpoint({ url: "RC_API_SECRET_HOST", token: "RC_API_SECRET_TOKEN", workspaceId: "RC_WORKSPACE_ID" }).pipe(
      Config.orElse(() =>
        endpoint({
          url: "SIGNALBOX_BASE_URL",
          token: "SIGNALBOX_API_KEY",
          workspaceId: "SIGNALBOX_WORKSPACE_ID"
        })
      ),
      Config.map(({ token, url, workspaceId }) =>
        layer({
          secret,
          token,
          url: url.replace(/\/+$/, "").replace(/(\/api)?\/v1$/, ""),
          workspaceId: workspaceId as Vault.Options["workspaceId"] // an id is any text
        })
      )
    )
  )
