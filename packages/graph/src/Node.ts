/**
 * Ready for scripts on Node: over undici, with the tokens in a file, and with local files for transfers.
 */
import * as NodeFileSystem from "@signalbox/platform/NodeFileSystem"
import * as NodePath from "@signalbox/platform/NodePath"
import * as NodeTransport from "@signalbox/transport/node"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import type * as HttpClient from "effect/http/HttpClient"
import type { AccessTokens } from "./AccessTokens.ts"
import * as FileTokenStore from "./FileTokenStore.ts"
import { Graph, type Options } from "./Graph.ts"
import { OAuth } from "./OAuth.ts"
import type { TokenStore } from "./TokenStore.ts"

/** What `Files` needs besides the connection. */
type LocalFiles = FileSystem.FileSystem | Path.Path

const localFiles: Layer.Layer<LocalFiles> = Layer.merge(NodeFileSystem.layer, NodePath.layer)

/** The options of a connection, and how it leaves this computer. */
export interface NodeOptions extends Options, NodeTransport.Options {}

/**
 * `Graph` over undici, through `proxy`, or the proxies of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`), with whatever
 * tokens the program provides. A variable that is not the address of a proxy is a defect, which names it.
 */
export const layer = (options: NodeOptions = {}): Layer.Layer<Graph | LocalFiles, never, AccessTokens> =>
  Layer.merge(Layer.provide(Graph.layerHttpClient(options), Layer.orDie(NodeTransport.layerWith(options))), localFiles)

/**
 * `layer` with tokens that are asked for over the same HTTP client: those of `Credentials`, of an app that acts as itself.
 *
 * ```ts
 * import * as Credentials from "@signalbox/graph/Credentials"
 * import { layerTokens } from "@signalbox/graph/node"
 * import * as Redacted from "effect/Redacted"
 *
 * export const graph = (certificate: string, key: string) =>
 *   layerTokens(
 *     Credentials.layerCertificate({
 *       tenant: "contoso.example",
 *       clientId: "5a9db0c5-…",
 *       certificate,
 *       privateKey: Redacted.make(key)
 *     })
 *   )
 * ```
 */
export const layerTokens = <E, R>(
  tokens: Layer.Layer<AccessTokens, E, R>,
  options: NodeOptions = {}
): Layer.Layer<Graph | LocalFiles, E, Exclude<Exclude<R, HttpClient.HttpClient>, LocalFiles>> =>
  Graph.layerHttpClient(options).pipe(
    Layer.provide(tokens),
    Layer.provide(Layer.orDie(NodeTransport.layerWith(options))),
    Layer.provideMerge(localFiles)
  )

/**
 * `Graph`, and the `OAuth` that keeps it authorized, as the environment says (`SIGNALBOX_GRAPH_*`), over a token store.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as FileTokenStore from "@signalbox/graph/FileTokenStore"
 * import { layerWith } from "@signalbox/graph/node"
 * import * as Users from "@signalbox/graph/Users"
 *
 * export const me = Users.me().pipe(
 *   Effect.provide(layerWith(FileTokenStore.layer({ path: "./token.json" })))
 * )
 * ```
 */
export const layerWith = <E, R>(
  store: Layer.Layer<TokenStore, E, R>
): Layer.Layer<Graph | OAuth | LocalFiles, Config.ConfigError | E, Exclude<R, HttpClient.HttpClient>> =>
  Layer.unwrap(Effect.map(Graph.config, Graph.layerHttpClient)).pipe(
    Layer.provide(OAuth.layerAccessTokens),
    Layer.provideMerge(OAuth.layerConfig),
    Layer.provide(store),
    Layer.provide(NodeTransport.layer),
    Layer.merge(localFiles)
  )

/** `layerWith` over the token file of the user. */
export const layerConfig: Layer.Layer<Graph | OAuth | LocalFiles, Config.ConfigError> = layerWith(
  FileTokenStore.layer()
)
