/** `signalbox alert-channels`: where messages of alerts go, and what is called each minute. */
import { AlertChannelDefinition, alertChannelTypes, mailSecurities } from "@signalbox/api/contract/AlertChannels"
import * as AlertChannels from "@signalbox/api/AlertChannels"
import { defined } from "@signalbox/transport/Defined"
import { TaggedError } from "@signalbox/transport/Printed"
import * as SchemaProblem from "@signalbox/transport/SchemaProblem"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../connection/Connection.ts"
import { printFields } from "../output/List.ts"
import { deleteCommand, find, listCommand, type Noun, showCommand } from "./Resource.ts"
import * as FlagValues from "../settings/FlagValues.ts"

/** The flags do not describe a channel. */
export class AlertChannelFlagError extends TaggedError<AlertChannelFlagError>()("AlertChannelFlagError", {
  message: Schema.String
}) {}

export const alertChannelNoun: Noun<AlertChannels.AlertChannel> = {
  one: "alert channel",
  many: "alert channels",
  command: "alert-channels",
  list: () => AlertChannels.stream({ limit: 500 }),
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: {
    id: ({ id }) => id,
    name: ({ name }) => name,
    type: ({ type }) => type,
    target: ({ target }) => target,
    "last sent": ({ last_sent_at }) => last_sent_at ?? "",
    error: ({ last_error }) => last_error ?? ""
  },
  first: "create one with `signalbox alert-channels create`"
}

/** The value of the variable that a flag names, under the name of a setting. */
const fromEnv = Effect.fnUntraced(function* (setting: string, flag: string, variable: Option.Option<string>) {
  if (Option.isNone(variable)) return {}
  const value = yield* Effect.mapError(
    Config.String(variable.value),
    () =>
      new AlertChannelFlagError({
        message: `--${flag}: the environment variable ${variable.value} is not set: set it, or name another`
      })
  )
  return { [setting]: value }
})

const secretItem = (flag: Option.Option<string>) => {
  if (Option.isNone(flag)) return Effect.succeed({})
  const at = flag.value.lastIndexOf("/")
  return at < 1
    ? Effect.fail(
        new AlertChannelFlagError({ message: "--password-from: Expected SECRET/ITEM, such as smtp/password" })
      )
    : Effect.succeed({ password_from: { secret: flag.value.slice(0, at), item: flag.value.slice(at + 1) } })
}

// Without the input in its errors: it may have a secret.
const decodeDefinition = Schema.decodeUnknownEffect(AlertChannelDefinition, {
  reportInput: false,
  onExcessProperty: "error"
})

const printWithSecret = Effect.fnUntraced(function* (
  json: boolean,
  { secret, ...channel }: AlertChannels.AlertChannelCreated
) {
  yield* printFields(json, { ...channel, secret: secret === null ? null : Redacted.value(secret) })
  if (secret !== null) {
    yield* Console.error("The receiver verifies signatures with this secret. Copy it now; it is not shown again.")
  }
})

