/**
 * Webhooks, and callbacks, which are webhooks of one run. Their secrets are sealed.
 */
import { type ProcessId, type ProcessRunId, WebhookId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { WebhookEventType, WebhookListed } from "@signalbox/api/contract/Webhooks"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Fragment } from "effect/sql/Statement"
import { randomBytes } from "node:crypto"
import { Seal } from "../vault/Seal.ts"
import * as Chunks from "../database/Chunks.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import {
  type Listener,
  type NewCallback,
  type NewWebhook,
  parseWebhook,
  type SealedSecrets,
  type StoredWebhook,
  type WebhookChange,
  type WebhookRow,
  webhookTable
} from "./StoredWebhook.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { query, queryOne, Row, text } from "@signalbox/sql/Table"

/** How long what is sent is also signed with the previous secret after a rotation. */
export const rotationTime = Duration.hours(24)

const contextOf = (webhook: WebhookId) => `webhook/${webhook}`

const distinct = (events: ReadonlyArray<WebhookEventType>) => [...new Set(events)]

export class Webhooks extends Context.Service<
  Webhooks,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredWebhook | null>
    readonly list: (workspace: WorkspaceId, page: PageRequest) => Effect.Effect<Rows<WebhookListed>>
    /** Creates a webhook with its own secret. */
    readonly create: (workspace: WorkspaceId, webhook: NewWebhook) => Effect.Effect<StoredWebhook>
    /** Null when it does not exist. */
    readonly update: (
      workspace: WorkspaceId,
      id: WebhookId,
      change: WebhookChange
    ) => Effect.Effect<StoredWebhook | null>
    /** Deletes a webhook with its deliveries; false when it does not exist. */
    readonly remove: (workspace: WorkspaceId, id: WebhookId) => Effect.Effect<boolean>
    /** Seals the secret of a callback, outside the transaction that creates it. */
    readonly sealCallback: (secret: Redacted.Redacted<string>) => Effect.Effect<Pick<NewCallback, "id" | "secret">>
    readonly createCallback: (workspace: WorkspaceId, callback: NewCallback) => Effect.Effect<void>
    /**
     * The webhooks that receive an event of a run: enabled webhooks of the workspace and of the process, and callbacks.
     * Until the transaction ends, none of them is disabled, moved or deleted.
     */
    readonly listening: (
      run: { readonly id: ProcessRunId; readonly workspaceId: WorkspaceId; readonly processId: ProcessId },
      event: WebhookEventType
    ) => Effect.Effect<ReadonlyArray<Listener>>
    /** The secrets to sign with now, the newest first. */
    readonly secrets: (
      sealed: SealedSecrets
    ) => Effect.Effect<readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]>
    /** Disables a webhook: nothing more is sent, and pending deliveries fail. */
    readonly disable: (id: WebhookId, reason: string) => Effect.Effect<void>
    /** Deletes the callbacks of deleted runs that have no pending deliveries. */
    readonly sweepCallbacks: Effect.Effect<void>
  }
