/** Where a room stores its data: the settings of `up` and of every command that opens its storage. */
import type { StorageOptions } from "@signalbox/control-room/Options"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Setting from "./Setting.ts"
import { Secret, setting, SettingsError, Switch } from "./Setting.ts"

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

/** An absolute address. */
export const Url = Schema.String.check(
  Schema.isPattern(/^https?:\/\/[^\s/]+\S*$/i, { message: "Expected an absolute http or https address" })
)

export const storage = {
  data: setting({
    flag: "data",
    variable: "SIGNALBOX_DATA",
    description: "The folder of all data",
    schema: Schema.NonEmptyString,
    default: ".signalbox"
  }),
  databaseUrl: setting({
    flag: "database-url",
    variable: "SIGNALBOX_DATABASE_URL",
    description:
      "Store all data except files in this Postgres database; prefer the environment variable, since other users can see flags",
    schema: Secret,
    default: null,
    fallback: "SQLite in the data folder"
  }),
  databaseDirectUrl: setting({
    flag: "database-direct-url",
    variable: "SIGNALBOX_DATABASE_DIRECT_URL",
    description: "The direct address of the Postgres server, if the other one is a connection pooler such as PgBouncer",
    schema: Secret,
    default: null,
    fallback: "none (no pooler)"
  }),
  databasePassword: setting({
    variable: "SIGNALBOX_DATABASE_PASSWORD",
    description: "The password of the database, unencoded; overrides the password in the address",
    schema: Secret,
    default: null,
    fallback: "from the address"
  }),
  masterKey: setting({
    variable: "SIGNALBOX_MASTER_KEY",
    description: "The master key of the vault, 32 bytes in base64; needed on Postgres",
    schema: Secret,
    default: null,
    fallback: "`master.key` in the data folder"
  }),
  s3Bucket: setting({
    flag: "s3-bucket",
    variable: "SIGNALBOX_S3_BUCKET",
    description: "Store files in this bucket of S3, or of a compatible service",
    schema: Bucket,
    default: null,
    fallback: "the data folder"
  }),
  s3Prefix: setting({
    flag: "s3-prefix",
    variable: "SIGNALBOX_S3_PREFIX",
    description: "The prefix of all object names, such as `rooms/invoices/`; unique to the room",
    schema: Prefix,
    default: null,
    fallback: "none"
  }),
  s3Endpoint: setting({
    flag: "s3-endpoint",
    variable: "SIGNALBOX_S3_ENDPOINT",
    description: "The address of the storage service",
    schema: Url,
    default: null,
    fallback: "AWS"
  }),
  s3Region: setting({
    flag: "s3-region",
    variable: "SIGNALBOX_S3_REGION",
    otherVariable: "AWS_REGION",
    description: "The region of the bucket",
    schema: Schema.NonEmptyString,
    default: "us-east-1",
    fallback: "AWS_REGION, else us-east-1"
  }),
  s3PathStyle: setting({
    flag: "s3-path-style",
    variable: "SIGNALBOX_S3_PATH_STYLE",
    description: "Use path-style addresses, with the bucket in the path instead of the host",
    takes: "boolean",
    schema: Switch,
    default: null,
    fallback: "if an endpoint is set"
  }),
  s3AccessKeyId: setting({
    variable: "AWS_ACCESS_KEY_ID",
    description: "The id of the access key of the bucket",
    schema: Schema.NonEmptyString,
    default: null,
    fallback: "none; needed for a bucket"
  }),
  s3SecretAccessKey: setting({
    variable: "AWS_SECRET_ACCESS_KEY",
    description: "The access key of the bucket",
    schema: Secret,
    default: null,
    fallback: "none; needed for a bucket"
  }),
  s3SessionToken: setting({
    variable: "AWS_SESSION_TOKEN",
    description: "The session token of temporary credentials of the bucket, which are not renewed",
    schema: Secret,
    default: null,
    fallback: "none"
  })
}

export type Settings = Setting.Values<typeof storage>

/** Fails where settings contradict each other. */
export const check = Effect.fnUntraced(function* (settings: Settings) {
  if (settings.s3Bucket !== null && s3Options(settings) === null) {
    const missing = settings.s3AccessKeyId === null ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY"
    return yield* new SettingsError({ message: `${missing}: missing; a bucket (--s3-bucket) needs an access key` })
  }
  if (settings.databaseDirectUrl !== null && settings.databaseUrl === null) {
    const message =
      "--database-url or SIGNALBOX_DATABASE_URL: missing; set it to the address of the pooler, or remove --database-direct-url"
    return yield* new SettingsError({ message })
  }
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
    ...defined({
      endpoint: s3Endpoint ?? undefined,
      pathStyle: s3PathStyle ?? undefined,
      prefix: s3Prefix ?? undefined,
      sessionToken: settings.s3SessionToken ?? undefined
    })
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
export const optionsOf = (settings: Settings): StorageOptions => {
  const { data, databaseDirectUrl, databasePassword, databaseUrl, masterKey } = settings
  const s3 = s3Options(settings)
  return {
    data,
    ...defined({
      database:
        databaseUrl === null
          ? undefined
          : {
              url: withPassword(databaseUrl, databasePassword),
              ...defined({
                directUrl: databaseDirectUrl === null ? undefined : withPassword(databaseDirectUrl, databasePassword)
              })
            },
      masterKey: masterKey ?? undefined,
      s3: s3 ?? undefined
    })
  }
}

/** The options of the storage for a command that opens it, by its flags. */
export const read = Effect.fnUntraced(function* (given: Setting.AllGiven) {
  const settings = yield* Setting.read(storage, given)
  yield* check(settings)
  return optionsOf(settings)
})
