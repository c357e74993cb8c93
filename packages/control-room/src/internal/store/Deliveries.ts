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
import { Database, type PageRequest, type Rows } from "./Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import type { SealedSecrets } from "./StoredWebhook.ts"

/** The most concurrent attempts to one endpoint. */
const perEndpoint = 4
/** Longer than any attempt takes. */
const claimTime = Duration.seconds(30)
/** The retention of the log. */
const keepTime = Duration.days(14)

interface Row {
  readonly id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly event_type: WebhookDelivery["event_type"]
  readonly process_run_id: string | null
  readonly endpoint: string
  readonly state: DeliveryState
  readonly created_at: string
  readonly attempts: number
  readonly last_attempt_at: string | null
  readonly next_attempt_at: string | null
  readonly response_status: number | null
  readonly error: string | null
  readonly body: string
}

interface ClaimedRow extends Row {
  readonly workspace_id: string
  readonly secret: string
  readonly previous_secret: string | null
  readonly previous_until: string | null
}

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

/** The columns of a delivery but its body, which may be large. */
const viewColumns = [
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
  "error"
] as const
type ViewRow = Pick<Row, (typeof viewColumns)[number] | "body">

const view = (row: ViewRow): WebhookDelivery => ({
  id: WebhookDeliveryId.make(row.id),
  event_id: EventId.make(row.event_id),
  event_type: row.event_type,
  process_run: row.process_run_id === null ? null : { id: ProcessRunId.make(row.process_run_id) },
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
      const endpoints = sql<{ readonly endpoint: string }>`
        WITH RECURSIVE waiting (endpoint) AS (
          SELECT min(endpoint) FROM webhook_delivery WHERE state = 'pending'
          UNION ALL
          SELECT (SELECT min(endpoint) FROM webhook_delivery
            WHERE state = 'pending' AND webhook_delivery.endpoint > waiting.endpoint)
          FROM waiting WHERE waiting.endpoint IS NOT NULL
        )
        SELECT endpoint FROM waiting WHERE endpoint IS NOT NULL`

      const claimAt = Effect.fnUntraced(function* (endpoint: string, limit: number) {
        // Nodes that claim concurrently count each other's claims on the endpoint one after another.
        yield* Dialect.lockName(sql, `deliveries ${endpoint}`)
        const time = yield* millis
        const at = new Date(time).toISOString()
        const until = new Date(time + Duration.toMillis(claimTime)).toISOString()
        const [busy] = yield* sql<{ readonly n: number }>`
          SELECT count(*) AS n FROM webhook_delivery
          WHERE endpoint = ${endpoint} AND claim IS NOT NULL AND claimed_until > ${at}`
        const free = Math.min(limit, perEndpoint - (busy?.n ?? 0))
        if (free <= 0) return []
        const rows = yield* sql<ClaimedRow>`
          SELECT webhook_delivery.*, webhook.workspace_id, webhook.secret, webhook.previous_secret, webhook.previous_until
          FROM webhook_delivery JOIN webhook ON webhook.id = webhook_delivery.webhook_id
          WHERE state = 'pending' AND webhook_delivery.endpoint = ${endpoint} AND next_attempt_at <= ${at}
            AND (claim IS NULL OR claimed_until <= ${at})
          ORDER BY next_attempt_at, webhook_delivery.id LIMIT ${free} ${skipLocked}`
        const claimed: Array<Claimed> = []
        for (const row of rows) {
          const claim = yield* newId
          yield* sql`UPDATE webhook_delivery SET claim = ${claim}, claimed_until = ${until} WHERE id = ${row.id}`
          claimed.push({
            id: WebhookDeliveryId.make(row.id),
            workspaceId: row.workspace_id,
            claim,
            eventId: EventId.make(row.event_id),
            endpoint: row.endpoint,
            body: row.body,
            attempts: row.attempts,
            sealed: {
              webhook: WebhookId.make(row.webhook_id),
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
          Effect.orDie(
            Effect.map(sql<Row>`SELECT * FROM webhook_delivery WHERE webhook_id = ${webhook} AND id = ${id}`, ([row]) =>
              row === undefined ? null : view(row)
            )
          ),
        list: (webhook, state, request) =>
          Effect.map(
            page<ViewRow>(
              { table: "webhook_delivery", columns: viewColumns.join(", "), long: ["body"], plain: true },
              [sql`webhook_id = ${webhook}`, ...(state === null ? [] : [sql`state = ${state}`])],
              "newest first",
              request
            ),
            ({ hasMore, rows }) => ({ hasMore, rows: rows.map(view) })
          ),
        create: Effect.fnUntraced(function* (delivery) {
          const at = yield* now
          const row: Row = {
            id: yield* newId,
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
          yield* Effect.orDie(sql`INSERT INTO webhook_delivery ${sql.insert({ ...row })}`)
          return view(row)
        }),
        claim: Effect.fnUntraced(
          function* (limit) {
            const claimed: Array<Claimed> = []
            for (const { endpoint } of yield* endpoints) {
              if (claimed.length >= limit) break
              claimed.push(...(yield* claimAt(endpoint, limit - claimed.length)))
            }
            return claimed
          },
          Effect.orDie,
          transaction
        ),
        release: ({ claim, id }) =>
          Effect.orDie(
            Effect.asVoid(
              sql`UPDATE webhook_delivery SET claim = NULL, claimed_until = NULL WHERE id = ${id} AND claim = ${claim}`
            )
          ),
        releaseAll: Effect.orDie(
          Effect.asVoid(sql`UPDATE webhook_delivery SET claim = NULL, claimed_until = NULL WHERE claim IS NOT NULL`)
        ),
        record: Effect.fnUntraced(
          function* ({ claim, id }, { error, nextAttemptAt, status }) {
            const [row] = yield* sql<Row>`
              SELECT * FROM webhook_delivery WHERE id = ${id} AND claim = ${claim} ${forUpdate}`
            if (row === undefined) return
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
          },
          Effect.orDie,
          transaction
        ),
        sweep: Effect.fnUntraced(function* (limit) {
          const cutoff = new Date((yield* millis) - Duration.toMillis(keepTime)).toISOString()
          const rows = yield* sql`
            DELETE FROM webhook_delivery WHERE id IN (
              SELECT id FROM webhook_delivery WHERE created_at < ${cutoff} AND state <> 'pending'
              ORDER BY created_at LIMIT ${limit} ${skipLocked})
            RETURNING id`
          return rows.length
        }, Effect.orDie)
      })
    })
  )
}