>()("@signalbox/control-room/store/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const { millis, newId, now, page, sql, transaction } = yield* Database
      const seal = yield* Seal
      const open = (sealed: string, context: string) =>
        Effect.map(seal.open(sealed, context), (text) => Redacted.make(text))

      const newSecret = (webhook: WebhookId) =>
        seal.seal(`whsec_${randomBytes(32).toString("base64")}`, contextOf(webhook))

      const forUpdate = Dialect.forUpdate(sql)
      const forShare = Dialect.forShare(sql)
      const find = (workspace: WorkspaceId, id: string, lock: Fragment = sql.literal("")) =>
        queryOne(
          webhookTable,
          sql`
            SELECT ${webhookTable.columns} FROM webhook
            WHERE workspace_id = ${workspace} AND id = ${id} AND process_run_id IS NULL ${lock}`,
          parseWebhook
        )

      const insert = Effect.fnUntraced(function* (
        row: Omit<WebhookRow, "enabled" | "previous_secret" | "previous_until" | "created_at">
      ): Effect.fn.Return<StoredWebhook> {
        const whole: WebhookRow = {
          ...row,
          enabled: true,
          previous_secret: null,
          previous_until: null,
          created_at: yield* now
        }
        yield* sql`INSERT INTO webhook ${webhookTable.insert(whole)}`
        return parseWebhook(whole)
      })

      const disable = Effect.fnUntraced(function* (id: WebhookId, reason: string) {
        yield* sql`UPDATE webhook SET enabled = 0 WHERE id = ${id}`
        yield* Chunks.sweep((limit) =>
          Effect.map(
            sql`
              UPDATE webhook_delivery SET state = 'failed', next_attempt_at = NULL, error = ${reason} WHERE id IN (
                SELECT id FROM webhook_delivery WHERE webhook_id = ${id} AND state = 'pending' LIMIT ${limit})
              RETURNING id`,
            (rows) => rows.length
          )
        )
      })

      return Webhooks.of({
        get: (workspace, id) => find(workspace, id),
        list: (workspace, request) =>
          page(
            {
              rows: webhookTable,
              select: sql`SELECT ${webhookTable.columns} FROM webhook`,
              as: (row) => parseWebhook(row).view
            },
            [sql`workspace_id = ${workspace}`, sql`process_run_id IS NULL`],
            "newest first",
            request
          ),
        create: Effect.fnUntraced(function* (workspace, webhook) {
          const id = WebhookId.make(yield* newId)
          return yield* insert({
            id,
            workspace_id: workspace,
            process_id: webhook.process,
            process_run_id: null,
            endpoint: webhook.endpoint,
            events: distinct(webhook.events),
            secret: yield* newSecret(id)
          })
        }),
        update: Effect.fnUntraced(function* (workspace, id, change) {
          const secret = change.rotateSecret === true ? yield* newSecret(id) : null
          const until = (yield* millis) + Duration.toMillis(rotationTime)
          return yield* transaction(
            Effect.gen(function* () {
              const known = yield* find(workspace, id, forUpdate)
              if (known === null) return null
              const changed = {
                endpoint: change.endpoint,
                events: change.events === undefined ? undefined : distinct(change.events),
                process_id: change.process,
                enabled: change.enabled,
                secret: secret ?? undefined,
                previous_secret: secret === null ? undefined : known.sealed.secret,
                previous_until: secret === null ? undefined : new Date(until).toISOString()
              }
              if (Object.values(changed).every((value) => value === undefined)) return known
              yield* sql`UPDATE webhook SET ${webhookTable.update(changed)} WHERE id = ${id}`
              if (change.endpoint !== undefined) {
                const { endpoint } = change
                yield* Chunks.sweep((limit) =>
                  Effect.map(
                    sql`
                      UPDATE webhook_delivery SET endpoint = ${endpoint} WHERE id IN (
                        SELECT id FROM webhook_delivery
                        WHERE webhook_id = ${id} AND state = 'pending' AND endpoint <> ${endpoint} LIMIT ${limit})
                      RETURNING id`,
                    (rows) => rows.length
                  )
                )
              }
              if (change.enabled === false && known.view.enabled) yield* disable(id, "the webhook was disabled")
              return yield* find(workspace, id)
            })
          )
        }),
        remove: Effect.fnUntraced(function* (workspace, id) {
          const found = yield* sql`
              SELECT id FROM webhook
              WHERE workspace_id = ${workspace} AND id = ${id} AND process_run_id IS NULL ${Dialect.forDelete(sql)}`
          if (found.length === 0) return false
          // Its log may be long: the foreign key alone would delete it in one statement.
          yield* Chunks.sweep((limit) =>
            Effect.map(
              sql`
                DELETE FROM webhook_delivery WHERE id IN (
                  SELECT id FROM webhook_delivery WHERE webhook_id = ${id} LIMIT ${limit})
                RETURNING id`,
              (rows) => rows.length
            )
          )
          yield* sql`DELETE FROM webhook WHERE id = ${id}`
          return true
        }, transaction),
        sealCallback: Effect.fnUntraced(function* (secret) {
          const id = WebhookId.make(yield* newId)
          return { id, secret: yield* seal.seal(Redacted.value(secret), contextOf(id)) }
        }),
        createCallback: (workspace, callback) =>
          Effect.asVoid(
            insert({
              id: callback.id,
              workspace_id: workspace,
              process_id: null,
              process_run_id: callback.processRun,
              endpoint: callback.endpoint,
              events: distinct(callback.events),
              secret: callback.secret
            })
          ),
        listening: Effect.fnUntraced(function* (run, event) {
          const rows = yield* query(
            webhookTable,
            sql`
              SELECT * FROM (SELECT ${webhookTable.columns} FROM webhook
                WHERE workspace_id = ${run.workspaceId} AND process_run_id IS NULL AND enabled = 1
                  AND (process_id IS NULL OR process_id = ${run.processId}) ${forShare}) AS general
              UNION ALL
              SELECT * FROM (SELECT ${webhookTable.columns} FROM webhook
                WHERE process_run_id = ${run.id} AND enabled = 1 ${forShare}) AS callback`
          )
          return rows.flatMap((row): ReadonlyArray<Listener> => {
            const { view } = parseWebhook(row)
            return view.enabled_events.some((enabled) => enabled === event)
              ? [{ id: view.id, endpoint: view.endpoint }]
              : []
          })
        }),
        secrets: Effect.fnUntraced(function* ({ previous, previousUntil, secret, webhook }) {
          const newest = yield* open(secret, contextOf(webhook))
          return previous !== null && previousUntil !== null && previousUntil > (yield* now)
            ? ([newest, yield* open(previous, contextOf(webhook))] as const)
            : ([newest] as const)
        }),
        disable,
        sweepCallbacks: Chunks.walk((after) =>
          Effect.gen(function* () {
            const runs = yield* query(
              Row({ process_run_id: text }),
              sql`
                SELECT process_run_id FROM webhook WHERE process_run_id IS NOT NULL AND process_run_id > ${after}
                ORDER BY process_run_id LIMIT ${Chunks.rowsPerChunk}`,
              (row) => row.process_run_id
            )
            if (runs.length > 0) {
              yield* sql`
                DELETE FROM webhook WHERE ${sql.in("process_run_id", runs)}
                  AND NOT EXISTS (SELECT 1 FROM process_run WHERE process_run.id = webhook.process_run_id)
                  AND NOT EXISTS (SELECT 1 FROM webhook_delivery WHERE webhook_delivery.webhook_id = webhook.id)`
            }
            return runs
          })
        ).pipe(Effect.asVoid)
      })
    })
  )
}
