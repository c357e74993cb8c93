/**
 * The 22 operations of the companion library under the names that its users know, with promises: for robots that come from
 * there. New programs are better served by the modules `Users`, `Drives`, `Sites`, `Lists` and `Files`.
 *
 * What must be given stands in order, what may be given in an object at the end, all under the known names. Every failure
 * rejects with a typed error of this package. Needs Node.
 */
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { endpoints } from "./Cloud.ts"
import * as Address from "./Drive.ts"
import * as Drives from "./Drives.ts"
import * as Files from "./Files.ts"
import {
  type Client,
  CompatError,
  type Connection,
  connection,
  initialTokens,
  type Options,
  problemOf,
  type Services
} from "./internal/compat/Connection.ts"
import {
  type DriveLike,
  type DriveOptions,
  downloadTo,
  driveOf,
  expectFile,
  expectFolder,
  folderOf,
  itemOf,
  type ItemLike,
  libraryOf,
  listed,
  type LocalOptions,
  resourcePath,
  siteId,
  type SiteLike,
  type VerifyOptions,
  withinOf
} from "./internal/compat/Items.ts"
import * as Shapes from "./internal/compat/Shapes.ts"
import { PendingAuthorizations } from "./internal/login/PendingAuthorizations.ts"
import { stateOf } from "./internal/login/Redirect.ts"
import * as Lists from "./Lists.ts"
import type { User } from "./model/User.ts"
import { OAuth } from "./OAuth.ts"
import { getScopes } from "./Scopes.ts"
import * as Sites from "./Sites.ts"
import type { Tokens } from "./Tokens.ts"
import type * as Uploads from "./Uploads.ts"
import * as Users from "./Users.ts"

export { CompatError, type Connection, type Options } from "./internal/compat/Connection.ts"
export type {
  DriveLike,
  DriveOptions,
  ItemLike,
  LocalOptions,
  SiteLike,
  VerifyOptions
} from "./internal/compat/Items.ts"
export type {
  CompatDrive,
  CompatDriveItem,
  CompatList,
  CompatRow,
  CompatSite,
  CompatUser
} from "./internal/compat/Shapes.ts"

/** A file that was uploaded. */
export interface CompatUpload extends Shapes.CompatDriveItem {
  readonly difference: Uploads.Difference | null
}

/** Which fields of users come, by the names of the service. Default: the usual ten; all others come only when they are named. */
export interface SelectOptions {
  readonly select?: ReadonlyArray<keyof User & string>
}

/** Where to search, and in which field. */
export interface SearchOptions extends SelectOptions {
  /** Default `displayName`. */
  readonly search_field?: keyof User & string
  /** Default `users`; such as `groups/<id>/members`. */
  readonly resource?: string
}

const needRefreshToken = ({ refreshToken }: Tokens) =>
  refreshToken === null
    ? Effect.fail(
        new CompatError({
          message:
            "the identity provider gave no refresh token: ask for the scope offline_access (the helper basic has it)"
        })
      )
    : Effect.succeed(Redacted.value(refreshToken))

/**
 * ```ts
 * import { GraphLibrary } from "@signalbox/graph/Compat"
 *
 * export const main = async () => {
 *   await using graph = new GraphLibrary({
 *     client_id: "…",
 *     client_secret: "…",
 *     vault_backend: true,
 *     vault_secret: "office"
 *   })
 *   for (const file of await graph.list_files_in_drive_folder({
 *     target_folder: "/Reports"
 *   })) {
 *     await graph.download_file_from_drive(file, { to_path: "./in" })
 *   }
 * }
 * ```
 */
export class GraphLibrary {
  static readonly ROBOT_LIBRARY_SCOPE = "GLOBAL"
  static readonly ROBOT_LIBRARY_DOC_FORMAT = "REST"

  readonly #options: Options
  readonly #place: Connection
  #client: Client | undefined
  #runtime: ManagedRuntime.ManagedRuntime<Services, unknown> | undefined

