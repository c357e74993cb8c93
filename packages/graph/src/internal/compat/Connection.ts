/**
 * The connection behind the compatibility module: from its constructor options to the services of this package.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as NodeFileSystem from "@signalbox/platform/NodeFileSystem"
import * as NodePath from "@signalbox/platform/NodePath"
import * as NodeTransport from "@signalbox/transport/node"
import type * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as HttpClient from "effect/http/HttpClient"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import type { Place } from "../../Cloud.ts"
import * as FileTokenStore from "../../FileTokenStore.ts"
import { Graph } from "../../Graph.ts"
import { OAuth } from "../../OAuth.ts"
import { TokenStore, TokenStoreError } from "../../TokenStore.ts"
import { fromRefreshToken, fromStored, type Tokens } from "../../Tokens.ts"
import * as VaultTokenStore from "../../VaultTokenStore.ts"
import { PendingAuthorizations } from "../login/PendingAuthorizations.ts"
import * as VaultItems from "../login/VaultItems.ts"

/** An argument is missing or wrong; the message names it and says what to do. */
export class CompatError extends TaggedError<CompatError>()("CompatError", { message: Schema.String }) {}

export interface Options {
  readonly client_id?: string
  readonly client_secret?: string
  /** A token object as the identity provider or another program of this field wrote it, with `access_token` and `refresh_token`. */
  readonly token?: Readonly<Record<string, unknown>>
  readonly refresh_token?: string
  /** As registered with the app. Default: the provider's own page for programs without one. */
  readonly redirect_uri?: string
  /** A tenant's id or domain, or `common` (default), `organizations`, `consumers`. */
  readonly tenant?: string
  /** `user` (default): on behalf of who authorized. `app`: as the app itself, with its secret, in the tenant; nothing is stored. */
  readonly acts_as?: "user" | "app"
  /** Stores tokens in the vault of a control room, in the secret `vault_secret`. Default false. */
  readonly vault_backend?: boolean
  readonly vault_secret?: string
  /** The folder of the token file. Default: one of the user in the folder for temporary files. */
  readonly file_backend_path?: string
}

/** An app that was configured. */
export interface Client {
  readonly id: string
  readonly secret: string | undefined
  readonly redirectUri: string | undefined
  /** Replaces what is stored. */
  readonly initial: Tokens | null
}

/** The tokens that the options bring along. */
export const initialTokens = (options: Pick<Options, "token" | "refresh_token">): Tokens | null => {
  if (options.token !== undefined) {
    const found = fromStored(options.token)
    if (found === "unreadable" || Option.isNone(found)) {
      throw new CompatError({ message: "token: give an object with access_token, refresh_token or both" })
    }
    return found.value
  }
  return options.refresh_token === undefined ? null : fromRefreshToken(Redacted.make(options.refresh_token))
}

/** What is missing for the options as a whole. */
export const problemOf = ({ acts_as, client_secret, tenant }: Options): CompatError | null => {
  if (acts_as !== "app") return null
  if (tenant === undefined || ["", "common", "organizations", "consumers"].includes(tenant)) {
    return new CompatError({ message: "tenant: an app that acts as itself needs the id or the domain of its tenant" })
  }
  return client_secret === undefined || client_secret === ""
    ? new CompatError({ message: "client_secret: an app that acts as itself signs in with its secret" })
    : null
}

/** The folder that tokens are in by default: readable by this user alone. */
const temporaryFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const { uid, username } = userInfo()
  const folder = join(tmpdir(), `signalbox-graph-${username}`)
  const refused = new TokenStoreError({
    message: `the folder for the token (${folder}) belongs to another user: set file_backend_path`
  })
  yield* Effect.ignore(fs.makeDirectory(folder, { mode: 0o700 }))
  const info = yield* Effect.mapError(fs.lstat(folder), () => refused)
  const isOwn = uid < 0 || (Option.contains(info.uid, uid) && (info.mode & 0o077) === 0)
  if (info.type !== "Directory" || !isOwn) return yield* refused
  return folder
})

/** The environment as it is now: programs fill it from files after Effect has first read it. */
const environment = ConfigProvider.layer(Effect.sync(() => ConfigProvider.fromEnv()))

type Store = TokenStore | PendingAuthorizations
type Needs = FileSystem.FileSystem | HttpClient.HttpClient

const noVault = () =>
  new CompatError({
    message:
      "vault_backend: no vault is available outside of a run; set SIGNALBOX_BASE_URL, SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID to use that of a control room here"
  })

/** Where the token is, and beside it the sign-ins that have begun. */
const storeOf = (options: Options): Layer.Layer<Store, CompatError | TokenStoreError, Needs> => {
  if (options.vault_backend === true) {
    const both = (vault: VaultTokenStore.Options) =>
      Layer.merge(VaultTokenStore.layer(vault), PendingAuthorizations.layerVault(vault))
    const vault = VaultItems.config(options.vault_secret ?? "")
    return Layer.provide(Layer.unwrap(Effect.map(Effect.mapError(vault, noVault), both)), environment)
  }
  const folder = options.file_backend_path === undefined ? temporaryFolder : Effect.succeed(options.file_backend_path)
  return Layer.unwrap(
    Effect.map(folder, (path) =>
      Layer.merge(
        FileTokenStore.layer({ path: join(path, "auth_token.txt") }),
        PendingAuthorizations.layerFile(join(path, "auth_pending.json"))
      )
    )
  )
}

/** Stores the tokens that were brought along before anything reads them. */
const seeded = (tokens: Tokens | null) =>
  Layer.effect(
    TokenStore,
    Effect.gen(function* () {
      const store = yield* TokenStore
      if (tokens !== null) yield* store.exclusive(store.save(tokens))
      return store
    })
  )

export type Services = Graph | OAuth | PendingAuthorizations | FileSystem.FileSystem | Path.Path

/** Where the service is, and how it is reached. */
export interface Connection extends Place {
  /** Sends the requests. Default: over undici, through the proxies of the environment. */
  readonly httpClient?: Layer.Layer<HttpClient.HttpClient>
}

export const connection = (
  client: Client,
  options: Options,
  { httpClient, ...place }: Connection
): Layer.Layer<Services, CompatError | Config.ConfigError | TokenStoreError> => {
  const store = Layer.provideMerge(seeded(client.initial), storeOf(options))
  const oauth = OAuth.layer({
    ...place,
    // A token of one's own needs no app as long as it lasts.
    clientId: client.id === "" ? "unknown" : client.id,
    clientSecret: client.secret === undefined ? undefined : Redacted.make(client.secret),
    redirectUri: client.redirectUri,
    tenant: options.tenant,
    actsAs: options.acts_as
  })
  return Graph.layerHttpClient(place).pipe(
    Layer.provide(OAuth.layerAccessTokens),
    Layer.provideMerge(oauth),
    Layer.provideMerge(store),
    Layer.provide(httpClient ?? Layer.provide(NodeTransport.layer, environment)),
    Layer.provideMerge(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )
}
