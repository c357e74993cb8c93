/**
 * The client for programs without Effect: all modules with promises and async iterables. A promise is rejected with a class for
 * each kind of error, all of them `GraphRequestError`, whose stack begins where the program called. Needs Node, Bun or Deno.
 */
import * as NodeFileSystem from "@signalbox/platform/NodeFileSystem"
import * as NodePath from "@signalbox/platform/NodePath"
import { defined } from "@signalbox/transport/Defined"
import type { Listeners } from "@signalbox/transport/Events"
import { check, OptionError, text } from "@signalbox/transport/OptionError"
import { checkPolicy } from "@signalbox/transport/Policy"
import { placeOf } from "@signalbox/transport/Promised"
import * as NodeTransport from "@signalbox/transport/node"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import type * as HttpClient from "effect/http/HttpClient"
import { AccessTokens } from "./AccessTokens.ts"
import { type Place, placeRules } from "./Cloud.ts"
import * as Credentials from "./Credentials.ts"
import * as FileTokenStore from "./FileTokenStore.ts"
import { Graph } from "./Graph.ts"
import * as ArrivalClients from "./internal/promise/ArrivalClients.ts"
import * as DriveClients from "./internal/promise/DriveClients.ts"
import {
  type CallOptions,
  functionsOf,
  type Member,
  merged,
  run,
  type Services,
  type Session
} from "./internal/promise/Members.ts"
import * as MailboxClients from "./internal/promise/MailboxClients.ts"
import * as MailClients from "./internal/promise/MailClients.ts"
import * as SiteClients from "./internal/promise/SiteClients.ts"
import * as TransferClients from "./internal/promise/TransferClients.ts"
import * as WorkbookClients from "./internal/promise/WorkbookClients.ts"
import { OAuth } from "./OAuth.ts"
import { defaultPolicy, type Policy } from "./Policy.ts"
import { TokenStore } from "./TokenStore.ts"

export { files as filesIn } from "./Arrivals.ts"
export { messages as messagesIn, resource as messagesResource } from "./MailArrivals.ts"
export { link as linkTo, me, of as driveOf, root } from "./Drive.ts"
export { me as myMailbox, of as mailboxOf } from "./Mailbox.ts"
export * from "./internal/promise/Errors.ts"
export type * from "./internal/promise/ArrivalClients.ts"
export type * from "./internal/promise/DriveClients.ts"
export type * from "./internal/promise/MailboxClients.ts"
export type * from "./internal/promise/MailClients.ts"
export type { CallOptions } from "./internal/promise/Members.ts"
export type { BatchFailure, BatchResult, BatchSuccess } from "./internal/promise/Results.ts"
export type * from "./internal/promise/SiteClients.ts"
export type * from "./internal/promise/TransferClients.ts"
export type { OpenWorkbook, RowsOf, WorkbooksClient } from "./internal/promise/WorkbookClients.ts"
export type { Listeners, PauseEvent, RequestEvent, ResponseEvent, RetryEvent } from "./Events.ts"
export type { Drive, DriveItem, DriveItemVersion } from "./model/Drive.ts"
export type { Column, Fields, ListItem, SiteList } from "./model/List.ts"
export type { MailFolder } from "./model/MailFolder.ts"
export type { Attachment, Message } from "./model/Message.ts"
export type { Permission } from "./model/Permission.ts"
export type { Site } from "./model/Site.ts"
export type { User } from "./model/User.ts"
export { drive as driveResource, longestMinutes } from "./Subscriptions.ts"
export type { Subscription } from "./model/Subscription.ts"
export { odataText, path } from "./Path.ts"
export { asText, dateOf, serialOf } from "./internal/workbooks/Cells.ts"
export type { Row as WorkbookRow, RowValues as WorkbookRowValues } from "./internal/workbooks/Rows.ts"
export type { Workbook } from "./internal/workbooks/Sessions.ts"