  /** `place` names a national cloud, or the addresses of a sandbox, and may bring the HTTP client. */
  constructor(options: Options = {}, place: Connection = {}) {
    if (options.vault_backend === true && (options.vault_secret ?? "").trim() === "") {
      throw new CompatError({ message: "vault_secret: name the secret of the vault that holds the token" })
    }
    const problem = problemOf(options)
    if (problem !== null) throw problem
    this.#options = options
    this.#place = place
    const initial = initialTokens(options)
    if (options.client_id === undefined && initial === null) return
    const { client_id = "", client_secret: secret, redirect_uri: redirectUri } = options
    this.#client = { id: client_id, secret, redirectUri, initial }
  }

  /** `operation`: what was called, as errors and events name it. */
  #run<A, E>(operation: string, effect: Effect.Effect<A, E, Services>): Promise<A> {
    const client = this.#client
    if (client === undefined) {
      const message = "no app is configured: pass client_id and client_secret, or call configure_client first"
      return Promise.reject(new CompatError({ message }))
    }
    this.#runtime ??= ManagedRuntime.make(connection(client, this.#options, this.#place))
    return this.#runtime.runPromise(Effect.withSpan(effect, `Compat.${operation}`))
  }

  async #configure(client: Client): Promise<void> {
    const before = this.#runtime
    this.#runtime = undefined
    this.#client = client
    await before?.dispose()
  }

  /** Closes the connections; what is stored stays. */
  async close(): Promise<void> {
    const runtime = this.#runtime
    this.#runtime = undefined
    await runtime?.dispose()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The scopes of helpers such as `drive_all`; without names those of all helpers. `basic` is always among them. */
  get_scopes(...scopes: ReadonlyArray<string>): ReadonlyArray<string> {
    return getScopes(scopes, endpoints[this.#place.cloud ?? "global"].graph)
  }

  /** The address that the user opens to authorize the app. Give what they come back with to `authorize_and_get_token`. */
  async generate_oauth_authorization_url(
    options: Pick<Options, "client_id" | "client_secret" | "redirect_uri"> & {
      readonly scopes?: ReadonlyArray<string>
    } = {}
  ): Promise<string> {
    const { client_id, client_secret, redirect_uri, scopes = this.get_scopes() } = options
    if (client_id !== undefined) await this.configure_client(client_id, client_secret, options)
    return this.#run(
      "generate_oauth_authorization_url",
      Effect.gen(function* () {
        const { pending, url } = yield* (yield* OAuth).authorize({
          scopes,
          redirectUri: redirect_uri
        })
        yield* (yield* PendingAuthorizations).keep(pending)
        return url
      })
    )
  }

  /**
   * The refresh token for the address that the user came back with; tokens are stored and used from now on. What is needed for it
   * lies beside the token for an hour, so the address may come from another object or process of the same app and place.
   */
  authorize_and_get_token(authorization_url: string): Promise<string> {
    return this.#run(
      "authorize_and_get_token",
      Effect.gen(function* () {
        const pendings = yield* PendingAuthorizations
        const pending = yield* pendings.find(yield* stateOf(authorization_url))
        const tokens = yield* (yield* OAuth).exchange(Redacted.make(authorization_url), pending)
        yield* pendings.forget(pending.state)
        return yield* needRefreshToken(tokens)
      })
    )
  }

  /** Configures the app; with a refresh token it is renewed, and the new one is returned. */
  async configure_client(
    client_id: string,
    client_secret?: string,
    options: Pick<Options, "refresh_token" | "redirect_uri"> = {}
  ): Promise<string | null> {
    const redirectUri = options.redirect_uri ?? this.#options.redirect_uri
    // What the constructor was given is stored once: later there are newer tokens.
    const initial = this.#runtime === undefined ? initialTokens(this.#options) : null
    await this.#configure({ id: client_id, secret: client_secret, redirectUri, initial })
    return options.refresh_token === undefined ? null : await this.refresh_oauth_token(options.refresh_token)
  }

  /** New tokens by this refresh token, or by the stored one. The new refresh token is stored and returned. */
  refresh_oauth_token(refresh_token?: string): Promise<string> {
    const token = refresh_token === undefined ? undefined : Redacted.make(refresh_token)
    return this.#run(
      "refresh_oauth_token",
      Effect.flatMap(OAuth, (oauth) => Effect.flatMap(oauth.refresh(token), needRefreshToken))
    )
  }

  /** The signed-in account. Fields such as `about_me` are there when they were selected and have a value. */
  get_me(options: SelectOptions = {}): Promise<Shapes.CompatUser> {
    return this.#run("get_me", Effect.map(Users.me(options), Shapes.toUser))
  }

  /** All users in whose `search_field` (default `displayName`) the text is, in `resource` (default `users`). */
  search_for_users(search_string: string, options: SearchOptions = {}): Promise<ReadonlyArray<Shapes.CompatUser>> {
    const found = Users.search(search_string, {
      field: options.search_field ?? "displayName",
      resource: options.resource ?? "users",
      select: options.select
    })
    return this.#run(
      "search_for_users",
      Effect.map(Stream.runCollect(found), (users) => users.map(Shapes.toUser))
    )
  }

  /** A drive by its id, or the default one of a resource. */
  get_drive_instance(
    options: { readonly resource?: string; readonly drive_id?: string } = {}
  ): Promise<Shapes.CompatDrive> {
    const { drive_id, resource } = options
    const drive = driveOf({
      drive: drive_id,
      resource
    })
    return this.#run("get_drive_instance", Effect.map(Drives.get(drive), Shapes.toDrive))
  }

  /** A file by its path, or as it is now. */
  get_file_instance(drive: DriveLike, file: ItemLike): Promise<Shapes.CompatDriveItem> {
    const found = Drives.item(driveOf({ drive }), itemOf(file))
    return this.#run("get_file_instance", Effect.map(Effect.flatMap(found, expectFile), Shapes.toDriveItem))
  }

  /** A folder by its path, or as it is now; by default the root of the default drive. */
  get_folder_instance(
    options: { readonly drive?: DriveLike; readonly folder?: ItemLike } = {}
  ): Promise<Shapes.CompatDriveItem> {
    const found = Drives.item(driveOf(options), folderOf(options.folder))
    return this.#run("get_folder_instance", Effect.map(Effect.flatMap(found, expectFolder), Shapes.toDriveItem))
  }

  /** The files in a folder, by default the root; with `include_folders` its folders too. */
  list_files_in_drive_folder(
    options: DriveOptions & { readonly target_folder?: ItemLike; readonly include_folders?: boolean } = {}
  ): Promise<ReadonlyArray<Shapes.CompatDriveItem>> {
    const found = Drives.children(driveOf(options), folderOf(options.target_folder))
    return this.#run("list_files_in_drive_folder", listed(found, options.include_folders))
  }

  /**
   * The files that a text is in. Without `target_folder`, or with an empty one, all of the drive and what others share; `root`: what
   * is in the drive itself.
   */
  find_drive_file(
    search_string: string,
    options: DriveOptions & { readonly target_folder?: ItemLike; readonly include_folders?: boolean } = {}
  ): Promise<ReadonlyArray<Shapes.CompatDriveItem>> {
    const found = Drives.search(driveOf(options), search_string, withinOf(options.target_folder))
    return this.#run("find_drive_file", listed(found, options.include_folders))
  }

  /** Downloads a file; the local path. */
  download_file_from_drive(target_file: ItemLike, options: DriveOptions & LocalOptions = {}): Promise<string> {
    return this.#run("download_file_from_drive", downloadTo(driveOf(options), itemOf(target_file), options))
  }

  /** Downloads what is in a folder and below, directly into `to_path` (default: a folder of its name). Rejects unless all came. */
  download_folder_from_drive(
    target_folder: ItemLike,
    options: DriveOptions & VerifyOptions & { readonly to_path?: string } = {}
  ): Promise<string> {
    const { to_path, verify } = options
    const report = Files.downloadFolder(driveOf(options), folderOf(target_folder), {
      to: to_path,
      verify
    })
    return this.#run(
      "download_folder_from_drive",
      Effect.map(report, ({ path }) => path)
    )
  }

  /** Downloads what a sharing link leads to; the local path. */
  download_file_from_share_link(share_url: string, options: LocalOptions = {}): Promise<string> {
    return this.#run("download_file_from_share_link", downloadTo(Address.link(share_url), Address.root, options))
  }

  /**
   * Uploads a local file into a folder, by default the root; a file of its name is replaced. `difference`: how the stored file differs
   * from it, which libraries of sites do to Office files.
   */
  upload_file_to_drive(
    file_path: string,
    options: DriveOptions & VerifyOptions & { readonly target_folder?: ItemLike } = {}
  ): Promise<CompatUpload> {
    return this.#run(
      "upload_file_to_drive",
      Effect.gen(function* () {
        const paths = yield* Path.Path
        const drive = driveOf(options)
        const found = yield* Effect.flatMap(Drives.item(drive, folderOf(options.target_folder)), expectFolder)
        const { id, parentReference } = found.remoteItem ?? found
        const folder = { id: id ?? found.id, path: paths.basename(file_path), parentReference: parentReference ?? null }
        const { verify } = options
        const uploaded = yield* Files.upload(drive, folder, file_path, verify === undefined ? {} : { verify })
        return { ...Shapes.toDriveItem(uploaded), difference: uploaded.difference }
      })
    )
  }

  /**
   * A site: by its id or host, by `host` and `/sites/name`, or by the three parts of its id. A last argument of
   * `{ resource: "groups/<id>" }` says whose site `root` is.
   */
  get_site(...args: ReadonlyArray<string | { readonly resource?: string }>): Promise<Shapes.CompatSite> {
    const parts = args.filter((arg) => typeof arg === "string")
    const options = args.find((arg) => typeof arg !== "string") ?? {}
    const [first, second, third] = parts
    if (first === undefined || parts.length > 3) {
      const message = `get_site: takes one to three texts, ${parts.length} were given`
      return Promise.reject(new CompatError({ message }))
    }
    const site: Sites.SiteAddress =
      second === undefined ? first : third === undefined ? [first, second] : [first, second, third]
    const resource = (options.resource ?? "").trim()
    const found = Sites.get(site, resource === "" ? {} : { resource: resourcePath(resource) })
    return this.#run("get_site", Effect.map(found, Shapes.toSite))
  }

  /** The document libraries of a site. */
  list_site_drives(site: SiteLike): Promise<ReadonlyArray<Shapes.CompatDrive>> {
    return this.#run(
      "list_site_drives",
      Effect.map(Stream.runCollect(Sites.drives(siteId(site))), (drives) => drives.map(Shapes.toDrive))
    )
  }

  /** The files in a folder of a library of a site, by default the root of the default one. */
  list_files_in_site_drive(
    site: SiteLike,
    options: { readonly include_folders?: boolean; readonly drive?: DriveLike; readonly target_folder?: ItemLike } = {}
  ): Promise<ReadonlyArray<Shapes.CompatDriveItem>> {
    const found = Drives.children(libraryOf(site, options.drive), folderOf(options.target_folder))
    return this.#run("list_files_in_site_drive", listed(found, options.include_folders))
  }

  /** Downloads a file of a site; the local path. */
  download_file_from_site(
    target_file: ItemLike,
    site: SiteLike,
    options: LocalOptions & { readonly drive?: DriveLike } = {}
  ): Promise<string> {
    return this.#run(
      "download_file_from_site",
      downloadTo(libraryOf(site, options.drive), itemOf(target_file), options)
    )
  }

  /** Makes a list; `list_data` is sent as it is. */
  create_site_list(list_data: Lists.NewList, site: SiteLike): Promise<Shapes.CompatList> {
    return this.#run(
      "create_site_list",
      Effect.gen(function* () {
        const list = yield* Lists.create(siteId(site), list_data)
        return Shapes.toList(list, yield* Stream.runCollect(Lists.columns(siteId(site), list.id)))
      })
    )
  }

  /** The rows of a list by its display name, with internal names of columns; all rows have the same columns. */
  get_items_from_site_list(list_name: string, site: SiteLike): Promise<ReadonlyArray<Shapes.CompatRow>> {
    return this.#run(
      "get_items_from_site_list",
      Effect.map(Stream.runCollect(Lists.items(siteId(site), list_name)), Shapes.toRows)
    )
  }
}
