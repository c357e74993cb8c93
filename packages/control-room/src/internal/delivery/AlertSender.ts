/** Sends the messages of alerts, and calls heartbeats: at least once, with the same id in every attempt. */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import { SecretItems } from "@signalbox/api/contract/Secrets"
import { unhurried } from "@signalbox/sql/QueryDeadline"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { steady } from "../background/BackgroundTask.ts"
import * as Counters from "../telemetry/Counters.ts"
import * as Traces from "../telemetry/Traces.ts"
import { PollInterval } from "../background/PollInterval.ts"
import {
  AlertChannels,
  type ChannelSettings,
  type MailSettings,
  type StoredChannel
} from "../store/notifications/AlertChannels.ts"
import { AlertMessages, type ClaimedMessage, type MessageAttempt } from "../store/notifications/AlertMessages.ts"
import type { Receivers } from "../store/notifications/StoredAlert.ts"
import * as Chunks from "../store/database/Chunks.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { Database } from "../store/database/Database.ts"
import { RoomState } from "../store/room/RoomState.ts"
import { notSentTo, Secrets } from "../store/vault/Secrets.ts"
import { type HttpMessage, requestOf } from "./AlertShapes.ts"
import * as AlertTexts from "./AlertTexts.ts"
import { askedUntil, nextAttemptAt } from "./Backoff.ts"
import { type DeliveryResponse, DeliverySender, NoResponse } from "./DeliverySender.ts"
import { MailSender, type RefusedReceiver } from "./MailSender.ts"
import { TargetGuard } from "./TargetGuard.ts"

/** Concurrent attempts, over all channels. */
const maxAtOnce = 50
/** For how long a message is sent again to a channel that asks for time. */
const patience = 48 * 3600 * 1000
/** Receivers of a mail that an error names. */
const mostNamed = 5
/** How long messages are stored. */
const keepTime = 90 * 24 * 3600 * 1000

const decodeItems = Schema.decodeEffect(Schema.fromJsonString(SecretItems))

/** What came of sending a message: without an error when it arrived, everywhere. */
interface Sent extends Omit<MessageAttempt, "next"> {
  /** Whether it is to be tried again. */
  readonly again: boolean
}

const named = (what: string, receivers: ReadonlyArray<{ readonly address: string; readonly status: number }>) => {
  if (receivers.length === 0) return []
  const first = receivers.slice(0, mostNamed).map(({ address, status }) => `${address} (${status})`)
  const more = receivers.length - first.length
  return [`${first.join(", ")}${more > 0 ? ` and ${more} more` : ""} ${what}`]
}

/** What came of a mail to these receivers, of whom some may have been refused before. */
const mailed = (to: ReadonlyArray<string>, refused: ReadonlyArray<RefusedReceiver>, before: Receivers | null): Sent => {
  const forNow = refused.filter(({ forGood }) => !forGood)
  const forGood = [
    ...(before?.refused ?? []),
    ...refused.filter((one) => one.forGood).map(({ address, status }) => ({ address, status }))
  ]
  const reasons = [...named("permanently", forGood), ...named("temporarily", forNow)]
  const arrived = refused.length < to.length
  return {
    arrived,
    again: forNow.length > 0,
    waitUntil: null,
    error: reasons.length === 0 ? null : `the mail server refused ${reasons.join(", and ")}`,
    // Until one has taken it, it is sent to all.
    receivers:
      forNow.length > 0 && (arrived || before !== null)
        ? { left: forNow.map(({ address }) => address), refused: forGood }
        : null
  }
}

const refusedBy = (status: number): string | null => {
  if (status >= 200 && status < 300) return null
  const redirect = status >= 300 && status < 400 ? "; redirects are not followed, set the final address" : ""
  return `the channel responded with ${status}; 2xx is expected${redirect}`
}

export class AlertSender extends Context.Service<
  AlertSender,
  {
    /** Sends everything that is due, until nothing is. */
    readonly tick: Effect.Effect<void>
    /** Calls every heartbeat that is due. */
    readonly heartbeats: Effect.Effect<void>
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<ClaimedMessage>>
    /** Makes one attempt and records its result. */
    readonly attempt: (claimed: ClaimedMessage) => Effect.Effect<void>
    readonly sweep: Effect.Effect<void>
  }
