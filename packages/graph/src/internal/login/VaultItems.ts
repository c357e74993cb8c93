/**
 * The items of a secret in the vault of a control room: some are written, the others stay as they are.
 */
import * as Vault from "@signalbox/api/robot/Vault"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import type * as HttpClient from "effect/http/HttpClient"
import { TokenStoreError } from "../../TokenStore.ts"

export interface Options extends Vault.Options {
  /** The name of the secret. Its other items stay as they are. */
  readonly secret: string
}

export type Items = Readonly<Record<string, Schema.Json>>

export interface VaultItems {
  /** None: there is no such secret. */
  readonly read: Effect.Effect<Option.Option<Items>, TokenStoreError>
  /** Writes these items. */
  readonly merge: (items: Items) => Effect.Effect<void, TokenStoreError>
  /** One at a time in this process; the vault has no locks. */
  readonly exclusive: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

type VaultFailure = Effect.Error<ReturnType<Vault.Vault["get"]>> | Effect.Error<ReturnType<Vault.Vault["put"]>>

export const make = Effect.fnUntraced(function* ({
  secret,
  ...options
}: Options): Effect.fn.Return<VaultItems, never, HttpClient.HttpClient> {
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

  return {
    read: Effect.map(get, (found) =>
      Option.isSome(found) ? Option.some(Redacted.value(found.value.items)) : Option.none()
    ),
    merge: Effect.fnUntraced(function* (items) {
      const found = yield* get
      const before: Items = Option.isSome(found) ? Redacted.value(found.value.items) : {}
      const description = Option.isSome(found) ? found.value.description : null
      yield* Effect.mapError(
        vault.put(secret, { items: Redacted.make({ ...before, ...items }), description }),
        failed("write", "Vault.write_secrets")
      )
    }),
    exclusive: permit.withPermits(1)
  }
})

/** The connection: from the variables of a run, else from those of a client. */
const endpoint = (names: { readonly url: string; readonly token: string; readonly workspaceId: string }) =>
  Config.all({
    url: Config.String(names.url),
    token: Config.Redacted(names.token),
    workspaceId: Config.String(names.workspaceId)
  })

/** The vault that the environment names. */
export const config = (secret: string): Config.Config<Options> =>
  endpoint({ url: "RC_API_SECRET_HOST", token: "RC_API_SECRET_TOKEN", workspaceId: "RC_WORKSPACE_ID" }).pipe(
    Config.orElse(() =>
      endpoint({
        url: "SIGNALBOX_BASE_URL",
        token: "SIGNALBOX_API_KEY",
        workspaceId: "SIGNALBOX_WORKSPACE_ID"
      })
    ),
    Config.map(({ token, url, workspaceId }) => ({
      secret,
      token,
      url: url.replace(/\/+$/, "").replace(/(\/api)?\/v1$/, ""),
      workspaceId: workspaceId as Options["workspaceId"] // an id is any text
    }))
  )
