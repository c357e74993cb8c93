/**
 * The settings of `signalbox up`, and of every command that opens its storage: one `Config`, read from flags, then the
 * environment, then defaults.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import type { StorageOptions } from "@signalbox/control-room/Options"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Flag from "effect/cli/Flag"

/** A setting has an invalid value, or two settings contradict each other. */
export class SettingsError extends TaggedError<SettingsError>()("SettingsError", { message: Schema.String }) {}

/** `off`, or requests per second and, after a colon, the burst. */
const RateLimit = Schema.String.check(
  Schema.isPattern(/^(off|[1-9]\d{0,6}(:[1-9]\d{0,6})?)$/, {
    message: "Expected `off`, or requests a second with or without a burst, such as 100 or 100:500"
  })
).pipe(
  Schema.decodeTo(
    Schema.NullOr(Schema.Struct({ perSecond: Schema.Int, burst: Schema.Int })),
    SchemaTransformation.transform({
      decode: (text) => {
        const [perSecond = 0, burst = perSecond * 5] = text === "off" ? [] : text.split(":").map(Number)
        return text === "off" ? null : { perSecond, burst }
      },
      encode: (limit) => (limit === null ? "off" : `${limit.perSecond}:${limit.burst}`)
    })
  )
)

const Origin = Schema.String.check(
  Schema.isPattern(/^(\*|https?:\/\/[^\s/,]+)$/i, {
    message: "Expected `*` or origins without a path, such as https://app.example.com"
  })
)

const Host = Schema.String.check(
  Schema.isPattern(/^(\[[0-9a-f:.]+\]|[^\s:/@[\]*]+)$/i, {
    message: "Expected host names without scheme and port, such as room.example.com"
  })
)

const Network = Schema.String.check(
  Schema.isPattern(/^[0-9a-f.:]+(\/\d{1,3})?$/i, {
    message: "Expected IP addresses or networks, such as 127.0.0.1 or 10.0.0.0/8"
  })
)

const Bucket = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/i, {
    message: "Expected the name of a bucket, such as signalbox-files"
  })
)

const Prefix = Schema.String.check(
  Schema.isPattern(/^(?!\.)[\w./-]*\/$/, {
    message: "Expected letters, digits, `.`, `-`, `_` and `/`, with a `/` at the end, such as rooms/invoices/"
  })
)

const Url = Schema.String.check(
  Schema.isPattern(/^https?:\/\/[^\s/]+\S*$/i, { message: "Expected an absolute http or https address" })
)

/** 0 picks a free one, which `Config.Port` does not accept. */
const Port = Schema.FiniteFromString.pipe(
  Schema.decodeTo(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 })))
)

const Count = Schema.FiniteFromString.pipe(
  Schema.decodeTo(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })))
)

/** A maximum age. */
const Age = Schema.String.check(
  Schema.isPattern(/^[1-9]\d{0,6} (minutes?|hours?|days?|weeks?)$/, {
    message: "Expected a number of minutes, hours, days or weeks, such as `30 days`"
  })
).pipe(Schema.decodeTo(Schema.DurationFromString))

const logLevels = {
  all: "All",
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  fatal: "Fatal",
  none: "None"
} as const
const LogLevel = Schema.Literals(["all", "trace", "debug", "info", "warn", "error", "fatal", "none"])

interface Setting<A> {
  /** The flag of `up`, without dashes; null: only the environment. */
  readonly flag: string | null
  readonly variable: string
  readonly description: string
  readonly config: Config.Config<A>
  /** The value in the form for people. */
  readonly shown: Config.Config<string>
  /** The default in the form for people. */
  readonly fallback: string
}

const define = <A>(
  variable: string,
  flag: string | null,
  description: string,
  config: (variable: string) => Config.Config<A>,
  fallback: A,
  options: { readonly show?: (value: A) => string; readonly fallback?: string } = {}
): Setting<A> => {
  const show = options.show ?? String
  const value = Config.withDefault(config(variable), fallback)
  return {
    flag,
    variable,
    description,
    config: value,
    shown: Config.map(value, show),
    fallback: options.fallback ?? show(fallback)
  }
}

const schema =
  <A>(codec: Schema.ConstraintCodec<A, unknown>) =>
  (variable: string) =>
    Config.schema(codec, variable)

const orNothing = (value: unknown) => (value === null ? "" : String(value))

