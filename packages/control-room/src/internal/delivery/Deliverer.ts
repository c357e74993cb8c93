/** Delivers what the outbox holds: at least once, with the same bytes in every attempt, retried for two days. */
import { standardContent, standardKey, webhookHeaders } from "@signalbox/api/contract/WebhookSigning"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import { createHmac } from "node:crypto"
import * as Counters from "../telemetry/Counters.ts"
import * as Traces from "../telemetry/Traces.ts"
import { PollInterval } from "../background/PollInterval.ts"
import { steady } from "../background/BackgroundTask.ts"
import { Changes } from "../store/room/Changes.ts"
import { Database } from "../store/database/Database.ts"
import * as Chunks from "../store/database/Chunks.ts"
import { type Attempted, type Claimed, Deliveries } from "../store/notifications/Deliveries.ts"
import { unhurried } from "@signalbox/sql/QueryDeadline"
import { RoomState } from "../store/room/RoomState.ts"
import { Webhooks } from "../store/notifications/Webhooks.ts"
import { nextAttemptAt } from "./Backoff.ts"
import { Outbox } from "./Outbox.ts"
import { DeliverySender, NoResponse } from "./DeliverySender.ts"
import { TargetGuard } from "./TargetGuard.ts"

/** Concurrent attempts, over all endpoints. */
const maxAtOnce = 1000

const hmac = (key: Uint8Array, content: Uint8Array) => createHmac("sha256", key).update(content)

/** The headers of an attempt; `secrets` with the newest first. */
export const headersOf = (
  id: string,
  body: Uint8Array,
  secrets: readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>],
  millis: number
): Record<string, string> => {
  const timestamp = String(Math.floor(millis / 1000))
  const content = standardContent(id, timestamp, body)
  const newest = Buffer.from(Redacted.value(secrets[0]))
  return {
    "content-type": "application/json",
    "user-agent": "Signalbox-Webhooks/1",
    [webhookHeaders.rcSignature]: hmac(newest, body).digest("hex"),
    [webhookHeaders.id]: id,
    [webhookHeaders.timestamp]: timestamp,
    [webhookHeaders.signature]: secrets
      .map((secret) => `v1,${hmac(standardKey(Redacted.value(secret)), content).digest("base64")}`)
      .join(" ")
  }
}

const errorOf = (status: number): string | null => {
  if (status >= 200 && status < 300) return null
  if (status === 410)
    return "the endpoint responded with 410, so the webhook was disabled; enable the webhook to send events again"
  if (status >= 300 && status < 400) {
    return `the endpoint responded with ${status}: redirects are not followed, set the final address as endpoint`
  }
  return `the endpoint responded with ${status}; 2xx is expected`
}

export class Deliverer extends Context.Service<
  Deliverer,
  {
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<Claimed>>
    /** Makes one attempt and records its result. */
    readonly attempt: (claimed: Claimed) => Effect.Effect<void>
    /** Makes every attempt that is due, until none is, and deletes old deliveries. */
    readonly tick: Effect.Effect<void>
    /** Deletes old deliveries, and the callbacks that nothing needs any more. */
    readonly sweep: Effect.Effect<void>
  }
