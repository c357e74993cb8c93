/** A channel while it is edited: the fields of each type, and what is sent. */
import type { AlertChannel, AlertChannelType } from "@signalbox/api/contract/AlertChannels"
import { names } from "../../text/names.ts"
import * as text from "../../text/text.ts"

interface Type {
  readonly label: string
  /** What its address is called; null: it has a mail server instead. */
  readonly address: string | null
  readonly hint: string
  /** The address is a secret, and not shown again. */
  readonly isSecret: boolean
}

export const types: Readonly<Record<AlertChannelType, Type>> = {
  email: { label: text.alerts.channelTypes.email, address: null, hint: "", isSecret: false },
  slack: {
    label: names.slack,
    address: text.alerts.channelTypes.slackUrl,
    hint: text.alerts.channelTypes.secret,
    isSecret: true
  },
  teams: {
    label: names.teams,
    address: text.alerts.channelTypes.teamsUrl,
    hint: text.alerts.channelTypes.teamsHint,
    isSecret: true
  },
  ntfy: {
    label: names.ntfy,
    address: text.alerts.channelTypes.ntfyUrl,
    hint: text.alerts.channelTypes.ntfyHint,
    isSecret: true
  },
  webhook: {
    label: text.alerts.channelTypes.webhook,
    address: text.webhooks.url,
    hint: text.alerts.channelTypes.webhookHint,
    isSecret: false
  },
  heartbeat: {
    label: text.alerts.channelTypes.heartbeat,
    address: text.webhooks.url,
    hint: text.alerts.channelTypes.heartbeatHint,
    isSecret: true
  }
}

export interface ChannelDraft {
  readonly name: string
  readonly type: AlertChannelType
  readonly url: string
  readonly token: string
  readonly host: string
  readonly port: string
  readonly security: string
  readonly from: string
  readonly to: string
  readonly username: string
  readonly password: string
  /** The password is in the vault. */
  readonly isFromVault: boolean
  readonly secret: string
  readonly item: string
  readonly ca: string
}

export const isKnownType = (type: string): type is AlertChannelType => Object.hasOwn(types, type)

export const draftOf = (channel: AlertChannel | undefined): ChannelDraft => {
  const { email = null, name = "", target = "", type = "email" } = channel ?? {}
  const colon = target.lastIndexOf(":")
  return {
    name,
    type: isKnownType(type) ? type : "webhook",
    url: type === "webhook" ? target : "",
    token: "",
    host: email === null ? "" : target.slice(0, colon).replace(/^\[|\]$/g, ""),
    port: email === null ? "587" : target.slice(colon + 1),
    security: email?.security ?? "starttls",
    from: email?.from ?? "",
    to: email?.to.join(", ") ?? "",
    username: email?.username ?? "",
    password: "",
    isFromVault: email !== null && email.password_from !== null,
    secret: email?.password_from?.secret ?? "",
    item: email?.password_from?.item ?? "password",
    ca: ""
  }
}

/** Without a user, or in clear text, no password is sent. */
export const hasPassword = ({ security, username }: ChannelDraft): boolean =>
  security !== "none" && username.trim() !== ""

const passwordOf = ({ isFromVault, item, password, secret }: ChannelDraft): object =>
  isFromVault ? { password_from: { secret: secret.trim(), item: item.trim() } } : password === "" ? {} : { password }

const settingsOf = (draft: ChannelDraft): object => {
  const { type } = draft
  if (type !== "email") {
    return { type, url: draft.url.trim(), token: type === "ntfy" ? draft.token || undefined : undefined }
  }
  return {
    type,
    host: draft.host.trim(),
    port: Number(draft.port),
    security: draft.security,
    from: draft.from.trim(),
    to: draft.to.split(/[,;\s]+/).filter((address) => address !== ""),
    username: draft.username.trim() || undefined,
    ...(hasPassword(draft) ? passwordOf(draft) : {}),
    ca: draft.ca.trim() || undefined
  }
}

/** The body that makes or replaces a channel. */
export const definitionOf = (draft: ChannelDraft): object => ({ name: draft.name.trim(), settings: settingsOf(draft) })