/** An app that acts as itself in its tenant, by a secret. */
export interface AppSecret {
  readonly tenant: string
  readonly clientId: string
  readonly clientSecret: string
}

/** An app that acts as itself in its tenant, by a certificate: its text and that of its private key, in PEM. */
export interface AppCertificate {
  readonly tenant: string
  readonly clientId: string
  readonly certificate: string
  readonly privateKey: string
  readonly algorithm?: "PS256" | "RS256" | undefined
}

/** The identity of what the program runs on. */
export interface ManagedIdentity {
  readonly managedIdentity: true | Credentials.ManagedIdentity
}

/** The identity of a workload, as in Kubernetes. */
export interface WorkloadIdentity {
  readonly workloadIdentity: true | Omit<Credentials.WorkloadIdentity, keyof Place | "on">
}

/** A person who has authorized an app: the tokens are in a file, or where the program stores them, and are renewed. */
export interface SignedIn {
  readonly clientId: string
  readonly clientSecret?: string | undefined
  readonly tenant?: string | undefined
  readonly tokenStore: { readonly path: string } | Layer.Layer<TokenStore>
}

/** Who calls. `TokenCredential`: as those of `@azure/identity` are. */
export type GraphCredentials =
  | AppSecret
  | AppCertificate
  | ManagedIdentity
  | WorkloadIdentity
  | SignedIn
  | Credentials.TokenCredential

/** How the graph is reached, and as whom. Without `token` and `credentials`, as the environment says (`SIGNALBOX_GRAPH_*`). */
export interface GraphOptions extends Place, NodeTransport.Options {
  /** An access token, or a function that gives one whenever it is needed. */
  readonly token?: string | (() => string | PromiseLike<string>) | undefined
  readonly credentials?: GraphCredentials | undefined
  /** How the program names itself, best as `NONISV|Company|App/1.0`: such traffic is throttled last. */
  readonly userAgent?: string | undefined
  /** Functions that are called with each request, response, retry and pause, also of those for tokens. */
  readonly on?: Listeners | undefined
  /** Overrides of the default policy of retries and time limits. */
  readonly policy?: Partial<Policy> | undefined
  /** Sends the requests, in place of undici with `proxy`, `ca` or `dispatcher`. Default: undici, through the proxies of the environment. */
  readonly httpClient?: Layer.Layer<HttpClient.HttpClient> | undefined
}

/** The modules of a client. */
export interface GraphModules {
  readonly arrivals: ArrivalClients.ArrivalsClient
  readonly attachments: MailboxClients.AttachmentsClient
  readonly batch: SiteClients.BatchClient
  readonly delta: DriveClients.DeltaClient
  readonly documents: DriveClients.DocumentsClient
  readonly downloads: TransferClients.DownloadsClient
  readonly drafts: MailClients.DraftsClient
  readonly drives: DriveClients.DrivesClient
  readonly files: TransferClients.FilesClient
  readonly lists: SiteClients.ListsClient
  readonly mail: MailClients.MailClient
  readonly mailDelta: MailboxClients.MailDeltaClient
  readonly mailFolders: MailboxClients.MailFoldersClient
  readonly raw: SiteClients.RawClient
  readonly sharing: DriveClients.SharingClient
  readonly sites: SiteClients.SitesClient
  readonly subscriptions: ArrivalClients.SubscriptionsClient
  readonly uploads: TransferClients.UploadsClient
  readonly users: SiteClients.UsersClient
  readonly workbooks: WorkbookClients.WorkbooksClient
}

