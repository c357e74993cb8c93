/**
 * Messages of alerts on their way to a channel, over all attempts. An attempt is claimed before it is made, so that no two
 * are concurrent; the claim of a killed node expires, and the message is sent again with the same id. What is waiting of one
 * alert for one channel is sent as one message: the newest, which stands for the others (`sent_with`). What some receivers
 * have got is sent again to the others alone, for itself.
 */
import type { AlertChannelType } from "@signalbox/api/contract/AlertChannels"
import type { AlertMessage, AlertMessageKind } from "@signalbox/api/contract/Alerts"
import {
  AlertChannelId,
  type AlertFiringId,
  type AlertId,
  AlertMessageId,
  type WorkspaceId
} from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import { flag, id, integer, nullable, query, queryOne, Row, text, word } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AlertTiming } from "../../background/PollInterval.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { type MessageRow, messageTable, parseMessage, type Receivers, type StoredAlert } from "./StoredAlert.ts"

/** The most concurrent attempts to one channel. */
const perChannel = 4

export interface NewMessage {
  readonly kind: AlertMessageKind
  readonly firing: {
    readonly id: AlertFiringId
    readonly subject: string
    readonly began_at: string
    readonly ended_at: string | null
  } | null
  readonly title: string
  readonly text: string
}

export interface MessageAttempt {
  /** Whether the channel took it, for one receiver at least. */
  readonly arrived: boolean
  /** What went wrong; null when all have it. */
  readonly error: string | null
  /** Of the next attempt; null: there is none. */
  readonly next: string | null
  /** For the next attempt; null: it goes to all. */
  readonly receivers: Receivers | null
  /** Until when the channel asked to be sent nothing; then the attempt does not count. */
  readonly waitUntil: string | null
}

/** What a message says. */
export interface MessageText {
  readonly title: string
  readonly text: string
  /** JSON: the body for webhooks. */
  readonly event: string
}

/** A message whose next attempt the caller has claimed; it may stand for many. */
export interface ClaimedMessage {
  readonly workspaceId: WorkspaceId
  readonly id: AlertMessageId
  readonly alertId: AlertId
  readonly channelId: string
  readonly isTest: boolean
  /** The name of the alert. */
  readonly alert: string
  /** The kinds of all that it stands for, in their order. */
  readonly kinds: ReadonlyArray<AlertMessageKind>
  /** The first of them. */
  readonly first: ReadonlyArray<MessageText>
  /** The last of them: the message itself. */
  readonly newest: MessageText
  readonly createdAt: string
  readonly attempts: number
  /** Null: all of the channel. */
  readonly receivers: Receivers | null
  readonly claim: string
}

const dueRow = messageTable.pick("workspace_id", "channel_id", "alert_id").and({
  /** The id of a message that is sent for itself: a test, or one that some have got. */
  alone: nullable(text),
  is_test: flag,
  channel_type: word<AlertChannelType>()
})

const waitingRow = messageTable.pick("id", "kind", "firing_id")

const targetRow = Row({ id: id(AlertChannelId), name: text, last_sent_at: nullable(text), wait_until: nullable(text) })

/** Firings that a message for many names. */
const mostNamed = 10

const later = (time: string, seconds: number) => new Date(Date.parse(time) + seconds * 1000).toISOString()

const latest = (times: ReadonlyArray<string>) => times.reduce((one, other) => (one > other ? one : other))

/** The last message of each firing, which has made those before it untrue; in their order. */
const newestOf = <A extends Pick<MessageRow, "id" | "firing_id">>(messages: ReadonlyArray<A>): ReadonlyArray<A> => {
  const newest = new Map(messages.map((message) => [message.firing_id ?? message.id, message.id]))
  return messages.filter(({ firing_id, id }) => newest.get(firing_id ?? id) === id)
}