>()("@signalbox/control-room/delivery/AlertSender") {
  static readonly layer = Layer.effect(
    AlertSender,
    Effect.gen(function* () {
      const { millis, transaction } = yield* Database
      const messages = yield* AlertMessages
      const channels = yield* AlertChannels
      const secrets = yield* Secrets
      const { running } = yield* RoomState
      const guard = yield* TargetGuard
      const sender = yield* DeliverySender
      const mailer = yield* MailSender
      const publicUrl = yield* PublicUrl

      const sendTo = Effect.fnUntraced(function* (request: HttpMessage) {
        const refusal = guard.refuses(request.endpoint)
        if (refusal !== null) return yield* new NoResponse({ message: `the address ${refusal}` })
        return yield* sender({ ...request, lookup: guard.lookup })
      })

      const passwordOf = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        { host, password, passwordFrom }: MailSettings
      ) {
        if (passwordFrom === null) return password
        const { item, secret } = passwordFrom
        const found = yield* secrets.read(workspace, secret)
        const missing = new NoResponse({
          message: `password_from: the vault has no text "${item}" in a secret "${secret}"`
        })
        if (found === null) return yield* missing
        const server = (host.includes(":") ? `[${host}]` : host).toLowerCase()
        if (!found.secret.hosts.includes(server)) {
          return yield* new NoResponse({ message: notSentTo("password_from", secret, server) })
        }
        const items = yield* Effect.mapError(decodeItems(Redacted.value(found.items)), () => missing)
        const value = Redacted.value(items)[item]
        return typeof value === "string" ? value : yield* missing
      })

      /** Leads to the page of the console about the alert. */
      const withLink = (claimed: ClaimedMessage) => {
        const link = `${publicUrl}/console/#/alerts/${claimed.alertId}`
        const { event, text, title } = AlertTexts.gathered(claimed)
        return { ...claimed, title, text, event: JSON.stringify({ ...JSON.parse(event), link }), link }
      }

      const mail = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        settings: MailSettings,
        { id, link, receivers, text, title }: ReturnType<typeof withLink>
      ) {
        const { ca, from, host, port, security, username } = settings
        const to = receivers === null ? settings.to : settings.to.filter((address) => receivers.left.includes(address))
        // The channel has other receivers since.
        if (to.length === 0) return mailed([], [], receivers)
        const password = yield* passwordOf(workspace, settings)
        const auth = username === null || password === null ? null : { username, password }
        const refusal = guard.refuses(`http://${host.includes(":") ? `[${host}]` : host}`)
        if (refusal !== null) return yield* new NoResponse({ message: `the mail server ${refusal}` })
        const refused = yield* mailer({
          host,
          port,
          security,
          auth,
          ca,
          from,
          to,
          id,
          subject: title,
          text: `${text}\n\n${link}`,
          lookup: guard.lookup
        })
        return mailed(to, refused, receivers)
      })

      const send = Effect.fnUntraced(function* (
        told: ClaimedMessage,
        channel: StoredChannel
      ): Effect.fn.Return<Sent, NoResponse> {
        const claimed = withLink(told)
        const settings: ChannelSettings = yield* channels.open(channel)
        switch (settings.type) {
          case "email":
            return yield* mail(channel.workspaceId, settings, claimed)
          case "heartbeat":
            return yield* new NoResponse({ message: "a heartbeat receives no messages" })
          default: {
            const response: DeliveryResponse = yield* sendTo(requestOf(settings, claimed, yield* millis))
            const error = refusedBy(response.status)
            const waitUntil = askedUntil(response, yield* millis)
            return { arrived: error === null, again: error !== null, error, receivers: null, waitUntil }
          }
        }
      })

      const nextOf = Effect.fnUntraced(function* (claimed: ClaimedMessage, sent: Sent) {
        const now = yield* millis
        if (!sent.again) return null
        if (sent.waitUntil === null) return yield* nextAttemptAt(claimed.attempts, now)
        return Date.parse(claimed.createdAt) + patience > now ? sent.waitUntil : null
      })

      const attempt = Effect.fn("AlertSender.attempt")(function* (claimed: ClaimedMessage) {
        const channel = yield* channels.get(claimed.workspaceId, claimed.channelId)
        // Deleted since, and the message with it.
        if (channel === null) return
        // After an attempt that reached nobody, those who are left are the same.
        const sent = yield* Effect.catch(send(claimed, channel), ({ message }) =>
          Effect.succeed<Sent>({
            arrived: false,
            again: true,
            error: message,
            receivers: claimed.receivers,
            waitUntil: null
          })
        )
        const { error } = sent
        const { channelId, workspaceId } = claimed
        yield* transaction(
          Effect.andThen(
            messages.record(claimed, { ...sent, next: yield* nextOf(claimed, sent) }),
            channels.record(workspaceId, channelId, sent)
          )
        )
        yield* Metric.update(sent.arrived ? Counters.alertMessagesSent : Counters.alertMessagesNotSent, 1)
        if (error !== null) {
          yield* Effect.annotateLogs(Effect.logInfo("message of an alert not delivered"), {
            channel: channelId,
            alertMessage: claimed.id,
            attempt: claimed.attempts + 1,
            error
          })
        }
      })
      const interruptible = (claimed: ClaimedMessage) =>
        Effect.onInterrupt(Traces.working(attempt(claimed)), () => messages.release(claimed))

      /** A room that was restored from a backup sends nothing until it is resumed. */
      const claim = (limit: number) =>
        Effect.flatMap(running, (acts) => (acts ? messages.claim(limit) : Effect.succeed([])))

      const call = Effect.fn("AlertSender.heartbeat")(function* (channel: StoredChannel) {
        const settings = yield* channels.open(channel)
        if (settings.type !== "heartbeat") return
        const request = {
          endpoint: settings.url,
          headers: { "user-agent": "Signalbox-Heartbeat/1" },
          body: new Uint8Array(0)
        }
        const error = yield* Effect.match(sendTo(request), {
          onSuccess: ({ status }) => refusedBy(status),
          onFailure: ({ message }) => message
        })
        yield* channels.record(channel.workspaceId, channel.view.id, { arrived: error === null, error })
      })

      return AlertSender.of({
        claim,
        attempt: interruptible,
        tick: Effect.gen(function* () {
          for (;;) {
            const claimed = yield* claim(maxAtOnce)
            if (claimed.length === 0) return
            yield* Effect.forEach(claimed, interruptible, { concurrency: "unbounded", discard: true })
          }
        }).pipe(Effect.withSpan("AlertSender.tick")),
        heartbeats: Effect.flatMap(channels.claimHeartbeats, (due) =>
          Effect.forEach(due, call, { concurrency: 20, discard: true })
        ),
        sweep: Effect.gen(function* () {
          const cutoff = new Date((yield* millis) - keepTime).toISOString()
          yield* Chunks.sweep((limit) => messages.sweep(cutoff, limit))
        })
      })
    })
  )

  /** Sends continuously. */
  static readonly layerRunning = Layer.effectDiscard(
    Effect.gen(function* () {
      const { attempt, claim, sweep } = yield* AlertSender
      const messages = yield* AlertMessages
      const sql = yield* SqlClient.SqlClient
      // A SQLite file belongs to one process: claims found at its start were made by one that has ended.
      yield* sql.onDialectOrElse({ pg: () => Effect.void, orElse: () => messages.releaseAll })
      const underWay = yield* FiberSet.make()
      const recorded = steady("recording messages of alerts")
      yield* Effect.gen(function* () {
        for (const claimed of yield* claim(maxAtOnce - (yield* FiberSet.size(underWay)))) {
          yield* FiberSet.run(underWay, recorded(attempt(claimed)))
        }
      }).pipe(
        steady("sending messages of alerts"),
        Effect.repeat(Schedule.spaced(yield* PollInterval)),
        Effect.forkScoped
      )
      yield* sweep.pipe(
        unhurried,
        steady("deleting old messages of alerts"),
        Effect.repeat(Schedule.spaced("1 hour")),
        Effect.forkScoped
      )
    })
  )
}