/** A client: its modules, and what concerns all of them. */
export interface GraphClient extends GraphModules, AsyncDisposable {
  /**
   * Runs any effect that needs the connection.
   * @example const person = await graph.run(Users.get("mia@contoso.example"))
   */
  readonly run: <A, E>(effect: Effect.Effect<A, E, Services>, options?: CallOptions) => Promise<A>
  /**
   * The same client, whose calls and streams have these options, unless a call has its own.
   * @example const person = await graph.with({ timeout: "5 seconds" }).users.me()
   */
  readonly with: (options: CallOptions) => GraphClient
  /**
   * The same client, whose calls and streams `signal` aborts, with their requests. They reject with its reason.
   * @example await graph.withSignal(AbortSignal.timeout(60_000)).users.me()
   */
  readonly withSignal: (signal: AbortSignal) => GraphClient
  /** Closes the connection and ends what is active, which rejects with `Closed`, as later calls do. */
  readonly close: () => Promise<void>
}

const modules: { readonly [K in keyof GraphModules]: Readonly<Record<string, Member>> } = {
  arrivals: { ...ArrivalClients.arrivals },
  attachments: { ...MailboxClients.attachments },
  batch: { ...SiteClients.batch },
  delta: { ...DriveClients.delta },
  documents: { ...DriveClients.documents },
  downloads: { ...TransferClients.downloads },
  drafts: { ...MailClients.drafts },
  drives: { ...DriveClients.drives },
  files: { ...TransferClients.files },
  lists: { ...SiteClients.lists },
  mail: { ...MailClients.mail },
  mailDelta: { ...MailboxClients.mailDelta },
  mailFolders: { ...MailboxClients.mailFolders },
  raw: { ...SiteClients.raw },
  sharing: { ...DriveClients.sharing },
  sites: { ...SiteClients.sites },
  subscriptions: { ...ArrivalClients.subscriptions },
  uploads: { ...TransferClients.uploads },
  users: { ...SiteClients.users },
  workbooks: { ...WorkbookClients.workbooks }
}

/** Tokens of a function: it is asked before each request, and again when the service refuses one. */
const fromFunction = (token: () => string | PromiseLike<string>): Layer.Layer<AccessTokens> => {
  // What it throws is what the call rejects with.
  const ask = Effect.map(
    Effect.promise(async () => token()),
    (text) => Redacted.make(text)
  )
  return Layer.succeed(AccessTokens, { current: ask, renew: () => ask })
}

type Tokens = Layer.Layer<AccessTokens, unknown, HttpClient.HttpClient | FileSystem.FileSystem>

const signedIn = ({ tokenStore, ...app }: SignedIn, place: Place): Tokens => {
  const { clientSecret } = app
  const store: Layer.Layer<TokenStore, never, FileSystem.FileSystem> =
    "path" in tokenStore ? FileTokenStore.layer(tokenStore) : tokenStore
  const secret = clientSecret === undefined ? undefined : Redacted.make(clientSecret)
  return Layer.provide(
    Layer.provide(OAuth.layerAccessTokens, OAuth.layer({ ...place, ...app, clientSecret: secret })),
    store
  )
}

const tokensOf = ({ credentials, token, ...place }: GraphOptions): Tokens => {
  if (typeof token === "string") return AccessTokens.layerFixed(Redacted.make(token))
  if (token !== undefined) return fromFunction(token)
  if (credentials === undefined) {
    return OAuth.layerAccessTokens.pipe(Layer.provide(OAuth.layerConfig), Layer.provide(FileTokenStore.layer()))
  }
  if ("getToken" in credentials) return Credentials.layerTokenCredential(credentials, place)
  if ("managedIdentity" in credentials) {
    const { managedIdentity: identity } = credentials
    return Credentials.layerManagedIdentity({
      ...(identity === true ? {} : identity),
      cloud: place.cloud,
      on: place.on
    })
  }
  if ("workloadIdentity" in credentials) {
    const { workloadIdentity: identity } = credentials
    return Credentials.layerWorkloadIdentity({ ...place, ...(identity === true ? {} : identity) })
  }
  if ("tokenStore" in credentials) return signedIn(credentials, place)
  if ("certificate" in credentials) {
    return Credentials.layerCertificate({ ...place, ...credentials, privateKey: Redacted.make(credentials.privateKey) })
  }
  return Credentials.layerClientSecret({
    ...place,
    ...credentials,
    clientSecret: Redacted.make(credentials.clientSecret)
  })
}