/** Which flag is missing or wrong: the settings have the names of the flags. */
const problemOf = (type: string, error: Schema.SchemaError): string => {
  const { keys, message } = SchemaProblem.first(error)
  const key = keys[1]
  const flag = typeof key === "string" ? `--${key.replaceAll("_", "-")}: ` : ""
  return message === "Missing key"
    ? `${flag}needed for an alert channel of type ${type}`
    : `${flag}${message}, for an alert channel of type ${type}`
}

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("The name of the channel")),
    type: Argument.Literals("type", alertChannelTypes).pipe(Argument.withDescription("The type of the channel")),
    url: FlagValues.text("url", "The address; use --url-env if it is a secret", "URL"),
    urlEnv: FlagValues.text("url-env", "The variable with the address", "VARIABLE"),
    tokenEnv: FlagValues.text("token-env", "ntfy: the variable with the access token", "VARIABLE"),
    host: FlagValues.text("host", "email: the mail server", "HOST"),
    port: FlagValues.port("port", 1).pipe(
      Flag.withDescription("email: the port of the mail server; default 587"),
      Flag.optional
    ),
    security: Flag.Literals("security", mailSecurities).pipe(
      Flag.withDescription("email: the encryption; default starttls"),
      Flag.optional
    ),
    from: FlagValues.text("from", "email: the sender", "ADDRESS"),
    to: Flag.String("to").pipe(
      Flag.withDescription("email: a recipient; may be repeated"),
      Flag.withMetavar("ADDRESS"),
      Flag.atLeast(0)
    ),
    username: FlagValues.text("username", "email: the user name at the server", "NAME"),
    passwordEnv: FlagValues.text("password-env", "email: the variable with the password", "VARIABLE"),
    passwordFrom: FlagValues.text("password-from", "email: an item of a secret of the vault", "SECRET/ITEM"),
    ca: FlagValues.text("ca", "email: a file with the certificate that verifies the server", "FILE"),
    ...connectionFlags
  },
  Effect.fnUntraced(function* (flags) {
    const { ca, data, json, name, to, type } = flags
    const fs = yield* FileSystem.FileSystem
    const pem = Option.isNone(ca)
      ? {}
      : {
          ca: yield* Effect.mapError(
            fs.readFileString(ca.value),
            () => new AlertChannelFlagError({ message: `--ca: cannot read ${ca.value}` })
          )
        }
    const settings = {
      type,
      ...FlagValues.given("url", flags.url),
      ...(yield* fromEnv("url", "url-env", flags.urlEnv)),
      ...(yield* fromEnv("token", "token-env", flags.tokenEnv)),
      ...FlagValues.given("host", flags.host),
      ...(type === "email" ? { port: Option.getOrElse(flags.port, () => 587) } : FlagValues.given("port", flags.port)),
      ...FlagValues.given("security", flags.security),
      ...FlagValues.given("from", flags.from),
      ...defined({ to: to.length === 0 ? undefined : to }),
      ...FlagValues.given("username", flags.username),
      ...(yield* fromEnv("password", "password-env", flags.passwordEnv)),
      ...(yield* secretItem(flags.passwordFrom)),
      ...pem
    }
    const definition = yield* Effect.mapError(
      decodeDefinition({ name, settings }),
      (error) => new AlertChannelFlagError({ message: problemOf(type, error) })
    )
    yield* printWithSecret(json, yield* connected(data)(AlertChannels.create(definition)))
  })
).pipe(
  Command.withDescription("Creates an alert channel"),
  Command.withExamples([
    {
      command: "signalbox alert-channels create team slack --url-env SLACK_URL",
      description: "Send to a channel of Slack"
    },
    {
      command:
        "signalbox alert-channels create operations email --host smtp.example.com --from robots@example.com --to operations@example.com --username robots --password-from smtp/password",
      description: "Send email, with a password from the vault"
    },
    {
      command: "signalbox alert-channels create receiver webhook --url https://example.com/alerts",
      description: "Send to your program; prints the secret of the signatures"
    },
    {
      command: "signalbox alert-channels create alive heartbeat --url-env PING_URL",
      description: "Call an external monitor every minute, so that it detects an outage"
    }
  ])
)

const rotateSecret = Command.make(
  "rotate-secret",
  {
    channel: Argument.String("channel").pipe(Argument.withDescription("The id or the name of an alert channel")),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ channel, data, json }) {
    const rotated = Effect.flatMap(find(alertChannelNoun, channel), ({ id }) => AlertChannels.rotateSecret(id))
    yield* printWithSecret(json, yield* connected(data)(rotated))
  })
).pipe(
  Command.withDescription(
    "Rotates the secret of a channel of type webhook, and prints the new one; for 24 hours messages are signed with both"
  ),
  Command.withExamples([{ command: "signalbox alert-channels rotate-secret receiver", description: "By its name" }])
)

export const alertChannels = Command.make("alert-channels").pipe(
  Command.withDescription("Lists, shows, creates and deletes alert channels"),
  Command.withSubcommands([
    listCommand(alertChannelNoun),
    showCommand(alertChannelNoun, ({ id }) => AlertChannels.get(id)),
    create,
    rotateSecret,
    deleteCommand(alertChannelNoun, ({ id }) => AlertChannels.remove(id))
  ])
)
