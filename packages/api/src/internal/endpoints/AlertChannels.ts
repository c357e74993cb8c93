/**
 * Channels of alerts: where their messages go, and addresses that are called each minute while the service runs. An
 * extension.
 */
import * as Schema from "effect/Schema"
import { CallbackUrl, Deleted, listQuery, Name, OpenEnum, Page, Text, Timestamp } from "../../contract/Common.ts"
import { AlertChannelId, WorkspaceId } from "../../contract/Ids.ts"
import {
  ConflictResponse,
  ForbiddenResponse,
  InvalidRequestResponse,
  NotFoundResponse
} from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export const alertChannelTypes = ["webhook", "slack", "teams", "ntfy", "email", "heartbeat"] as const
export type AlertChannelType = (typeof alertChannelTypes)[number]

export const mailSecurities = ["starttls", "tls", "none"] as const

/** An address that is a secret itself, as those of Slack and Teams are. */
const SecretUrl = Schema.RedactedFromValue(CallbackUrl)

const Secret = Schema.RedactedFromValue(Text.check(Schema.isBetweenLength(1, 4096)))

const Host = Schema.String.check(
  Schema.isMaxLength(253),
  Schema.isPattern(/^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9a-fA-F:]*:[0-9a-fA-F:.]*)$/, {
    message: "Expected the name or the IP address of a mail server, such as smtp.example.com"
  })
)

/** The address of a mailbox, without a name. */
export const MailAddress = Schema.String.check(
  Schema.isMaxLength(254),
  Schema.isPattern(/^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/, {
    message: "Expected an e-mail address such as operations@example.com"
  })
)

/**
 * Settings of a channel, by its type.
 *
 * - `webhook`: a JSON body, signed as the events of webhooks are. `secret` of the response is its secret.
 * - `slack`, `teams`, `ntfy`: the address of an incoming webhook, or of a topic.
 * - `email`: by SMTP. `security` is `starttls` (default, refused without it), `tls` from the first byte, or `none`, which
 *   sends no password. The password is given, or named: `password_from` is an item of a secret of the vault; naming
 *   one needs the permission `Vault.read_secret_values`. `ca` is the certificate, as PEM, by which the certificate of a
 *   private server is verified.
 * - `heartbeat`: an address that is called each minute while this service carries out its alerts; no alert sends to it.
 */
export const AlertChannelSettings = Schema.Union([
  Schema.Struct({ type: Schema.Literal("webhook"), url: CallbackUrl }),
  Schema.Struct({ type: Schema.Literal("slack"), url: SecretUrl }),
  Schema.Struct({ type: Schema.Literal("teams"), url: SecretUrl }),
  Schema.Struct({ type: Schema.Literal("ntfy"), url: SecretUrl, token: Schema.optionalKey(Secret) }),
  Schema.Struct({
    type: Schema.Literal("email"),
    host: Host,
    port: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 })),
    security: Schema.optionalKey(Schema.Literals(mailSecurities)),
    from: MailAddress,
    to: Schema.Array(MailAddress).check(Schema.isBetweenLength(1, 50)),
    username: Schema.optionalKey(Text.check(Schema.isBetweenLength(1, 255))),
    password: Schema.optionalKey(Secret),
    password_from: Schema.optionalKey(Schema.Struct({ secret: Name, item: Name })),
    ca: Schema.optionalKey(Text.check(Schema.isMaxLength(65_536)))
  }),
  Schema.Struct({ type: Schema.Literal("heartbeat"), url: SecretUrl })
])
export type AlertChannelSettings = typeof AlertChannelSettings.Type

/** A channel as it is written; replaces the whole channel. */
export class AlertChannelDefinition extends Struct<AlertChannelDefinition>()({
  name: Name,
  settings: AlertChannelSettings
}) {}

const fields = {
  id: AlertChannelId,
  name: Schema.String,
  type: OpenEnum(alertChannelTypes),
  /** The address of a webhook; of the others what is no secret: origin, or host and port. */
  target: Schema.String,
  /** Of an e-mail channel; null otherwise. Without the password. */
  email: Schema.NullOr(
    Schema.Struct({
      security: OpenEnum(mailSecurities),
      from: Schema.String,
      to: Schema.Array(Schema.String),
      username: Schema.NullOr(Schema.String),
      password_from: Schema.NullOr(Schema.Struct({ secret: Schema.String, item: Schema.String }))
    })
  ),
  created_at: Timestamp,
  /** When something was last sent, or a heartbeat called, with success. */
  last_sent_at: Schema.NullOr(Timestamp),
  last_failed_at: Schema.NullOr(Timestamp),
  /** Why the last attempt failed; null when it succeeded. */
  last_error: Schema.NullOr(Schema.String)
}

export class AlertChannel extends Struct<AlertChannel>("AlertChannel")(fields) {}

/** `secret` is shown only here, when a webhook is made or its secret rotated; null otherwise. */
export class AlertChannelCreated extends Struct<AlertChannelCreated>("AlertChannelCreated")({
  ...fields,
  secret: Schema.NullOr(Schema.RedactedFromValue(Schema.String))
}) {}

const params = { workspace_id: WorkspaceId, channel_id: AlertChannelId }
const path = "/workspaces/:workspace_id/alert-channels"
const one = `${path}/:channel_id` as const

export const get = /* @__PURE__ */ Endpoint.get("getAlertChannel", one, () => ({
  extension: true,
  params,
  success: AlertChannel,
  error: NotFoundResponse
}))

export const list = /* @__PURE__ */ Endpoint.get("listAlertChannels", path, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  query: listQuery,
  success: Page(AlertChannel),
  error: InvalidRequestResponse
}))

const written = [InvalidRequestResponse, NotFoundResponse, ConflictResponse, ForbiddenResponse] as const

export const create = /* @__PURE__ */ Endpoint.post("createAlertChannel", path, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  payload: AlertChannelDefinition,
  success: AlertChannelCreated,
  error: written
}))

export const update = /* @__PURE__ */ Endpoint.post("updateAlertChannel", one, () => ({
  extension: true,
  params,
  payload: AlertChannelDefinition,
  success: AlertChannelCreated,
  error: written
}))

export const rotateSecret = /* @__PURE__ */ Endpoint.post("rotateAlertChannelSecret", `${one}/rotate-secret`, () => ({
  extension: true,
  params,
  success: AlertChannelCreated,
  error: [NotFoundResponse, ConflictResponse]
}))

export const remove = /* @__PURE__ */ Endpoint.delete("deleteAlertChannel", one, () => ({
  extension: true,
  params,
  success: Deleted(AlertChannelId),
  error: [NotFoundResponse, ConflictResponse]
}))