const optional =
  <A>(codec: Schema.ConstraintCodec<A, unknown>) =>
  (variable: string): Config.Config<A | null> =>
    Config.schema(codec, variable)

const secret = (variable: string): Config.Config<Redacted.Redacted | null> => Config.Redacted(variable)
const hidden = (value: Redacted.Redacted | null) => (value === null ? "" : "<redacted>")

/** Every setting, in the order of the output. */
export const definitions = {
  host: define("SIGNALBOX_HOST", "host", "The address to listen on", schema(Schema.NonEmptyString), "127.0.0.1"),
  port: define("SIGNALBOX_PORT", "port", "The port to listen on; 0 picks a free one", schema(Port), 4700),
  data: define(
    "SIGNALBOX_DATA",
    "data",
    "The folder that holds everything",
    schema(Schema.NonEmptyString),
    ".signalbox"
  ),
  databaseUrl: define(
    "SIGNALBOX_DATABASE_URL",
    "database-url",
    "Stores everything but bytes in this Postgres database; better from the environment, since other users can see flags",
    secret,
    null,
    { show: hidden, fallback: "SQLite in the data folder" }
  ),
  databasePassword: define(
    "SIGNALBOX_DATABASE_PASSWORD",
    null,
    "The password of the database as it is, with any characters; it takes the place of the one in the address",
    secret,
    null,
    { show: hidden, fallback: "the one in the address" }
  ),
  masterKey: define(
    "SIGNALBOX_MASTER_KEY",
    null,
    "The master key of the vault, 32 bytes in base64; needed on Postgres",
    secret,
    null,
    { show: hidden, fallback: "`master.key` in the data folder" }
  ),
  s3Bucket: define(
    "SIGNALBOX_S3_BUCKET",
    "s3-bucket",
    "Stores the bytes of files in this bucket of S3, or of a compatible service",
    optional(Bucket),
    null,
    { show: orNothing, fallback: "the data folder" }
  ),
  s3Prefix: define(
    "SIGNALBOX_S3_PREFIX",
    "s3-prefix",
    "What the names of all objects begin with, such as `rooms/invoices/`; no other room may have it",
    optional(Prefix),
    null,
    { show: orNothing, fallback: "none" }
  ),
  s3Endpoint: define(
    "SIGNALBOX_S3_ENDPOINT",
    "s3-endpoint",
    "The address of the service that has the bucket",
    optional(Url),
    null,
    { show: orNothing, fallback: "AWS" }
  ),
  s3Region: define(
    "SIGNALBOX_S3_REGION",
    "s3-region",
    "The region of the bucket",
    (variable) => Config.orElse(Config.NonEmptyString(variable), () => Config.NonEmptyString("AWS_REGION")),
    "us-east-1",
    { fallback: "AWS_REGION, else us-east-1" }
  ),
  s3PathStyle: define(
    "SIGNALBOX_S3_PATH_STYLE",
    "s3-path-style",
    "Puts the name of the bucket into the path of addresses, not into the host",
    (variable): Config.Config<boolean | null> => Config.Boolean(variable),
    null,
    { show: orNothing, fallback: "when there is an endpoint" }
  ),
  s3AccessKeyId: define(
    "AWS_ACCESS_KEY_ID",
    null,
    "The id of the access key of the bucket",
    optional(Schema.NonEmptyString),
    null,
    { show: orNothing, fallback: "none; needed for a bucket" }
  ),
  s3SecretAccessKey: define("AWS_SECRET_ACCESS_KEY", null, "The access key of the bucket", secret, null, {
    show: hidden,
    fallback: "none; needed for a bucket"
  }),
  s3SessionToken: define(
    "AWS_SESSION_TOKEN",
    null,
    "The token of temporary credentials of the bucket, which are not renewed",
    secret,
    null,
    { show: hidden, fallback: "none" }
  ),
  publicUrl: define(
    "SIGNALBOX_PUBLIC_URL",
    "public-url",
    "The address under which clients reach the service, if it differs",
    optional(Url),
    null,
    { show: orNothing, fallback: "where it listens" }
  ),
  internalUrl: define(
    "SIGNALBOX_INTERNAL_URL",
    "internal-url",
    "The address under which workers in the same network reach the service, if they cannot use the public one",
    optional(Url),
    null,
    { show: orNothing, fallback: "none" }
  ),
  allowedHosts: define(
    "SIGNALBOX_ALLOWED_HOSTS",
    "allowed-host",
    "Host names that requests may use besides the service's own; separated by commas, or the flag repeated",
    (variable) => Config.Array(Host, variable),
    [],
    { show: (hosts) => hosts.join(","), fallback: "none" }
  ),
  trustedProxies: define(
    "SIGNALBOX_TRUSTED_PROXIES",
    "trusted-proxies",
    "Addresses and networks of proxies whose X-Forwarded-For counts, such as 127.0.0.1; separated by commas, or the flag repeated",
    (variable) => Config.Array(Network, variable),
    [],
    { show: (networks) => networks.join(","), fallback: "none" }
  ),
  cors: define(
    "SIGNALBOX_CORS",
    "cors",
    "Origins whose pages may call the service; `*` for all. Separated by commas, or the flag repeated",
    (variable) => Config.Array(Origin, variable),
    [],
    { show: (origins) => origins.join(","), fallback: "none" }
  ),
  rateLimit: define(
    "SIGNALBOX_RATE_LIMIT",
    "rate-limit",
    "Requests a second of a key, and after a colon the burst; `off` for no limit, also without a key",
    schema(RateLimit),
    { perSecond: 100, burst: 500 },
    { show: (limit) => (limit === null ? "off" : `${limit.perSecond}:${limit.burst}`) }
  ),
  allowPrivateTargets: define(
    "SIGNALBOX_ALLOW_PRIVATE_TARGETS",
    "allow-private-targets",
    "Lets webhooks and git repositories lead to private addresses",
    (variable): Config.Config<boolean | null> => Config.Boolean(variable),
    null,
    { show: orNothing, fallback: "when the host is loopback" }
  ),
  createWorkspaces: define(
    "SIGNALBOX_CREATE_WORKSPACES",
    "create-workspaces",
    "Lets keys that manage keys create further workspaces",
    Config.Boolean,
    true
  ),
  metrics: define(
    "SIGNALBOX_METRICS",
    "metrics",
    "Serves `/metrics` to everybody who can reach the service",
    Config.Boolean,
    false
  ),
  retainRuns: define(
    "SIGNALBOX_RETAIN_RUNS",
    "retain-runs",
    "Deletes runs with everything that belongs to them this long after their end, such as `30 days`",
    optional(Age),
    null,
    { show: (age) => (age === null ? "" : Duration.format(age)), fallback: "stored for ever" }
  ),
  workers: define("SIGNALBOX_WORKERS", "workers", "Local workers, one step run at a time each", schema(Count), 1),
  tasks: define(
    "SIGNALBOX_TASKS",
    "tasks",
    "A TypeScript or JavaScript file that exports `tasks` for the local workers",
    optional(Schema.NonEmptyString),
    null,
    { show: orNothing, fallback: "none" }
  ),
  logFormat: define(
    "SIGNALBOX_LOG_FORMAT",
    null,
    "How logs are written to standard error: `logfmt` or `json`",
    (variable) => Config.Literals(["logfmt", "json"], variable),
    "logfmt"
  ),
  logLevel: define(
    "SIGNALBOX_LOG_LEVEL",
    null,
    "The lowest level that is logged; `--log-level` of a command overrides it",
    schema(LogLevel),
    "info"
  )
} as const