>()("@signalbox/control-room/delivery/Deliverer") {
  static readonly layer = Layer.effect(
    Deliverer,
    Effect.gen(function* () {
      const { millis, transaction } = yield* Database
      const changes = yield* Changes
      const deliveries = yield* Deliveries
      const webhooks = yield* Webhooks
      const guard = yield* TargetGuard
      const sender = yield* DeliverySender
      const { running, whenRunning } = yield* RoomState

      const claim = (limit: number) =>
        Effect.flatMap(running, (runs) => (runs ? deliveries.claim(limit) : Effect.succeed([])))

      const send = Effect.fnUntraced(function* (claimed: Claimed) {
        const refusal = guard.refuses(claimed.endpoint)
        if (refusal !== null) return yield* new NoResponse({ message: `the endpoint ${refusal}` })
        const secrets = yield* webhooks.secrets(claimed.sealed)
        const body = Buffer.from(claimed.body)
        const headers = headersOf(claimed.eventId, body, secrets, yield* millis)
        return yield* sender({ endpoint: claimed.endpoint, headers, body, lookup: guard.lookup })
      })

      const attempt = Effect.fn("Deliverer.attempt")(function* (claimed: Claimed) {
        const [took, { error, status }] = yield* Effect.timed(
          Effect.match(send(claimed), {
            onSuccess: ({ status }) => ({ status, error: errorOf(status) }),
            onFailure: (failure) => ({ status: null, error: failure.message })
          })
        )
        const gone = status === 410
        const attempted: Attempted = {
          status,
          error,
          nextAttemptAt: error === null || gone ? null : yield* nextAttemptAt(claimed.attempts, yield* millis)
        }
        const record = deliveries.record(claimed, attempted)
        const disable = gone && error !== null ? webhooks.disable(claimed.sealed.webhook, error) : Effect.void
        // The webhook before its deliveries, as everywhere: one order of locks cannot deadlock.
        yield* transaction(Effect.andThen(disable, record))
        const outcome = error === null ? "delivered" : attempted.nextAttemptAt === null ? "failed" : "retried"
        yield* Metric.update(Counters.webhookAttempts(outcome), 1)
        yield* changes.tell(claimed.workspaceId, () => [{ topic: "webhooks", id: claimed.sealed.webhook }])
        const log = error === null ? Effect.logDebug("webhook delivered") : Effect.logInfo("webhook not delivered")
        yield* Effect.annotateLogs(log, {
          webhook: claimed.sealed.webhook,
          delivery: claimed.id,
          attempt: claimed.attempts + 1,
          status,
          error,
          milliseconds: Math.round(Duration.toMillis(took))
        })
      })

      const interruptible = (claimed: Claimed) =>
        Effect.onInterrupt(Traces.working(attempt(claimed)), () => deliveries.release(claimed))

      const sweep = whenRunning(Effect.asVoid(Effect.andThen(Chunks.sweep(deliveries.sweep), webhooks.sweepCallbacks)))

      const tick = Effect.gen(function* () {
        for (;;) {
          const claimed = yield* claim(maxAtOnce)
          if (claimed.length === 0) break
          yield* Effect.forEach(claimed, interruptible, { concurrency: "unbounded", discard: true })
        }
        yield* sweep
      }).pipe(Effect.withSpan("Deliverer.tick"))

      return Deliverer.of({ claim, attempt: interruptible, tick, sweep })
    })
  )

  /** Delivers continuously: polls when a delivery was written or attempted, and at the poll interval. */
  static readonly layerRunning = Layer.effectDiscard(
    Effect.gen(function* () {
      const deliverer = yield* Deliverer
      const outbox = yield* Outbox
      const deliveries = yield* Deliveries
      const sql = yield* SqlClient.SqlClient
      // A SQLite file belongs to one process: claims found at its start were made by one that has ended.
      yield* sql.onDialectOrElse({ pg: () => Effect.void, orElse: () => deliveries.releaseAll })
      const next = yield* outbox.listen
      const interval = yield* PollInterval
      const underWay = yield* FiberSet.make()

      // The claim of a delivery that could not be recorded expires, and it is attempted again.
      const recorded = steady("recording deliveries")
      const poll = Effect.gen(function* () {
        for (const claimed of yield* deliverer.claim(maxAtOnce - (yield* FiberSet.size(underWay)))) {
          yield* FiberSet.run(underWay, Effect.ensuring(recorded(deliverer.attempt(claimed)), outbox.wake))
        }
      })
      yield* poll.pipe(
        steady("polling deliveries"),
        Effect.andThen(Effect.timeoutOption(next, interval)),
        Effect.forever,
        Effect.forkScoped
      )
      yield* deliverer.sweep.pipe(
        unhurried,
        steady("deleting old deliveries"),
        Effect.repeat(Schedule.spaced("1 hour")),
        Effect.forkScoped
      )
    })
  )
}
