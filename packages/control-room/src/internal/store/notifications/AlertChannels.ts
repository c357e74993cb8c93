/** Channels of alerts. Their settings have secrets and addresses that are secrets, so they are sealed. */
import type { AlertChannel, AlertChannelType } from "@signalbox/api/contract/AlertChannels"
import { AlertChannelId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, json, nullable, query, queryOne, Row, Table, text, word } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { Seal } from "../vault/Seal.ts"

export interface MailSettings {
  readonly type: "email"
  readonly host: string
  readonly port: number
  readonly security: "starttls" | "tls" | "none"
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly username: string | null
  readonly password: string | null
  readonly passwordFrom: { readonly secret: string; readonly item: string } | null
  readonly ca: string | null
}

/** The settings of a channel, opened. Never part of an error, a log or a span. */
export type ChannelSettings =
  | {
      readonly type: "webhook"
      readonly url: string
      readonly secret: string
      /** The secret before, with which messages are signed too until then (milliseconds since 1970). */
      readonly previous?: { readonly secret: string; readonly until: number } | undefined
    }
  | { readonly type: "slack" | "teams"; readonly url: string }
  | { readonly type: "heartbeat"; readonly url: string }
  | { readonly type: "ntfy"; readonly url: string; readonly token: string | null }
  | MailSettings

const channelTable = Table("alert_channel", {
  workspace_id: id(WorkspaceId),
  id: id(AlertChannelId),
  name: text,
  type: word<AlertChannelType>(),
  target: text,
  email: nullable(json<NonNullable<AlertChannel["email"]>>()),
  /** Sealed. */
  settings: text,
  created_at: text,
  last_sent_at: nullable(text),
  last_failed_at: nullable(text),
  last_error: nullable(text),
  next_call_at: nullable(text)
})
type ChannelRow = typeof channelTable.Type

export interface StoredChannel {
  readonly workspaceId: WorkspaceId
  readonly view: AlertChannel
  readonly sealed: string
}

const parse = (row: ChannelRow): StoredChannel => ({
  workspaceId: row.workspace_id,
  view: {
    id: row.id,
    name: row.name,
    type: row.type,
    target: row.target,
    email: row.email,
    created_at: row.created_at,
    last_sent_at: row.last_sent_at,
    last_failed_at: row.last_failed_at,
    last_error: row.last_error
  },
  sealed: row.settings
})

/** What may be shown of the settings. */
export const shownOf = (settings: ChannelSettings): Pick<AlertChannel, "target" | "email"> => {
  if (settings.type === "email") {
    const { from, host, passwordFrom, port, security, to, username } = settings
    return { target: `${host}:${port}`, email: { security, from, to, username, password_from: passwordFrom } }
  }
  return { target: settings.type === "webhook" ? settings.url : new URL(settings.url).origin, email: null }
}

/** How often a heartbeat is called. */
const beat = 60_000

export class AlertChannels extends Context.Service<
  AlertChannels,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredChannel | null>
    /** Like `get`, and locks the row until the transaction ends. */
    readonly lock: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredChannel | null>
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<AlertChannel>>
    /** Creates a channel, or replaces one. Null when the name is in use. */
    readonly put: (
      workspace: WorkspaceId,
      id: AlertChannelId,
      name: string,
      settings: ChannelSettings,
      isNew: boolean
    ) => Effect.Effect<true | null>
    /** Those of these channels that exist, by id. */
    readonly typesOf: (
      workspace: WorkspaceId,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, AlertChannelType>>
    /** The name of an alert that sends to it; null when none does. */
    readonly usedBy: (workspace: WorkspaceId, id: string) => Effect.Effect<string | null>
    /** False when it does not exist. */
    readonly remove: (workspace: WorkspaceId, id: string) => Effect.Effect<boolean>
    readonly open: (channel: StoredChannel) => Effect.Effect<ChannelSettings>
    /** Records an attempt: whether something arrived, and what went wrong. */
    readonly record: (
      workspace: WorkspaceId,
      id: string,
      attempt: { readonly arrived: boolean; readonly error: string | null }
    ) => Effect.Effect<void>
    /** Heartbeats that are due; each is due again in a minute, so that no other node calls it now. */
    readonly claimHeartbeats: Effect.Effect<ReadonlyArray<StoredChannel>>
  }