const checkOptions = (options: GraphOptions) => {
  check("connectGraph", options, { userAgent: text, ...placeRules })
  checkPolicy("connectGraph", options.policy ?? {}, "policy.")
  const { credentials, token } = options
  if (token === "") throw new OptionError("token", "connectGraph: token: is empty")
  if (token !== undefined && credentials !== undefined) {
    throw new OptionError("credentials", "connectGraph: give token or credentials, not both")
  }
  if (options.httpClient === undefined) return
  const ignored = (["proxy", "ca", "dispatcher"] as const).find((name) => options[name] !== undefined)
  if (ignored !== undefined) {
    throw new OptionError(ignored, `connectGraph: ${ignored}: httpClient sends the requests; give one of the two`)
  }
}

/**
 * Connects to the graph: nothing is sent before the first call. Throws an `OptionError` for options that cannot be.
 *
 * ```ts
 * import { connectGraph, driveOf, NotFound } from "@signalbox/graph/promise"
 *
 * export const main = async (clientSecret: string) => {
 *   await using graph = connectGraph({
 *     credentials: {
 *       tenant: "contoso.example",
 *       clientId: "5a9db0c5-…",
 *       clientSecret
 *     }
 *   })
 *   const site = await graph.sites.get(
 *     "https://contoso.sharepoint.com/sites/team"
 *   )
 *   const drive = driveOf({ site: site.id })
 *   for await (const file of graph.drives.children(drive, { path: "/Inbox" }))
 *     await graph.files.download(drive, file, { to: "./in" })
 *   try {
 *     return await graph.drives.item(drive, { path: "/Reports/May.pdf" })
 *   } catch (error) {
 *     if (error instanceof NotFound) return null
 *     throw error
 *   }
 * }
 * ```
 */
export const connectGraph = (options: GraphOptions = {}): GraphClient => {
  checkOptions(options)
  const { httpClient, on, policy, userAgent } = options
  const place: Place = { cloud: options.cloud, graphUrl: options.graphUrl, loginUrl: options.loginUrl }
  const isOfEnvironment = options.token === undefined && options.credentials === undefined
  const graph = isOfEnvironment
    ? Layer.unwrap(
        Effect.map(Graph.config, (found) =>
          Graph.layerHttpClient({ ...found, ...defined({ ...place, on, userAgent }) })
        )
      )
    : Graph.layerHttpClient({ ...place, on, userAgent })
  const http = httpClient ?? Layer.orDie(NodeTransport.layerWith(options))
  const layer = graph.pipe(
    Layer.provide(tokensOf(options)),
    Layer.provide(http),
    Layer.provideMerge(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )
  const session: Session = {
    // What is open is closed before the connection is.
    runtime: ManagedRuntime.make(Layer.provideMerge(WorkbookClients.ClientScope.layer, layer)),
    policy: { ...defaultPolicy, ...policy },
    closing: new AbortController()
  }
  return clientOf(session, {})
}

const clientOf = (session: Session, view: CallOptions): GraphClient => {
  const close = async () => {
    session.closing.abort()
    await session.runtime.dispose()
  }
  const client: Omit<GraphClient, keyof GraphModules> = {
    run: (effect, options = {}) =>
      run(session, effect, { operation: "run", place: placeOf(client.run) }, merged(view, options), true),
    with: (options) => clientOf(session, merged(view, options)),
    withSignal: (signal) => clientOf(session, merged(view, { signal })),
    close,
    [Symbol.asyncDispose]: close
  }
  const wrapped = Object.fromEntries(
    Object.entries(modules).map(([name, members]) => [name, functionsOf(session, view, name, members)])
  )
  // Each module has the members of its interface, which `Members` has checked where they are listed.
  return { ...client, ...(wrapped as unknown as GraphModules) }
}
