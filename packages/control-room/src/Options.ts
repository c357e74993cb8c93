/** The options of a control room. */
import type { PostgresOptions } from "@signalbox/sql/PostgresOptions"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { HttpServerError } from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"

export { IdSeed } from "./internal/settings/IdSeed.ts"
export { PollInterval } from "./internal/background/PollInterval.ts"
export { checkProviders } from "./internal/settings/ProviderRules.ts"

/** Where a control room stores its state. */
export interface StorageOptions {
  /**
   * The folder of the files; created when missing. With SQLite, also of the database and the master key, for one
   * process at a time; with Postgres, one folder that all nodes share.
   */
  readonly data: string
  /** Postgres, for any number of nodes; default: SQLite in the data folder. */
  readonly database?: PostgresOptions
  /**
   * Base64 of 32 bytes. Needed with Postgres; default with SQLite: a file in the data folder, created at the first
   * start.
   */
  readonly masterKey?: Redacted.Redacted
  /** A bucket for the files in place of the data folder, so that nodes need no folder in common. */
  readonly s3?: S3Options
}

/** A bucket of S3, or of a service that is compatible with it. */
export interface S3Options {
  readonly bucket: string
  /** What the names of all objects begin with, such as `rooms/invoices/`; no other room may have it. Default: nothing. */
  readonly prefix?: string
  /** The address of the service; default: that of AWS in the region. */
  readonly endpoint?: string
  /** Default `us-east-1`. */
  readonly region?: string
  /** Whether the bucket stands in the path and not in the host; default: when there is an `endpoint`. */
  readonly pathStyle?: boolean
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
  /** Of temporary credentials, which are not renewed. */
  readonly sessionToken?: Redacted.Redacted
}

/** How many requests one caller may make. */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

/** The files of the console by their path below `/console/`; `index.html` is its page. */
export type ConsoleFiles = Readonly<Record<string, ConsoleFile>>

export interface ConsoleFile {
  readonly bytes: Uint8Array
  readonly contentType: string
  /** Whether other bytes would have another path, so that browsers never ask for it again. */
  readonly immutable: boolean
}

/** The durable flows of the program that serves the control room, as `FlowManagement.mounted` of `@signalbox/flows` returns them. */
export interface MountedFlows {
  /**
   * Handles a request that the service has authorized, with a path below `/flow-executions`, `/flow-versions` or `/flow-schedules`.
   * Whose request it is stands in `CurrentActor`.
   */
  readonly httpEffect: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    HttpServerError,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
  /** Ids of executions that change, null when any may have: told to those who watch the workspace. */
  readonly changes?: Stream.Stream<string | null>
  /** The workspace whose keys reach them; default: the first one. */
  readonly workspaceId?: string
}

/** Members of a group of a provider have this role in a workspace. */
export interface GroupRole {
  /** As the claim of the provider has it: its name, or its id. */
  readonly group: string
  /** The id or the name of the workspace. */
  readonly workspace: string
  readonly role: string
  /** Whether members without an account get one when they sign in for the first time; default true. */
  readonly createAccounts?: boolean
}

/** A provider of OpenID Connect with which people sign in to the console, such as Microsoft Entra ID, Keycloak or Google. */
export interface SignInProvider {
  /** Part of the callback address `{publicUrl}/console/sign-in/provider/{id}/callback`: lower-case letters, digits and `-`. */
  readonly id: string
  /** What people read on the button. */
  readonly name: string
  /** The issuer of one tenant, as its discovery document has it. */
  readonly issuer: string
  readonly clientId: string
  /** Default: none, for a public client. */
  readonly clientSecret?: Redacted.Redacted
  /** Default: `openid profile email`. */
  readonly scopes?: ReadonlyArray<string>
  /** The claim of the ID token that identifies a person for ever, such as `oid` with Microsoft Entra ID; default `sub`. */
  readonly subjectClaim?: string
  /** The claim that lists the groups of a person; default `groups`. */
  readonly groupsClaim?: string
  /** Roles by group. In each workspace, the first one that applies counts. Default: none; people sign in by invitation. */
  readonly roles?: ReadonlyArray<GroupRole>
}

