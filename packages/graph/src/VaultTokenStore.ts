/**
 * Tokens in a secret of a control room's vault. Inside a run it is reached with the run's token; outside with a workspace key
 * that may read and write values of secrets. Renewals are one at a time within the process; two processes that renew concurrently
 * both succeed, since a rotated refresh token stays valid.
 */
import { defined } from "@signalbox/transport/Defined"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as HttpClient from "effect/http/HttpClient"
import type { Options } from "./internal/login/VaultItems.ts"
import * as VaultItems from "./internal/login/VaultItems.ts"
import { TokenStore, TokenStoreError } from "./TokenStore.ts"
import { fromStored, toStored } from "./Tokens.ts"

export type { Options } from "./internal/login/VaultItems.ts"

const make = Effect.fnUntraced(function* (options: Options) {
  const vault = yield* VaultItems.make(options)
  const message = `the secret "${options.secret}" holds no token that can be read: give it an item "refresh_token" or authorize again`
  return TokenStore.of({
    load: Effect.flatMap(vault.read, (found) => {
      if (Option.isNone(found)) return Effect.succeedNone
      const tokens = fromStored(found.value)
      return tokens === "unreadable" ? Effect.fail(new TokenStoreError({ message })) : Effect.succeed(tokens)
    }),
    save: (tokens) => {
      const { refresh_token, ...token } = toStored(tokens)
      return vault.merge({
        token: { ...token, ...defined({ refresh_token }) } as Schema.JsonObject, // of texts and numbers alone
        ...defined({ refresh_token: refresh_token ?? undefined })
      })
    },
    exclusive: vault.exclusive
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

/**
 * The vault that the environment names: inside a run by `RC_API_SECRET_HOST`, `RC_API_SECRET_TOKEN` and `RC_WORKSPACE_ID`, else
 * by `SIGNALBOX_BASE_URL`, `SIGNALBOX_API_KEY` and `SIGNALBOX_WORKSPACE_ID`.
 */
export const layerConfig = (secret: string): Layer.Layer<TokenStore, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrap(Effect.map(VaultItems.config(secret), layer))
