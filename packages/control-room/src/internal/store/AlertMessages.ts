/**
 * Messages of alerts on their way to a channel, over all attempts. An attempt is claimed before it is made, so that no two
 * are concurrent; the claim of a killed node expires, and the message is sent again with the same id.
 */
import type { AlertMessage, AlertMessageKind } from "@signalbox/api/contract/Alerts"
import { type AlertFiringId, AlertId, AlertMessageId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AlertTiming } from "../PollInterval.ts"
import { Database, type PageRequest, type Rows } from "./Database.ts"
import { type MessageRow, parseMessage, type StoredAlert } from "./StoredAlert.ts"

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

/** A message whose next attempt the caller has claimed. */
export interface ClaimedMessage {
  readonly workspaceId: WorkspaceId
  readonly id: AlertMessageId
  readonly channelId: string
  readonly firingId: string | null
  readonly title: string
  readonly text: string
  /** JSON: the body for webhooks. */
  readonly event: string
  readonly attempts: number
  readonly claim: string
}

export class AlertMessages extends Context.Service<
  AlertMessages,
  {
    readonly list: (workspace: WorkspaceId, alert: AlertId, page: PageRequest) => Effect.Effect<Rows<AlertMessage>>
    /** Creates a message for each channel of the alert, due at once. */
    readonly create: (alert: StoredAlert, message: NewMessage) => Effect.Effect<ReadonlyArray<AlertMessage>>
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<ClaimedMessage>>
    readonly release: (claimed: ClaimedMessage) => Effect.Effect<void>
    /** Releases every claim: for the start of a service that is alone on the database. */
    readonly releaseAll: Effect.Effect<void>
    /** Records an attempt, also at its firing. `next`: of the next attempt; null: it is given up. */
    readonly record: (claimed: ClaimedMessage, error: string | null, next: string | null) => Effect.Effect<void>
    /** Deletes messages made before `cutoff` that are not pending, and returns how many. */
    readonly sweep: (cutoff: string, limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/AlertMessages") {
  static readonly layer = Layer.effect(
    AlertMessages,
    Effect.gen(function* () {
      const { millis, newId, now, page, sql, transaction } = yield* Database
      const { claim: claimTime } = yield* AlertTiming
      const at = ({ claim, id, workspaceId }: ClaimedMessage) =>
        sql`workspace_id = ${workspaceId} AND id = ${id} AND claim = ${claim}`

      return AlertMessages.of({
        list: (workspace, alert, request) =>
          Effect.map(
            page<MessageRow & { readonly channel_name: string }>(
              sql`SELECT alert_message.*, (
                  SELECT name FROM alert_channel
                  WHERE alert_channel.workspace_id = alert_message.workspace_id AND alert_channel.id = channel_id
                ) AS channel_name FROM alert_message`,
              [sql`workspace_id = ${workspace}`, sql`alert_id = ${alert}`],
              "newest first",
              request
            ),
            ({ hasMore, rows }) => ({ hasMore, rows: rows.map(parseMessage) })
          ),
        create: Effect.fnUntraced(function* (alert, { firing, kind, text, title }) {
          const time = yield* now
          const channels = yield* sql<{ readonly id: string; readonly name: string }>`
            SELECT alert_channel.id, alert_channel.name FROM alert_target JOIN alert_channel
              ON alert_channel.workspace_id = alert_target.workspace_id AND alert_channel.id = alert_target.channel_id
            WHERE alert_target.workspace_id = ${alert.workspaceId} AND alert_target.alert_id = ${alert.id}
            ORDER BY place`
          const made: Array<AlertMessage> = []
          for (const channel of channels) {
            const id = yield* newId
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
              next_attempt_at: time,
              error: null
            }
            yield* sql`INSERT INTO alert_message ${sql.insert({ ...row })}`
            made.push(parseMessage({ ...row, channel_name: channel.name }))
          }
          return made
        }, Effect.orDie),
        claim: Effect.fnUntraced(
          function* (limit) {
            const time = yield* millis
            const until = new Date(time + Duration.toMillis(claimTime)).toISOString()
            const due = yield* sql<{ readonly workspace_id: string; readonly channel_id: string }>`
              SELECT DISTINCT workspace_id, channel_id FROM alert_message
              WHERE state = 'pending' AND next_attempt_at <= ${new Date(time).toISOString()}`
            const claimed: Array<ClaimedMessage> = []
            for (const { channel_id, workspace_id } of due) {
              const [busy] = yield* sql<{ readonly n: number }>`
                SELECT count(*) AS n FROM alert_message
                WHERE workspace_id = ${workspace_id} AND channel_id = ${channel_id} AND state = 'pending'
                  AND claim IS NOT NULL AND next_attempt_at > ${new Date(time).toISOString()}`
              const free = Math.min(perChannel - (busy?.n ?? 0), limit - claimed.length)
              if (free <= 0) continue
              const rows = yield* sql<MessageRow>`
                SELECT * FROM alert_message
                WHERE workspace_id = ${workspace_id} AND channel_id = ${channel_id} AND state = 'pending'
                  AND next_attempt_at <= ${new Date(time).toISOString()}
                ORDER BY next_attempt_at, id LIMIT ${free} ${Dialect.skipLocked(sql, "alert_message")}`
              for (const row of rows) {
                const claim = yield* newId
                // Due again when the claim expires.
                yield* sql`
                  UPDATE alert_message SET claim = ${claim}, next_attempt_at = ${until}
                  WHERE workspace_id = ${row.workspace_id} AND id = ${row.id}`
                claimed.push({
                  workspaceId: WorkspaceId.make(row.workspace_id),
                  id: AlertMessageId.make(row.id),
                  channelId: row.channel_id,
                  firingId: row.firing_id,
                  title: row.title,
                  text: row.text,
                  event: row.event,
                  attempts: row.attempts,
                  claim
                })
              }
            }
            return claimed
          },
          Effect.orDie,
          transaction
        ),
        release: Effect.fnUntraced(function* (claimed) {
          yield* sql`UPDATE alert_message SET claim = NULL, next_attempt_at = ${yield* now} WHERE ${at(claimed)}`
        }, Effect.orDie),
        releaseAll: Effect.gen(function* () {
          yield* sql`UPDATE alert_message SET claim = NULL, next_attempt_at = ${yield* now} WHERE claim IS NOT NULL`
        }).pipe(Effect.orDie),
        record: Effect.fnUntraced(
          function* (claimed, error, next) {
            const changed = {
              state: error === null ? "delivered" : next === null ? "failed" : "pending",
              attempts: claimed.attempts + 1,
              last_attempt_at: yield* now,
              next_attempt_at: error === null ? null : next,
              error,
              claim: null
            }
            const rows = yield* sql`UPDATE alert_message SET ${sql.update(changed)} WHERE ${at(claimed)} RETURNING id`
            // Another node has claimed it since.
            if (rows.length === 0 || claimed.firingId === null) return
            yield* sql`
              UPDATE alert_firing SET ${sql.update({ last_error: error })}
              WHERE workspace_id = ${claimed.workspaceId} AND id = ${claimed.firingId}`
          },
          Effect.orDie,
          transaction
        ),
        sweep: (cutoff, limit) =>
          Effect.orDie(
            Effect.map(
              sql`DELETE FROM alert_message WHERE (workspace_id, id) IN (
                  SELECT workspace_id, id FROM alert_message WHERE created_at < ${cutoff} AND state <> 'pending'
                  ORDER BY created_at LIMIT ${limit})
                RETURNING id`,
              (rows) => rows.length
            )
          )
      })
    })
  )
}
