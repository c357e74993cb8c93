/** Channels of alerts. */
import type {
  AlertChannelCreated,
  AlertChannelDefinition,
  AlertChannelSettings
} from "@signalbox/api/contract/AlertChannels"
import { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import { AlertChannelId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { randomBytes, X509Certificate } from "node:crypto"
import { TargetGuard } from "../delivery/TargetGuard.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { conflict, forbidden, invalidRequest, notFound, orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { need } from "../edge/Permissions.ts"
import { rotationTime } from "../store/notifications/Webhooks.ts"
import { AlertChannels, type ChannelSettings, type MailSettings } from "../store/notifications/AlertChannels.ts"
import { Database } from "../store/database/Database.ts"

const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`

/** Whether a text has certificates as PEM, all of which can be read. */
const isCertificates = (pem: string) => {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return (
    certificates.length > 0 && certificates.every((one) => Result.isSuccess(Result.try(() => new X509Certificate(one))))
  )
}

type Email = Extract<AlertChannelSettings, { readonly type: "email" }>

export const layer = Endpoints.group(
  "alertChannels",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* AlertChannels
    const guard = yield* TargetGuard
    const { millis, newId, transaction } = yield* Database
    const { page } = yield* Pagination

    interface Params {
      readonly workspace_id: WorkspaceId
      readonly channel_id: AlertChannelId
    }
    const find = (params: Params) =>
      orNotFound("alert channel", params.channel_id, store.get(params.workspace_id, params.channel_id))

    const lock = (params: Params) =>
      orNotFound("alert channel", params.channel_id, store.lock(params.workspace_id, params.channel_id))

    /** Whoever names a secret sends it to a server of his choice. */
    const mayReadSecrets = need(
      "Vault.read_secret_values",
      "settings.password_from: the password is sent to the mail server"
    )

    const target = (field: string, url: string) => {
      const refusal = guard.refuses(url)
      return refusal === null ? Effect.void : Effect.fail(invalidRequest(`settings.${field}: ${refusal}`))
    }

    /** The password after a request: a new one, or the one before, which never goes to another server. */
    const passwordAfter = Effect.fnUntraced(function* (email: Email, before: ChannelSettings | null) {
      if (email.password !== undefined) return Redacted.value(email.password)
      if (email.username === undefined || email.password_from !== undefined) return null
      const known = before?.type === "email" ? before : null
      const same =
        known !== null &&
        known.host === email.host &&
        known.port === email.port &&
        known.username === email.username &&
        known.security === (email.security ?? "starttls")
      const kept = same ? known.password : null
      return (
        kept ??
        (yield* invalidRequest(
          "settings.password: needed for a user name, and with another server or security needed again; or name a secret as password_from"
        ))
      )
    })

    const emailOf = Effect.fnUntraced(function* (email: Email, before: ChannelSettings | null) {
      const { ca = null, from, host, password, password_from, port, security = "starttls", to, username = null } = email
      yield* target("host", `http://${host.includes(":") ? `[${host}]` : host}`)
      if (password !== undefined && password_from !== undefined) {
        return yield* invalidRequest("settings.password_from: Expected one of password and password_from")
      }
      if (username === null && (password !== undefined || password_from !== undefined)) {
        return yield* invalidRequest("settings.username: needed with a password")
      }
      if (username !== null && security === "none") {
        return yield* invalidRequest("settings.security: a password is not sent without TLS; use starttls or tls")
      }
      if (ca !== null && !isCertificates(ca)) {
        return yield* invalidRequest(
          "settings.ca: Expected one or more certificates as PEM, each from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----"
        )
      }
      if (password_from !== undefined) yield* mayReadSecrets
      const settings: MailSettings = {
        type: "email",
        host,
        port,
        security,
        from,
        to,
        username,
        password: yield* passwordAfter(email, before),
        passwordFrom: password_from ?? null,
        ca
      }
      return settings
    })

    const settingsOf = Effect.fnUntraced(function* (
      { settings }: AlertChannelDefinition,
      before: ChannelSettings | null
    ): Effect.fn.Return<
      ChannelSettings,
      ReturnType<typeof invalidRequest> | ReturnType<typeof forbidden>,
      CurrentPrincipal
    > {
      switch (settings.type) {
        case "email":
          return yield* emailOf(settings, before)
        case "webhook": {
          yield* target("url", settings.url)
          return before?.type === "webhook"
            ? { ...before, url: settings.url }
            : { type: settings.type, url: settings.url, secret: newSecret() }
        }
        case "ntfy": {
          const url = Redacted.value(settings.url)
          yield* target("url", url)
          if (!/\/[^/]+\/?$/.test(new URL(url).pathname)) {
            return yield* invalidRequest("settings.url: Expected the address of a topic, such as https://ntfy.sh/topic")
          }
          return {
            type: settings.type,
            url,
            token: settings.token === undefined ? null : Redacted.value(settings.token)
          }
        }
        default: {
          const url = Redacted.value(settings.url)
          yield* target("url", url)
          return { type: settings.type, url }
        }
      }
    })

    const write = Effect.fnUntraced(function* (
      { channel_id, workspace_id }: Params,
      name: string,
      settings: ChannelSettings,
      before: ChannelSettings | null
    ) {
      if ((yield* store.put(workspace_id, channel_id, name, settings, before === null)) === null) {
        return yield* conflict(
          `name: an alert channel "${name}" already exists; choose another name or change that one`
        )
      }
      const { view } = yield* find({ channel_id, workspace_id })
      const known = before?.type === "webhook" ? before.secret : null
      const made = settings.type === "webhook" && settings.secret !== known
      const created: AlertChannelCreated = { ...view, secret: made ? Redacted.make(settings.secret) : null }
      return created
    })

    const put = Effect.fnUntraced(function* (
      params: Params,
      payload: AlertChannelDefinition,
      before: ChannelSettings | null
    ) {
      const settings = yield* settingsOf(payload, before)
      return yield* write(params, payload.name, settings, before)
    })

    return handlers.handleAll({
      getAlertChannel: ({ params }) => Effect.map(find(params), ({ view }) => view),
      listAlertChannels: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createAlertChannel: Effect.fnUntraced(function* ({ params, payload }) {
        const channel_id = AlertChannelId.make(yield* newId)
        return yield* put({ ...params, channel_id }, payload, null)
      }, transaction),
      updateAlertChannel: Effect.fnUntraced(function* ({ params, payload }) {
        const before = yield* Effect.flatMap(lock(params), store.open)
        if (before.type === "heartbeat" || payload.settings.type !== "heartbeat") {
          return yield* put(params, payload, before)
        }
        const alert = yield* store.usedBy(params.workspace_id, params.channel_id)
        return alert === null
          ? yield* put(params, payload, before)
          : yield* conflict(`settings.type: the alert "${alert}" uses this channel; a heartbeat receives no messages`)
      }, transaction),
      rotateAlertChannelSecret: Effect.fnUntraced(function* ({ params }) {
        const channel = yield* lock(params)
        const before = yield* store.open(channel)
        if (before.type !== "webhook") {
          return yield* conflict(`an alert channel of type ${before.type} has no secret to rotate; change its settings`)
        }
        const until = (yield* millis) + Duration.toMillis(rotationTime)
        const settings = { ...before, secret: newSecret(), previous: { secret: before.secret, until } }
        return yield* write(params, channel.view.name, settings, before)
      }, transaction),
      deleteAlertChannel: Effect.fnUntraced(function* ({ params }) {
        const alert = yield* store.usedBy(params.workspace_id, params.channel_id)
        if (alert !== null) {
          return yield* conflict(`the alert "${alert}" uses this channel; remove it from the alert first`)
        }
        if (!(yield* store.remove(params.workspace_id, params.channel_id))) {
          return yield* notFound("alert channel", params.channel_id)
        }
        return { id: params.channel_id, deleted: true } as const
      }, transaction)
    })
  })
)
