/** The settings of `up`: those of its storage, how it serves, and its local workers. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Setting from "./Setting.ts"
import { list, setting, Switch } from "./Setting.ts"
import * as Storage from "./Storage.ts"

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

/** 0 picks a free one. */
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

/** Separated by commas, also in each of several flags. */
const commas = (text: Setting.Given["text"]) => [text].flat().flatMap((text) => text.split(","))

export const server = {
  host: setting({
    flag: "host",
    variable: "SIGNALBOX_HOST",
    description: "The address to listen on",
    schema: Schema.NonEmptyString,
    default: "127.0.0.1"
  }),
  port: setting({
    flag: "port",
    variable: "SIGNALBOX_PORT",
    description: "The port to listen on; 0 picks a free one",
    takes: "integer",
    schema: Port,
    default: 4700
  }),
  ...Storage.storage,
  publicUrl: setting({
    flag: "public-url",
    variable: "SIGNALBOX_PUBLIC_URL",
    description: "The address at which clients reach the service, if different",
    schema: Storage.Url,
    default: null,
    fallback: "the listening address"
  }),
  internalUrl: setting({
    flag: "internal-url",
    variable: "SIGNALBOX_INTERNAL_URL",
    description:
      "The address at which workers in the same network reach the service, if they cannot use the public one",
    schema: Storage.Url,
    default: null,
    fallback: "none"
  }),
  allowedHosts: setting({
    flag: "allowed-host",
    variable: "SIGNALBOX_ALLOWED_HOSTS",
    description: "Additional host names of requests; separated by commas, or with a repeated flag",
    takes: "texts",
    metavar: "HOST",
    schema: list(Host, commas),
    default: [],
    fallback: "none"
  }),
  trustedProxies: setting({
    flag: "trusted-proxies",
    variable: "SIGNALBOX_TRUSTED_PROXIES",
    description:
      "Addresses and networks of proxies whose X-Forwarded-For is trusted, such as 127.0.0.1; separated by commas, or with a repeated flag",
    takes: "texts",
    metavar: "NETWORK",
    schema: list(Network, commas),
    default: [],
    fallback: "none"
  }),
  cors: setting({
    flag: "cors",
    variable: "SIGNALBOX_CORS",
    description: "Origins whose pages may call the service; `*` for all. Separated by commas, or with a repeated flag",
    takes: "texts",
    metavar: "ORIGIN",
    schema: list(Origin, commas),
    default: [],
    fallback: "none"
  }),
  rateLimit: setting({
    flag: "rate-limit",
    variable: "SIGNALBOX_RATE_LIMIT",
    description:
      "Requests per second of a key, with the burst after a colon; `off` for no limit, including requests without a key",
    schema: RateLimit,
    default: { perSecond: 100, burst: 500 },
    fallback: "100:500",
    show: (limit) => (limit === null ? "off" : `${limit.perSecond}:${limit.burst}`)
  }),
  allowPrivateTargets: setting({
    flag: "allow-private-targets",
    variable: "SIGNALBOX_ALLOW_PRIVATE_TARGETS",
    description: "Allow private addresses for webhooks and git repositories",
    takes: "boolean",
    schema: Switch,
    default: null,
    fallback: "if the host is loopback"
  }),
  createWorkspaces: setting({
    flag: "create-workspaces",
    variable: "SIGNALBOX_CREATE_WORKSPACES",
    description: "Allow keys that manage keys to create workspaces",
    takes: "boolean",
    schema: Switch,
    default: true
  }),
  insecureSignIn: setting({
    flag: "insecure-sign-in",
    variable: "SIGNALBOX_INSECURE_SIGN_IN",
    description: "Let people sign in with a password over plain http, also from other machines",
    takes: "boolean",
    schema: Switch,
    default: false
  }),
  consoleKeys: setting({
    flag: "console-keys",
    variable: "SIGNALBOX_CONSOLE_KEYS",
    description: "Let keys open the console also when the room has accounts of people",
    takes: "boolean",
    schema: Switch,
    default: false
  }),
  providers: setting({
    flag: "providers",
    variable: "SIGNALBOX_PROVIDERS",
    description: "A JSON file of the providers of OpenID Connect with which people sign in",
    metavar: "FILE",
    schema: Schema.NonEmptyString,
    default: null,
    fallback: "none"
  }),
  providerStale: setting({
    flag: "provider-stale",
    variable: "SIGNALBOX_PROVIDER_STALE",
    description: "Disable an account that signs in with a provider alone after this time without a sign-in",
    metavar: "DURATION",
    schema: Age,
    default: Duration.days(30),
    fallback: "30 days",
    show: Duration.format
  }),
  metrics: setting({
    flag: "metrics",
    variable: "SIGNALBOX_METRICS",
    description: "Serve `/metrics` without authentication",
    takes: "boolean",
    schema: Switch,
    default: false
  }),
  retainRuns: setting({
    flag: "retain-runs",
    variable: "SIGNALBOX_RETAIN_RUNS",
    description: "Delete runs with all their data this long after their end, such as `30 days`",
    metavar: "DURATION",
    schema: Age,
    default: null,
    fallback: "never",
    show: Duration.format
  }),
  retainAudit: setting({
    flag: "retain-audit",
    variable: "SIGNALBOX_RETAIN_AUDIT",
    description: "Delete entries of the audit this long after they were written, such as `400 days`",
    metavar: "DURATION",
    schema: Age,
    default: null,
    fallback: "never",
    show: Duration.format
  }),
  workers: setting({
    flag: "workers",
    variable: "SIGNALBOX_WORKERS",
    description: "The number of local workers; each runs one step run at a time",
    takes: "integer",
    schema: Count,
    default: 1
  }),
  tasks: setting({
    flag: "tasks",
    variable: "SIGNALBOX_TASKS",
    description: "A TypeScript or JavaScript file that exports `tasks` for the local workers",
    schema: Schema.NonEmptyString,
    default: null,
    fallback: "none"
  })
}

export type Settings = Setting.Values<typeof server>

/** The settings of `up`, by its flags. */
export const read = (given: Setting.AllGiven) => Effect.tap(Setting.read(server, given), Storage.check)
