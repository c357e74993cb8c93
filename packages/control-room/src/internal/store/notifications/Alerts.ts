/** Alerts and their firings. */
import type { Alert, AlertDefinition, AlertFiring, FiringState } from "@signalbox/api/contract/Alerts"
import { AlertChannelId, AlertFiringId, type AlertId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, integer, query, queryOne, Row, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AlertQueries from "./AlertQueries.ts"
import * as Chunks from "../database/Chunks.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import {
  type AlertRow,
  alertTable,
  type FiringRow,
  firingTable,
  parseAlert,
  parseFiring,
  type StoredAlert,
  writtenOf
} from "./StoredAlert.ts"

export interface OpenFiring {
  readonly id: AlertFiringId
  readonly subject: string
  readonly state: FiringState
  readonly message: string
  readonly beganAt: string
  readonly endedAt: string | null
  readonly toldAt: string | null
}

export class Alerts extends Context.Service<
  Alerts,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<Alert | null>
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<Alert>>
    /** The alert as it is carried out, locked until the transaction ends. */
    readonly lock: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredAlert | null>
    /** Null when the name is in use. */
    readonly create: (workspace: WorkspaceId, id: AlertId, alert: AlertDefinition) => Effect.Effect<true | null>
    /** Replaces an alert that is locked. With another rule, or enabled again, it watches anew. Null: the name is in use. */
    readonly update: (before: StoredAlert, alert: AlertDefinition) => Effect.Effect<true | null>
    readonly remove: (workspace: WorkspaceId, id: string) => Effect.Effect<boolean>
    readonly mute: (workspace: WorkspaceId, id: AlertId, muted: Alert["muted"]) => Effect.Effect<void>
    readonly firings: (
      workspace: WorkspaceId,
      filter: { readonly alert: AlertId | null; readonly state: FiringState | null },
      page: PageRequest
    ) => Effect.Effect<Rows<AlertFiring>>
    /** Claims alerts whose check is due until then; another node may check them after it. */
    readonly claim: (limit: number, until: string) => Effect.Effect<ReadonlyArray<StoredAlert>>
    /** What the rule of an alert finds now. */
    readonly find: (
      alert: StoredAlert,
      open: ReadonlyArray<OpenFiring>,
      millis: number
    ) => Effect.Effect<ReadonlyArray<AlertQueries.Found>>
    /** The firings of an alert that are not over. */
    readonly open: (alert: StoredAlert) => Effect.Effect<ReadonlyArray<OpenFiring>>
    readonly checkAt: (alert: StoredAlert, at: string) => Effect.Effect<void>
    /** Begins a firing; null when the subject has one already. */
    readonly begin: (
      alert: StoredAlert,
      firing: { readonly subject: string; readonly message: string },
      state: FiringState,
      told: boolean
    ) => Effect.Effect<OpenFiring | null>
    readonly move: (
      alert: StoredAlert,
      firing: OpenFiring,
      changed: {
        readonly state: FiringState
        readonly message: string
        readonly endedAt: string | null
        readonly told: boolean
      }
    ) => Effect.Effect<void>
    /** How many firings are not over, in all workspaces. */
    readonly countOpen: Effect.Effect<number>
    readonly measured: (node: string, usedPercent: number) => Effect.Effect<void>
    /** Deletes firings that were over before `cutoff`, and returns how many. */
    readonly sweep: (cutoff: string, limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/Alerts") {
  static readonly layer = Layer.effect(
    Alerts,
    Effect.gen(function* () {
      const { newId, now, nullWhenTaken, page, sql, transaction } = yield* Database
      const at = (workspace: string, id: string) => sql`workspace_id = ${workspace} AND id = ${id}`
      const of = ({ id, workspaceId }: StoredAlert) => sql`workspace_id = ${workspaceId} AND alert_id = ${id}`
      const select = sql`SELECT ${alertTable.columns} FROM alert`
      const isOpen = sql.literal("state <> 'over'")

      const viewOf = Effect.fnUntraced(function* (row: AlertRow) {
        const alert = parseAlert(row)
        const channels = yield* query(
          Row({ id: id(AlertChannelId), name: text }),
          sql`
            SELECT alert_channel.id, alert_channel.name FROM alert_target JOIN alert_channel
              ON alert_channel.workspace_id = alert_target.workspace_id AND alert_channel.id = alert_target.channel_id
            WHERE alert_target.workspace_id = ${row.workspace_id} AND alert_target.alert_id = ${row.id} ORDER BY place`
        )
        const open = yield* queryOne(
          Row({ n: integer }),
          sql`SELECT count(*) AS n FROM alert_firing WHERE ${of(alert)} AND ${isOpen}`
        )
        const view: Alert = {
          id: alert.id,
          name: alert.name,
          created_at: alert.createdAt,
          enabled: alert.enabled,
          rule: alert.rule,
          channels,
          repeat_seconds: alert.repeatSeconds,
          gather_seconds: alert.gatherSeconds,
          quiet: alert.quiet,
          since: alert.since,
          muted: alert.muted !== null && alert.muted.until > (yield* now) ? alert.muted : null,
          firing: open?.n ?? 0
        }
        return view
      })

      const target = Effect.fnUntraced(function* (workspace: WorkspaceId, id: AlertId, { channels }: AlertDefinition) {
        const ids = [...new Set(channels.map((channel) => channel.id))]
        yield* sql`
          DELETE FROM alert_target WHERE workspace_id = ${workspace} AND alert_id = ${id}
            AND NOT (${sql.in("channel_id", ids)})`
        const rows = ids.map((channel, place) => ({
          workspace_id: workspace,
          alert_id: id,
          channel_id: channel,
          place
        }))
        // Those that stay remember when they were last sent something.
        yield* Chunks.forEach(
          rows,
          (some) => sql`
            INSERT INTO alert_target ${sql.insert(some)}
            ON CONFLICT (workspace_id, alert_id, channel_id) DO UPDATE SET place = excluded.place`
        )
      })

      return Alerts.of({
        get: Effect.fnUntraced(function* (workspace, id) {
          const row = yield* queryOne(alertTable, sql`${select} WHERE ${at(workspace, id)}`)
          return row === null ? null : yield* viewOf(row)
        }),
        list: Effect.fnUntraced(function* (workspace, request) {
          const { hasMore, rows } = yield* page(
            { rows: alertTable, select },
            [sql`workspace_id = ${workspace}`],
            "newest first",
            request
          )
          return { hasMore, rows: yield* Effect.forEach(rows, viewOf) }
        }),
        lock: (workspace, id) =>
          queryOne(alertTable, sql`${select} WHERE ${at(workspace, id)} ${Dialect.forUpdate(sql)}`, parseAlert),
        create: Effect.fnUntraced(function* (workspace, id, alert) {
          const time = yield* now
          const { enabled = true } = alert
          const row = {
            ...writtenOf(alert),
            workspace_id: workspace,
            id,
            created_at: time,
            since: time,
            check_at: enabled ? time : null
          }
          yield* sql`INSERT INTO alert ${alertTable.insert(row)}`
          yield* target(workspace, id, alert)
          return true as const
        }, nullWhenTaken),
        update: Effect.fnUntraced(function* (before, alert) {
          const time = yield* now
          const { enabled = true } = alert
          const written = writtenOf(alert)
          const anew = (enabled && !before.enabled) || JSON.stringify(written.rule) !== JSON.stringify(before.rule)
          const changed = { ...written, check_at: enabled ? time : null, since: anew ? time : undefined }
          yield* sql`UPDATE alert SET ${alertTable.update(changed)} WHERE ${at(before.workspaceId, before.id)}`
          if (anew || !enabled) {
            yield* sql`
              UPDATE alert_firing SET state = 'over', ended_at = coalesce(ended_at, ${time})
              WHERE ${of(before)} AND ${isOpen}`
          }
          yield* target(before.workspaceId, before.id, alert)
          return true as const
        }, nullWhenTaken),
        remove: (workspace, id) =>
          Effect.map(sql`DELETE FROM alert WHERE ${at(workspace, id)} RETURNING id`, (rows) => rows.length === 1),
        mute: Effect.fnUntraced(function* (workspace, id, muted) {
          yield* sql`UPDATE alert SET ${alertTable.update({ muted })} WHERE ${at(workspace, id)}`
        }),
        firings: (workspace, { alert, state }, request) =>
          page(
            {
              rows: firingTable.and({ alert_name: text }),
              select: sql`SELECT ${firingTable.columns}, (
                  SELECT name FROM alert WHERE alert.workspace_id = alert_firing.workspace_id AND alert.id = alert_id
                ) AS alert_name FROM alert_firing`,
              as: parseFiring
            },
            [
              sql`workspace_id = ${workspace}`,
              ...(alert === null ? [] : [sql`alert_id = ${alert}`]),
              ...(state === null ? [] : [sql`state = ${state}`])
            ],
            "newest first",
            request
          ),
        claim: Effect.fnUntraced(function* (limit, until) {
          const rows = yield* query(
            alertTable,
            sql`
              ${select} WHERE check_at <= ${yield* now} ORDER BY check_at LIMIT ${limit}
              ${Dialect.skipLocked(sql, "alert")}`
          )
          for (const { id, workspace_id } of rows) {
            yield* sql`UPDATE alert SET check_at = ${until} WHERE ${at(workspace_id, id)}`
          }
          return rows.map((row) => parseAlert({ ...row, check_at: until }))
        }, transaction),
        find: (alert, open, millis) =>
          AlertQueries.find(sql, alert.rule, {
            workspaceId: alert.workspaceId,
            id: alert.id,
            since: alert.since,
            now: millis,
            open: open.map(({ subject }) => subject)
          }),
        open: (alert) =>
          query(
            firingTable,
            sql`SELECT ${firingTable.columns} FROM alert_firing WHERE ${of(alert)} AND ${isOpen}`,
            (row): OpenFiring => ({
              id: row.id,
              subject: row.subject,
              state: row.state,
              message: row.message,
              beganAt: row.began_at,
              endedAt: row.ended_at,
              toldAt: row.last_told_at
            })
          ),
        checkAt: (alert, time) =>
          Effect.asVoid(sql`UPDATE alert SET check_at = ${time} WHERE ${at(alert.workspaceId, alert.id)}`),
        begin: Effect.fnUntraced(function* (alert, { message, subject }, state, told) {
          const time = yield* now
          const id = AlertFiringId.make(yield* newId)
          const row: FiringRow = {
            workspace_id: alert.workspaceId,
            id,
            alert_id: alert.id,
            state,
            subject,
            message,
            began_at: time,
            ended_at: null,
            last_told_at: told ? time : null,
            last_error: null
          }
          const made =
            yield* sql`INSERT INTO alert_firing ${firingTable.insert(row)} ON CONFLICT DO NOTHING RETURNING id`
          if (made.length === 0) return null
          const firing: OpenFiring = {
            id,
            subject,
            state,
            message,
            beganAt: time,
            endedAt: null,
            toldAt: row.last_told_at
          }
          return firing
        }),
        move: Effect.fnUntraced(function* (alert, { id }, { endedAt, message, state, told }) {
          const changed = { state, message, ended_at: endedAt, last_told_at: told ? yield* now : undefined }
          yield* sql`UPDATE alert_firing SET ${firingTable.update(changed)} WHERE ${at(alert.workspaceId, id)}`
        }),
        countOpen: Effect.map(
          queryOne(Row({ n: integer }), sql`SELECT count(*) AS n FROM alert_firing WHERE ${isOpen}`),
          (row) => row?.n ?? 0
        ),
        measured: Effect.fnUntraced(function* (node, usedPercent) {
          const row = { node, used_percent: usedPercent, measured_at: yield* now }
          yield* sql`
            INSERT INTO node_disk ${sql.insert(row)} ON CONFLICT (node)
            DO UPDATE SET used_percent = excluded.used_percent, measured_at = excluded.measured_at`
        }),
        sweep: (cutoff, limit) =>
          Effect.map(
            sql`DELETE FROM alert_firing WHERE (workspace_id, id) IN (
                SELECT workspace_id, id FROM alert_firing WHERE state = 'over' AND ended_at < ${cutoff}
                ORDER BY ended_at LIMIT ${limit})
              RETURNING id`,
            (rows) => rows.length
          )
      })
    })
  )
}