export class AlertMessages extends Context.Service<
  AlertMessages,
  {
    readonly list: (workspace: WorkspaceId, alert: AlertId, page: PageRequest) => Effect.Effect<Rows<AlertMessage>>
    /** Creates a message for each channel of the alert, due when the channel may get one of this alert. */
    readonly create: (alert: StoredAlert, message: NewMessage) => Effect.Effect<ReadonlyArray<AlertMessage>>
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<ClaimedMessage>>
    readonly release: (claimed: ClaimedMessage) => Effect.Effect<void>
    /** Releases every claim: for the start of a service that is alone on the database. */
    readonly releaseAll: Effect.Effect<void>
    /** Records an attempt, also of what it stands for and at their firings. */
    readonly record: (claimed: ClaimedMessage, attempt: MessageAttempt) => Effect.Effect<void>
    /** Deletes messages made before `cutoff` that are not pending, and returns how many. */
    readonly sweep: (cutoff: string, limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/AlertMessages") {
  static readonly layer = Layer.effect(
    AlertMessages,
    Effect.gen(function* () {
      const { millis, newId, now, page, sql, transaction } = yield* Database
      const timing = yield* AlertTiming
      const at = ({ claim, id, workspaceId }: ClaimedMessage) =>
        sql`workspace_id = ${workspaceId} AND id = ${id} AND claim = ${claim}`

      return AlertMessages.of({
        list: (workspace, alert, request) =>
          page(
            {
              rows: messageTable.and({ channel_name: text }),
              select: sql`SELECT ${messageTable.columns}, (
                  SELECT name FROM alert_channel
                  WHERE alert_channel.workspace_id = alert_message.workspace_id AND alert_channel.id = channel_id
                ) AS channel_name FROM alert_message`,
              as: parseMessage
            },
            [sql`workspace_id = ${workspace}`, sql`alert_id = ${alert}`],
            "newest first",
            request
          ),
        create: Effect.fnUntraced(function* (alert, { firing, kind, text, title }) {
          const time = yield* now
          const channels = yield* query(
            targetRow,
            sql`
              SELECT alert_channel.id, alert_channel.name, alert_target.last_sent_at, alert_channel.wait_until FROM alert_target JOIN alert_channel
                ON alert_channel.workspace_id = alert_target.workspace_id AND alert_channel.id = alert_target.channel_id
              WHERE alert_target.workspace_id = ${alert.workspaceId} AND alert_target.alert_id = ${alert.id}
              ORDER BY place`
          )
          const made: Array<AlertMessage> = []
          for (const channel of channels) {
            const gathered =
              kind === "test" || channel.last_sent_at === null ? time : later(channel.last_sent_at, alert.gatherSeconds)
            const id = AlertMessageId.make(yield* newId)
            const event = {
              id,
              type: `alert.${kind}`,
              timestamp: time,
              workspace_id: alert.workspaceId,
              alert: { id: alert.id, name: alert.name, rule: alert.rule.type },
              firing,
              text
            }
            const row: MessageRow = {
              workspace_id: alert.workspaceId,
              id,
              alert_id: alert.id,
              firing_id: firing?.id ?? null,
              channel_id: channel.id,
              kind,
              title,
              text,
              event: JSON.stringify(event),
              state: "pending",
              created_at: time,
              attempts: 0,
              last_attempt_at: null,
              next_attempt_at: latest([time, gathered, channel.wait_until ?? time]),
              error: null,
              claim: null,
              receivers: null
            }
            yield* sql`INSERT INTO alert_message ${messageTable.insert(row)}`
            made.push(parseMessage({ ...row, channel_name: channel.name }))
          }
          return made
        }),
        claim: Effect.fnUntraced(function* (limit) {
          const time = yield* millis
          const iso = new Date(time).toISOString()
          // What is due of each alert to each channel; a test and what some have got are for themselves.
          const due = yield* query(
            dueRow,
            sql`
              SELECT workspace_id, channel_id, alert_id, alone, max(is_test) AS is_test, (
                SELECT type FROM alert_channel
                WHERE alert_channel.workspace_id = due.workspace_id AND alert_channel.id = channel_id
              ) AS channel_type
              FROM (
                SELECT workspace_id, channel_id, alert_id, next_attempt_at, id,
                  CASE WHEN kind = 'test' THEN 1 ELSE 0 END AS is_test,
                  CASE WHEN kind = 'test' OR receivers IS NOT NULL THEN id END AS alone
                FROM alert_message WHERE state = 'pending' AND next_attempt_at <= ${iso}
              ) AS due
              GROUP BY workspace_id, channel_id, alert_id, alone
              ORDER BY min(next_attempt_at), min(id)`
          )
          const claimed: Array<ClaimedMessage> = []
          for (const { alert_id, alone, channel_id, channel_type, is_test: isTest, workspace_id } of due) {
            if (claimed.length >= limit) break
            // No other node looks at the messages of this alert now, and no check makes new ones.
            const alert = yield* queryOne(
              Row({ name: text }),
              sql`
                SELECT name FROM alert WHERE workspace_id = ${workspace_id} AND id = ${alert_id}
                ${Dialect.skipLocked(sql, "alert")}`
            )
            if (alert === null) continue
            const ofChannel = sql`workspace_id = ${workspace_id} AND channel_id = ${channel_id} AND state = 'pending'`
            const underWay = yield* query(
              messageTable.pick("alert_id", "kind"),
              sql`
                SELECT alert_id, kind FROM alert_message
                WHERE ${ofChannel} AND claim IS NOT NULL AND next_attempt_at > ${iso}`
            )
            if (underWay.length >= perChannel) continue
            // One at a time, so that they arrive in order.
            if (!isTest && underWay.some((other) => other.alert_id === alert_id && other.kind !== "test")) continue
            const these = sql`${ofChannel} AND alert_id = ${alert_id}
                AND ${alone === null ? sql.literal("kind <> 'test' AND receivers IS NULL") : sql`(id = ${alone} OR sent_with = ${alone})`}`
            // What a newer message to all has made untrue is not sent to the rest.
            const waiting = yield* query(
              waitingRow,
              sql`
                SELECT id, kind, firing_id FROM alert_message WHERE ${these} AND (receivers IS NULL OR NOT EXISTS (
                  SELECT 1 FROM alert_message AS newer
                  WHERE newer.workspace_id = alert_message.workspace_id AND newer.alert_id = alert_message.alert_id
                    AND newer.channel_id = alert_message.channel_id AND newer.firing_id = alert_message.firing_id
                    AND newer.id > alert_message.id))
                ORDER BY id`
            )
            const said = newestOf(waiting)
            const lead = said.at(-1)
            if (lead === undefined) {
              yield* sql`UPDATE alert_message SET state = 'delivered', next_attempt_at = NULL WHERE ${these}`
              continue
            }
            const first = said.slice(0, mostNamed).map(({ id }) => id)
            const rows = yield* query(
              messageTable,
              sql`
                SELECT ${messageTable.columns} FROM alert_message
                WHERE workspace_id = ${workspace_id} AND ${sql.in("id", [lead.id, ...first])} ORDER BY id`
            )
            const row = rows.at(-1)
            if (row === undefined) continue
            const claim = yield* newId
            yield* sql`
                UPDATE alert_message SET claim = NULL, next_attempt_at = NULL, sent_with = ${lead.id}
                WHERE ${these} AND id <> ${lead.id}`
            // Due again when the claim expires.
            const claimTime = channel_type === "email" ? timing.claimMail : timing.claim
            const until = new Date(time + Duration.toMillis(claimTime)).toISOString()
            yield* sql`
                UPDATE alert_message SET claim = ${claim}, next_attempt_at = ${until}, sent_with = NULL
                WHERE workspace_id = ${workspace_id} AND id = ${lead.id}`
            claimed.push({
              workspaceId: workspace_id,
              id: row.id,
              alertId: alert_id,
              channelId: channel_id,
              isTest,
              createdAt: row.created_at,
              attempts: row.attempts,
              receivers: row.receivers,
              claim,
              alert: alert.name,
              kinds: said.map(({ kind }) => kind),
              first: rows.slice(0, mostNamed),
              newest: row
            })
          }
          return claimed
        }, transaction),
        release: Effect.fnUntraced(function* (claimed) {
          yield* sql`UPDATE alert_message SET claim = NULL, next_attempt_at = ${yield* now} WHERE ${at(claimed)}`
        }),
        releaseAll: Effect.gen(function* () {
          yield* sql`UPDATE alert_message SET claim = NULL, next_attempt_at = ${yield* now} WHERE claim IS NOT NULL`
        }),
        record: Effect.fnUntraced(function* (claimed, { arrived, error, next, receivers, waitUntil }) {
          const { alertId, channelId, id, workspaceId } = claimed
          const time = yield* now
          const state: MessageRow["state"] =
            next !== null ? "pending" : arrived || claimed.receivers !== null ? "delivered" : "failed"
          const changed = {
            state,
            attempts: claimed.attempts + (waitUntil === null ? 1 : 0),
            last_attempt_at: time,
            error,
            receivers,
            claim: null
          }
          // In the order of the checks: the alert first.
          const alert = yield* queryOne(
            Row({ gather_seconds: integer }),
            sql`
              SELECT gather_seconds FROM alert WHERE workspace_id = ${workspaceId} AND id = ${alertId}
              ${Dialect.forUpdate(sql)}`
          )
          const rows = yield* sql`
              UPDATE alert_message SET ${messageTable.update({ ...changed, next_attempt_at: next })}
              WHERE ${at(claimed)} RETURNING id`
          // Another node has claimed it since.
          if (alert === null || rows.length === 0) return
          yield* sql`
              UPDATE alert_message SET ${messageTable.update(changed)}
              WHERE workspace_id = ${workspaceId} AND sent_with = ${id} AND state = 'pending'`
          yield* sql`
              UPDATE alert_firing SET ${sql.update({ last_error: error })}
              WHERE workspace_id = ${workspaceId} AND id IN (
                SELECT firing_id FROM alert_message
                WHERE workspace_id = ${workspaceId} AND (id = ${id} OR sent_with = ${id}))`
          if (waitUntil !== null) {
            yield* sql`UPDATE alert_channel SET wait_until = ${waitUntil} WHERE workspace_id = ${workspaceId} AND id = ${channelId}`
            yield* sql`
                UPDATE alert_message SET next_attempt_at = ${waitUntil}
                WHERE workspace_id = ${workspaceId} AND channel_id = ${channelId} AND state = 'pending'
                  AND next_attempt_at < ${waitUntil} AND claim IS NULL`
          }
          if (!arrived || claimed.isTest) return
          yield* sql`
              UPDATE alert_target SET last_sent_at = ${time}
              WHERE workspace_id = ${workspaceId} AND alert_id = ${alertId} AND channel_id = ${channelId}`
          const earliest = later(time, alert.gather_seconds)
          yield* sql`
              UPDATE alert_message SET next_attempt_at = ${earliest}
              WHERE workspace_id = ${workspaceId} AND channel_id = ${channelId} AND state = 'pending'
                AND next_attempt_at < ${earliest} AND alert_id = ${alertId} AND kind <> 'test' AND receivers IS NULL`
        }, transaction),
        sweep: (cutoff, limit) =>
          Effect.map(
            sql`DELETE FROM alert_message WHERE (workspace_id, id) IN (
                SELECT workspace_id, id FROM alert_message WHERE created_at < ${cutoff} AND state <> 'pending'
                ORDER BY created_at LIMIT ${limit})
              RETURNING id`,
            (rows) => rows.length
          )
      })
    })
  )
}