type Definitions = typeof definitions
export type Settings = { readonly [K in keyof Definitions]: Config.Success<Definitions[K]["config"]> }

/** All settings as one value. */
export const config: Config.Config<Settings> = Config.all({
  host: definitions.host.config,
  port: definitions.port.config,
  data: definitions.data.config,
  databaseUrl: definitions.databaseUrl.config,
  databasePassword: definitions.databasePassword.config,
  masterKey: definitions.masterKey.config,
  s3Bucket: definitions.s3Bucket.config,
  s3Prefix: definitions.s3Prefix.config,
  s3Endpoint: definitions.s3Endpoint.config,
  s3Region: definitions.s3Region.config,
  s3PathStyle: definitions.s3PathStyle.config,
  s3AccessKeyId: definitions.s3AccessKeyId.config,
  s3SecretAccessKey: definitions.s3SecretAccessKey.config,
  s3SessionToken: definitions.s3SessionToken.config,
  publicUrl: definitions.publicUrl.config,
  internalUrl: definitions.internalUrl.config,
  allowedHosts: definitions.allowedHosts.config,
  trustedProxies: definitions.trustedProxies.config,
  cors: definitions.cors.config,
  rateLimit: definitions.rateLimit.config,
  allowPrivateTargets: definitions.allowPrivateTargets.config,
  createWorkspaces: definitions.createWorkspaces.config,
  metrics: definitions.metrics.config,
  retainRuns: definitions.retainRuns.config,
  workers: definitions.workers.config,
  tasks: definitions.tasks.config,
  logFormat: definitions.logFormat.config,
  logLevel: definitions.logLevel.config
})