>()("@signalbox/control-room/store/AlertChannels") {
  static readonly layer = Layer.effect(
    AlertChannels,
    Effect.gen(function* () {
      const { millis, now, nullWhenTaken, page, sql, transaction } = yield* Database
      const seal = yield* Seal
      const contextOf = (workspace: string, id: string) => `alert channel ${JSON.stringify([workspace, id])}`
      const at = (workspace: WorkspaceId, id: string) => sql`workspace_id = ${workspace} AND id = ${id}`

      const select = sql`SELECT ${channelTable.columns} FROM alert_channel`
      const find = (workspace: WorkspaceId, id: string, lock = sql.literal("")) =>
        queryOne(channelTable, sql`${select} WHERE ${at(workspace, id)} ${lock}`, parse)

      return AlertChannels.of({
        get: (workspace, id) => find(workspace, id),
        lock: (workspace, id) => find(workspace, id, Dialect.forUpdate(sql)),
        list: (workspace, request) =>
          page(
            { rows: channelTable, select, as: (row) => parse(row).view },
            [sql`workspace_id = ${workspace}`],
            "newest first",
            request
          ),
        put: Effect.fnUntraced(function* (workspace, id, name, settings, isNew) {
          const { email, target } = shownOf(settings)
          const written = {
            name,
            type: settings.type,
            target,
            email,
            settings: yield* seal.seal(JSON.stringify(settings), contextOf(workspace, id)),
            next_call_at: settings.type === "heartbeat" ? yield* now : null
          }
          yield* isNew
            ? sql`INSERT INTO alert_channel ${channelTable.insert({ ...written, workspace_id: workspace, id, created_at: yield* now })}`
            : sql`UPDATE alert_channel SET ${channelTable.update({ ...written, last_error: null })} WHERE ${at(workspace, id)}`
          return true as const
        }, nullWhenTaken),
        typesOf: Effect.fnUntraced(function* (workspace, ids) {
          if (ids.length === 0) return new Map<string, AlertChannelType>()
          // Until the transaction ends none of them is deleted.
          const rows = yield* query(
            channelTable.pick("id", "type"),
            sql`
              SELECT id, type FROM alert_channel WHERE workspace_id = ${workspace} AND ${sql.in("id", ids)}
              ORDER BY id ${Dialect.forShare(sql)}`
          )
          return new Map<string, AlertChannelType>(rows.map(({ id, type }) => [id, type]))
        }),
        usedBy: Effect.fnUntraced(function* (workspace, id) {
          yield* sql`SELECT id FROM alert_channel WHERE ${at(workspace, id)} ${Dialect.forDelete(sql)}`
          const row = yield* queryOne(
            Row({ name: text }),
            sql`
              SELECT alert.name FROM alert_target JOIN alert
                ON alert.workspace_id = alert_target.workspace_id AND alert.id = alert_target.alert_id
              WHERE alert_target.workspace_id = ${workspace} AND alert_target.channel_id = ${id} LIMIT 1`
          )
          return row?.name ?? null
        }),
        remove: (workspace, id) =>
          Effect.map(
            sql`DELETE FROM alert_channel WHERE ${at(workspace, id)} RETURNING id`,
            (rows) => rows.length === 1
          ),
        open: ({ sealed, view, workspaceId }) =>
          Effect.map(seal.open(sealed, contextOf(workspaceId, view.id)), (text): ChannelSettings => JSON.parse(text)),
        record: Effect.fnUntraced(function* (workspace, id, { arrived, error }) {
          const time = yield* now
          const changed = {
            last_error: error,
            last_sent_at: arrived ? time : undefined,
            last_failed_at: error === null ? undefined : time
          }
          yield* sql`UPDATE alert_channel SET ${channelTable.update(changed)} WHERE ${at(workspace, id)}`
        }),
        claimHeartbeats: Effect.gen(function* () {
          const time = yield* millis
          const rows = yield* query(
            channelTable,
            sql`
              ${select} WHERE next_call_at <= ${new Date(time).toISOString()}
              ORDER BY next_call_at LIMIT 100 ${Dialect.skipLocked(sql, "alert_channel")}`
          )
          for (const { id, workspace_id } of rows) {
            yield* sql`
              UPDATE alert_channel SET next_call_at = ${new Date(time + beat).toISOString()}
              WHERE workspace_id = ${workspace_id} AND id = ${id}`
          }
          return rows.map(parse)
        }).pipe(transaction)
      })
    })
  )
}
