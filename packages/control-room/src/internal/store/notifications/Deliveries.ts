/**
 * Deliveries: an event on its way to a webhook, over all attempts. An attempt is claimed before it is made, so that no
 * two are concurrent; the claim of a killed node expires.
 */
import { EventId, ProcessRunId, WebhookDeliveryId, WebhookId } from "@signalbox/api/contract/Ids"
import type { DeliveryState, WebhookDelivery } from "@signalbox/api/contract/Webhooks"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, integer, nullable, query, queryOne, Row, Table, text, word } from "@signalbox/sql/Table"
import { type SealedSecrets, webhookTable } from "./StoredWebhook.ts"

/** The most concurrent attempts to one endpoint. */
const perEndpoint = 4
/** Longer than any attempt takes. */
const claimTime = Duration.seconds(30)
/** The retention of the log. */
const keepTime = Duration.days(14)

const deliveryTable = Table("webhook_delivery", {
  id: id(WebhookDeliveryId),
  webhook_id: id(WebhookId),
  event_id: id(EventId),
  event_type: word<WebhookDelivery["event_type"]>(),
  process_run_id: nullable(id(ProcessRunId)),
  endpoint: text,
  state: word<DeliveryState>(),
  created_at: text,
  attempts: integer,
  last_attempt_at: nullable(text),
  next_attempt_at: nullable(text),
  response_status: nullable(integer),
  error: nullable(text),
  body: text
})
type DeliveryRow = typeof deliveryTable.Type

/** What of its webhook a delivery needs. */
const sealedRow = webhookTable.pick("workspace_id", "secret", "previous_secret", "previous_until")

const claimedRow = deliveryTable.and(sealedRow.fields)

export interface NewDelivery {
  readonly webhook: WebhookId
  readonly endpoint: string
  readonly eventId: EventId
  readonly eventType: WebhookDelivery["event_type"]
  readonly processRun: ProcessRunId | null
  readonly body: string
}

/** A delivery whose next attempt the caller has claimed. */
export interface Claimed {
  readonly id: WebhookDeliveryId
  readonly workspaceId: string
  readonly claim: string
  readonly eventId: EventId
  readonly endpoint: string
  readonly body: string
  /** Attempts made so far. */
  readonly attempts: number
  readonly sealed: SealedSecrets
}

/** The result of an attempt. */
export interface Attempted {
  readonly status: number | null
  /** Null: it was delivered. */
  readonly error: string | null
  /** The time of the next attempt; null: none. */
  readonly nextAttemptAt: string | null
}

const viewRow = deliveryTable.pick(
  "id",
  "event_id",
  "event_type",
  "process_run_id",
  "state",
  "created_at",
  "attempts",
  "last_attempt_at",
  "next_attempt_at",
  "response_status",
  "error",
  "body"
)

const view = (row: typeof viewRow.Type): WebhookDelivery => ({
  id: row.id,
  event_id: row.event_id,
  event_type: row.event_type,
  process_run: row.process_run_id === null ? null : { id: row.process_run_id },
  state: row.state,
  created_at: row.created_at,
  attempts: row.attempts,
  last_attempt_at: row.last_attempt_at,
  next_attempt_at: row.next_attempt_at,
  response_status: row.response_status,
  error: row.error,
  body: row.body
})