const described =
  (name: keyof Definitions) =>
  <A>(flag: Flag.Flag<A>) =>
    Flag.withDescription(flag, definitions[name].description)

/** Settings that locate the storage, for `up` and all commands that open it. */
export const storageFlags = {
  data: Flag.String("data").pipe(described("data"), Flag.optional),
  databaseUrl: Flag.String("database-url").pipe(described("databaseUrl"), Flag.optional),
  s3Bucket: Flag.String("s3-bucket").pipe(described("s3Bucket"), Flag.optional),
  s3Prefix: Flag.String("s3-prefix").pipe(described("s3Prefix"), Flag.optional),
  s3Endpoint: Flag.String("s3-endpoint").pipe(described("s3Endpoint"), Flag.optional),
  s3Region: Flag.String("s3-region").pipe(described("s3Region"), Flag.optional),
  s3PathStyle: Flag.Boolean("s3-path-style").pipe(described("s3PathStyle"), Flag.optional)
}

/** Flags of `up`, and of `config`, which shows the settings of `up`. */
export const flags = {
  host: Flag.String("host").pipe(described("host"), Flag.optional),
  port: Flag.Int("port").pipe(described("port"), Flag.optional),
  ...storageFlags,
  publicUrl: Flag.String("public-url").pipe(described("publicUrl"), Flag.optional),
  internalUrl: Flag.String("internal-url").pipe(described("internalUrl"), Flag.optional),
  allowedHosts: Flag.String("allowed-host").pipe(described("allowedHosts"), Flag.withMetavar("HOST"), Flag.atLeast(0)),
  trustedProxies: Flag.String("trusted-proxies").pipe(
    described("trustedProxies"),
    Flag.withMetavar("NETWORK"),
    Flag.atLeast(0)
  ),
  cors: Flag.String("cors").pipe(described("cors"), Flag.withMetavar("ORIGIN"), Flag.atLeast(0)),
  rateLimit: Flag.String("rate-limit").pipe(described("rateLimit"), Flag.optional),
  allowPrivateTargets: Flag.Boolean("allow-private-targets").pipe(described("allowPrivateTargets"), Flag.optional),
  createWorkspaces: Flag.Boolean("create-workspaces").pipe(described("createWorkspaces"), Flag.optional),
  metrics: Flag.Boolean("metrics").pipe(described("metrics"), Flag.optional),
  retainRuns: Flag.String("retain-runs").pipe(described("retainRuns"), Flag.withMetavar("DURATION"), Flag.optional),
  workers: Flag.Int("workers").pipe(described("workers"), Flag.optional),
  tasks: Flag.String("tasks").pipe(described("tasks"), Flag.optional)
}

type Given = Partial<
  Readonly<Record<keyof Definitions, Option.Option<string | number | boolean> | ReadonlyArray<string>>>
>

const isDefinition = (name: string): name is keyof Definitions => name in definitions

/** A configuration provider of the flags. */
const providerOf = (given: Given) => {
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    if (!isDefinition(name)) continue
    const text = Option.isOption(value)
      ? Option.map(value, String)
      : Option.liftPredicate(value.join(","), (t) => t !== "")
    if (Option.isSome(text)) values[definitions[name].variable] = text.value
  }
  return ConfigProvider.fromUnknown(values)
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** What was expected, never the value: it may be secret. */
const expected = (error: Config.ConfigError): string =>
  error.cause._tag === "SchemaError"
    ? (format(error.cause.issue).issues[0]?.message ?? "not valid").replace(/, got .*$/s, "")
    : "cannot be read"

/** A setting in the output of `signalbox config`. */
export interface Shown {
  readonly name: string
  readonly flag: string | null
  readonly variable: string
  readonly value: string
  readonly source: "flag" | "environment" | "default"
  readonly default: string
  readonly description: string
}