/** The behaviour of the service: addresses, limits, access, retention. */
export interface ServiceOptions {
  /** The address under which clients reach the service; default: where it listens. */
  readonly publicUrl?: string
  /**
   * The address under which workers and other clients in the same network reach the service, when they do not use `publicUrl`:
   * to requests whose `Host` is its host, the service returns links to files and further pages that begin with it. Default: none.
   */
  readonly internalUrl?: string
  /**
   * How many requests a key may make; default 100 a second with bursts of 500. `null` for no limit, neither for keys nor for
   * requests without a valid one.
   */
  readonly rateLimit?: RateLimit | null
  /**
   * Whether webhooks, callbacks and git repositories may lead to loopback, private and link-local addresses; default: only when the
   * service itself listens on loopback.
   */
  readonly allowPrivateTargets?: boolean
  /** How long runs are stored after their end, with everything that belongs to them; default: for ever. */
  readonly retainRuns?: Duration.Input
  /** How long entries of the audit are stored; default: for ever. */
  readonly retainAudit?: Duration.Input
  /** Origins whose pages may call `/api/v1` and transfer files, `*` for all; default: none. */
  readonly cors?: ReadonlyArray<string>
  /** Whether keys that manage keys may create further workspaces; default true. */
  readonly createWorkspaces?: boolean
  /**
   * Names that requests may have in their `Host` besides those of this machine, of `publicUrl` and of `internalUrl`, without ports.
   * Checked when the service listens on loopback, or when there are any.
   */
  readonly allowedHosts?: ReadonlyArray<string>
  /**
   * Addresses and networks of proxies, such as `127.0.0.1` and `10.0.0.0/8`, whose `X-Forwarded-For` counts: limits by address are
   * then those of clients. Default: none, and attempts to sign in to the console are not limited by address.
   */
  readonly trustedProxies?: ReadonlyArray<string>
  /**
   * Whether people may sign in with a password over plain HTTP where the service has an address that is not of this machine; default false.
   */
  readonly insecureSignIn?: boolean
  /**
   * Whether keys of the workspace, and tickets that they make, open sessions of the console when the room has accounts; default false: then
   * only a key with `Room.manage` does, which is that of the data folder.
   */
  readonly consoleKeys?: boolean
  /**
   * Who signs people in to the console. `own`: the program that embeds the room, by `Administration.openSession`; the console then shows no
   * form, and takes neither passwords nor links to choose one. Default: the room itself.
   */
  readonly signIn?: "own"
  /**
   * Providers with which people sign in to the console; default: none. They need a `publicUrl` of https, or of loopback.
   *
   * ```ts
   * import type { SignInProvider } from "@signalbox/control-room/Options"
   * import * as Redacted from "effect/Redacted"
   *
   * export const entra: SignInProvider = {
   *   id: "entra",
   *   name: "Microsoft",
   *   issuer: "https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/v2.0",
   *   clientId: "11111111-1111-1111-1111-111111111111",
   *   clientSecret: Redacted.make("the secret of the application"),
   *   subjectClaim: "oid",
   *   roles: [
   *     {
   *       group: "22222222-2222-2222-2222-222222222222",
   *       workspace: "default",
   *       role: "operator"
   *     }
   *   ]
   * }
   * ```
   */
  readonly providers?: ReadonlyArray<SignInProvider>
  /**
   * An account that signs in with a provider alone is disabled, with the keys that it owns, after this time without a sign-in; default
   * 30 days.
   */
  readonly providerStale?: Duration.Input
  /** The console to serve at `/console/`, such as that of `@signalbox/console`; default: none. */
  readonly console?: ConsoleFiles
  /**
   * Durable flows, managed below `/api/v1/workspaces/{workspace_id}/flow-executions` and `…/flow-schedules` by the keys of one
   * workspace, and on its console; default: none.
   */
  readonly flows?: MountedFlows
  /** Whether `/metrics` is served, which needs no key; default false. */
  readonly metrics?: boolean
}