export class Deliveries extends Context.Service<
  Deliveries,
  {
    readonly get: (webhook: WebhookId, id: string) => Effect.Effect<WebhookDelivery | null>
    readonly list: (
      webhook: WebhookId,
      state: DeliveryState | null,
      page: PageRequest
    ) => Effect.Effect<Rows<WebhookDelivery>>
    /** Creates a delivery that is due immediately. */
    readonly create: (delivery: NewDelivery) => Effect.Effect<WebhookDelivery>
    /** Claims deliveries that are due, the oldest of each endpoint first. */
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<Claimed>>
    /** Releases a claim without an attempt. */
    readonly release: (claimed: Claimed) => Effect.Effect<void>
    /** Releases every claim: for the start of a service that is alone on the database. */
    readonly releaseAll: Effect.Effect<void>
    /** Records an attempt; does nothing when another node has claimed the delivery since. */
    readonly record: (claimed: Claimed, attempted: Attempted) => Effect.Effect<void>
    /** Deletes some deliveries older than 14 days; returns how many. */
    readonly sweep: (limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function* () {
      const { millis, newId, now, page, sql, transaction } = yield* Database
      const forUpdate = Dialect.forUpdate(sql)
      const skipLocked = Dialect.skipLocked(sql, "webhook_delivery")

      /** Endpoints with pending deliveries: one step in the index for each, however many are pending. */
      const endpoints = query(
        Row({ endpoint: text }),
        sql`
          WITH RECURSIVE waiting (endpoint) AS (
            SELECT min(endpoint) FROM webhook_delivery WHERE state = 'pending'
            UNION ALL
            SELECT (SELECT min(endpoint) FROM webhook_delivery
              WHERE state = 'pending' AND webhook_delivery.endpoint > waiting.endpoint)
            FROM waiting WHERE waiting.endpoint IS NOT NULL
          )
          SELECT endpoint FROM waiting WHERE endpoint IS NOT NULL`
      )

      const claimAt = Effect.fnUntraced(function* (endpoint: string, limit: number) {
        // Nodes that claim concurrently count each other's claims on the endpoint one after another.
        yield* Dialect.lockName(sql, `deliveries ${endpoint}`)
        const time = yield* millis
        const at = new Date(time).toISOString()
        const until = new Date(time + Duration.toMillis(claimTime)).toISOString()
        const busy = yield* queryOne(
          Row({ n: integer }),
          sql`
            SELECT count(*) AS n FROM webhook_delivery
            WHERE endpoint = ${endpoint} AND claim IS NOT NULL AND claimed_until > ${at}`
        )
        const free = Math.min(limit, perEndpoint - (busy?.n ?? 0))
        if (free <= 0) return []
        const rows = yield* query(
          claimedRow,
          sql`
            SELECT ${deliveryTable.of("webhook_delivery")}, ${sealedRow.of("webhook")}
            FROM webhook_delivery JOIN webhook ON webhook.id = webhook_delivery.webhook_id
            WHERE state = 'pending' AND webhook_delivery.endpoint = ${endpoint} AND next_attempt_at <= ${at}
              AND (claim IS NULL OR claimed_until <= ${at})
            ORDER BY next_attempt_at, webhook_delivery.id LIMIT ${free} ${skipLocked}`
        )
        const claimed: Array<Claimed> = []
        for (const row of rows) {
          const claim = yield* newId
          yield* sql`UPDATE webhook_delivery SET claim = ${claim}, claimed_until = ${until} WHERE id = ${row.id}`
          claimed.push({
            id: row.id,
            workspaceId: row.workspace_id,
            claim,
            eventId: row.event_id,
            endpoint: row.endpoint,
            body: row.body,
            attempts: row.attempts,
            sealed: {
              webhook: row.webhook_id,
              secret: row.secret,
              previous: row.previous_secret,
              previousUntil: row.previous_until
            }
          })
        }
        return claimed
      })

      return Deliveries.of({
        get: (webhook, id) =>
          queryOne(
            viewRow,
            sql`SELECT ${viewRow.columns} FROM webhook_delivery WHERE webhook_id = ${webhook} AND id = ${id}`,
            view
          ),
        list: (webhook, state, request) =>
          page(
            { rows: viewRow, table: "webhook_delivery", long: ["body"], plain: true, as: view },
            [sql`webhook_id = ${webhook}`, ...(state === null ? [] : [sql`state = ${state}`])],
            "newest first",
            request
          ),
        create: Effect.fnUntraced(function* (delivery) {
          const at = yield* now
          const row: DeliveryRow = {
            id: WebhookDeliveryId.make(yield* newId),
            webhook_id: delivery.webhook,
            event_id: delivery.eventId,
            event_type: delivery.eventType,
            process_run_id: delivery.processRun,
            endpoint: delivery.endpoint,
            state: "pending",
            created_at: at,
            attempts: 0,
            last_attempt_at: null,
            next_attempt_at: at,
            response_status: null,
            error: null,
            body: delivery.body
          }
          yield* sql`INSERT INTO webhook_delivery ${deliveryTable.insert(row)}`
          return view(row)
        }),
        claim: Effect.fnUntraced(function* (limit) {
          const claimed: Array<Claimed> = []
          for (const { endpoint } of yield* endpoints) {
            if (claimed.length >= limit) break
            claimed.push(...(yield* claimAt(endpoint, limit - claimed.length)))
          }
          return claimed
        }, transaction),
        release: ({ claim, id }) =>
          Effect.asVoid(
            sql`UPDATE webhook_delivery SET claim = NULL, claimed_until = NULL WHERE id = ${id} AND claim = ${claim}`
          ),
        releaseAll: Effect.asVoid(
          sql`UPDATE webhook_delivery SET claim = NULL, claimed_until = NULL WHERE claim IS NOT NULL`
        ),
        record: Effect.fnUntraced(function* ({ claim, id }, { error, nextAttemptAt, status }) {
          const row = yield* queryOne(
            deliveryTable.pick("state", "attempts", "error"),
            sql`SELECT state, attempts, error FROM webhook_delivery WHERE id = ${id} AND claim = ${claim} ${forUpdate}`
          )
          if (row === null) return
          const failed = error !== null
          // A delivery that was failed concurrently stays so, unless this attempt succeeded.
          const givenUp = failed && row.state === "failed"
          const again = failed && !givenUp && nextAttemptAt !== null
          yield* sql`UPDATE webhook_delivery SET ${sql.update({
            state: again ? "pending" : failed ? "failed" : "delivered",
            attempts: row.attempts + 1,
            last_attempt_at: yield* now,
            next_attempt_at: again ? nextAttemptAt : null,
            response_status: status,
            error: givenUp ? row.error : error,
            claim: null,
            claimed_until: null
          })} WHERE id = ${id}`
        }, transaction),
        sweep: Effect.fnUntraced(function* (limit) {
          const cutoff = new Date((yield* millis) - Duration.toMillis(keepTime)).toISOString()
          const rows = yield* sql`
            DELETE FROM webhook_delivery WHERE id IN (
              SELECT id FROM webhook_delivery WHERE created_at < ${cutoff} AND state <> 'pending'
              ORDER BY created_at LIMIT ${limit} ${skipLocked})
            RETURNING id`
          return rows.length
        })
      })
    })
  )
}