const isThere = (provider: ConfigProvider.ConfigProvider, variable: string) =>
  Effect.map(
    Effect.orElseSucceed(provider.load([variable]), () => undefined),
    (node) => node !== undefined
  )

const sourcesOf = Effect.fnUntraced(function* (given: Given) {
  const fromFlags = providerOf(given)
  return { fromFlags, all: ConfigProvider.orElse(fromFlags, yield* ConfigProvider.ConfigProvider) }
})

const all: Readonly<Record<string, Setting<unknown>>> = definitions

/** Each setting with its value and its source. Fails with the first invalid one. */
export const show = Effect.fnUntraced(function* (given: Given) {
  const sources = yield* sourcesOf(given)
  return yield* Effect.forEach(Object.entries(all), ([name, { description, fallback, flag, shown, variable }]) =>
    Effect.gen(function* () {
      const value = yield* shown.parse(sources.all)
      const given = yield* isThere(sources.fromFlags, variable)
      const source = given ? "flag" : (yield* isThere(sources.all, variable)) ? "environment" : "default"
      const entry: Shown = {
        name,
        flag: flag === null ? null : `--${flag}`,
        variable,
        value: source === "default" ? fallback : value,
        source,
        default: fallback,
        description
      }
      return entry
    }).pipe(
      Effect.mapError((error) => {
        const where = flag === null ? variable : `--${flag} or ${variable}`
        return new SettingsError({ message: `${where}: ${expected(error)}` })
      })
    )
  )
})

/** Reads the settings, with these flags. */
export const read = Effect.fnUntraced(function* (given: Given): Effect.fn.Return<Settings, SettingsError> {
  const { all } = yield* sourcesOf(given)
  const settings = yield* Effect.catch(config.parse(all), (error) =>
    // Shown one by one, so that the message names the invalid one.
    Effect.flatMap(show(given), () => Effect.fail(new SettingsError({ message: expected(error) })))
  )
  if (settings.s3Bucket !== null && s3Options(settings) === null) {
    const missing = settings.s3AccessKeyId === null ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY"
    return yield* new SettingsError({ message: `${missing}: missing; a bucket (--s3-bucket) needs an access key` })
  }
  return settings
})

/** The bucket of the settings; null: none is named, or its credentials are missing. */
const s3Options = (settings: Settings): StorageOptions["s3"] | null => {
  const { s3AccessKeyId, s3Bucket, s3Endpoint, s3PathStyle, s3Prefix, s3Region, s3SecretAccessKey } = settings
  if (s3Bucket === null || s3AccessKeyId === null || s3SecretAccessKey === null) return null
  return {
    bucket: s3Bucket,
    region: s3Region,
    accessKeyId: s3AccessKeyId,
    secretAccessKey: s3SecretAccessKey,
    ...(s3Endpoint === null ? {} : { endpoint: s3Endpoint }),
    ...(s3PathStyle === null ? {} : { pathStyle: s3PathStyle }),
    ...(s3Prefix === null ? {} : { prefix: s3Prefix }),
    ...(settings.s3SessionToken === null ? {} : { sessionToken: settings.s3SessionToken })
  }
}

/** The address of the database with a password, in which any characters may be; an address that is none is reported where it is used. */
const withPassword = (url: Redacted.Redacted, password: Redacted.Redacted | null): Redacted.Redacted => {
  const text = Redacted.value(url)
  if (password === null || !URL.canParse(text)) return url
  const full = new URL(text)
  full.password = encodeURIComponent(Redacted.value(password))
  return Redacted.make(full.href)
}

/** The options of the storage. */
export const storageOptions = (settings: Settings): StorageOptions => {
  const { data, databasePassword, databaseUrl, masterKey } = settings
  const s3 = s3Options(settings)
  return {
    data,
    ...(databaseUrl === null ? {} : { database: { url: withPassword(databaseUrl, databasePassword) } }),
    ...(masterKey === null ? {} : { masterKey }),
    ...(s3 ? { s3 } : {})
  }
}

/** The log settings of every command. */
export const logging = Effect.mapError(
  Config.all({
    logFormat: definitions.logFormat.config,
    logLevel: Config.map(definitions.logLevel.config, (level) => logLevels[level])
  }),
  (error) => new SettingsError({ message: `SIGNALBOX_LOG_FORMAT or SIGNALBOX_LOG_LEVEL: ${expected(error)}` })
)
