/**
 * Records the deliveries of an event in the same transaction as its cause: no event is lost, and none is published for
 * a change that was rolled back.
 */
import { EventId, ProcessId, ProcessRunId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { PauseAction, Paused } from "@signalbox/api/contract/Pauses"
import type { ProcessRunAction } from "@signalbox/api/contract/ProcessRuns"
import { WebhookEvent } from "@signalbox/api/contract/WebhookEvents"
import type { WebhookDelivery } from "@signalbox/api/contract/Webhooks"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as PubSub from "effect/PubSub"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Run } from "../engine/State.ts"
import * as Counters from "../telemetry/Counters.ts"
import { Refused } from "../engine/Refused.ts"
import { Database } from "../store/database/Database.ts"
import { Deliveries } from "../store/notifications/Deliveries.ts"
import { ProcessRuns, secondsBetween } from "../store/runs/ProcessRuns.ts"
import { RunItems } from "../store/items/RunItems.ts"
import { Webhooks } from "../store/notifications/Webhooks.ts"
import type { StoredWebhook } from "../store/notifications/StoredWebhook.ts"

const bodyOf = Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(WebhookEvent)))

/** What an event that belongs to no run says of it. */
const ofNoRun = {
  seqNo: 0,
  startedAt: null,
  endedAt: null,
  duration: null,
  result: null,
  errorCode: null,
  pause: null
} as const

/** An id of no process and no run. */
const nobody = "00000000-0000-0000-0000-000000000000"

/** The process that was paused or resumed, or whose step was. */
export interface PauseOf {
  readonly workspaceId: WorkspaceId
  readonly process: { readonly id: ProcessId; readonly name: string }
  /** The name of the step. */
  readonly step: string | null
  /** The run whose failure has paused it. */
  readonly run: ProcessRunId | null
}

export class Outbox extends Context.Service<
  Outbox,
  {
    /** Records an event of a run, in its current state, for every webhook subscribed to it, in the same transaction. */
    readonly notify: (run: Run, action: ProcessRunAction) => Effect.Effect<void>
    /** Records that a process or a step of it was paused or resumed, in the same transaction. */
    readonly pauseChanged: (of: PauseOf, action: PauseAction, paused: Paused | null) => Effect.Effect<void>
    /** Sends an event that belongs to no run to one webhook, even if it is disabled. */
    readonly test: (webhook: StoredWebhook) => Effect.Effect<WebhookDelivery>
    /** Creates a new delivery of the same event. */
    readonly redeliver: (webhook: StoredWebhook, delivery: WebhookDelivery) => Effect.Effect<WebhookDelivery, Refused>
    /** Signals that deliveries may be due. */
    readonly wake: Effect.Effect<void>
    /** Subscribes: from now on no signal is missed. The inner effect waits for the next one. */
    readonly listen: Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
  }
>()("@signalbox/control-room/delivery/Outbox") {
  static readonly layer = Layer.effect(
    Outbox,
    Effect.gen(function* () {
      const { newId, now, sql, transaction } = yield* Database
      const webhooks = yield* Webhooks
      const deliveries = yield* Deliveries
      const items = yield* RunItems
      const runs = yield* ProcessRuns
      const signals = yield* PubSub.sliding<void>(1)
      const wake = Effect.asVoid(PubSub.publish(signals, undefined))

      const event = Effect.fnUntraced(function* (action: WebhookEvent["action"], payload: WebhookEvent["payload"]) {
        const id = EventId.make(yield* newId)
        const at = yield* now
        const event = action === "paused" || action === "resumed" ? "process" : "process_run"
        const body = bodyOf({ id, webhookEventTimestamp: at, event, action, payload })
        return { id, body }
      })

      const deliver = Effect.fnUntraced(function* (
        listeners: Effect.Success<ReturnType<typeof webhooks.listening>>,
        delivery: Omit<Parameters<typeof deliveries.create>[0], "webhook" | "endpoint">
      ) {
        for (const { endpoint, id } of listeners) yield* deliveries.create({ webhook: id, endpoint, ...delivery })
        yield* sql.afterCommit(wake)
      })

      return Outbox.of({
        notify: Effect.fnUntraced(function* (run, action) {
          const { processName, seq, workspaceName } = yield* runs.nextEvent(run.id)
          const counter = Counters.runsOf({ workspace: workspaceName, process: processName }, action)
          yield* sql.afterCommit(Metric.update(counter, 1))
          const listeners = yield* webhooks.listening(run, `process_run.${action}`)
          if (listeners.length === 0) return
          const { body, id } = yield* event(action, {
            workspaceId: run.workspaceId,
            processId: run.processId,
            processName,
            processRunId: run.id,
            state: run.state,
            seqNo: seq,
            startedAt: run.startedAt,
            endedAt: run.endedAt,
            duration: secondsBetween(run.startedAt, run.endedAt),
            result: action === "started" ? null : action === "completed" ? "success" : "error",
            errorCode: action === "unresolved" ? ((yield* items.lastException(run.id))?.code ?? null) : null,
            pause: null
          })
          yield* deliver(listeners, { eventId: id, eventType: `process_run.${action}`, processRun: run.id, body })
        }),
        pauseChanged: Effect.fnUntraced(function* ({ process, run, step, workspaceId }, action, paused) {
          const of = { id: run ?? ProcessRunId.make(nobody), workspaceId, processId: process.id }
          const listeners = yield* webhooks.listening(of, `process.${action}`)
          if (listeners.length === 0) return
          const { body, id } = yield* event(action, {
            ...ofNoRun,
            workspaceId,
            processId: process.id,
            processName: process.name,
            processRunId: of.id,
            state: action,
            pause: paused === null ? null : { step, ...paused }
          })
          yield* deliver(listeners, { eventId: id, eventType: `process.${action}`, processRun: null, body })
        }),
        test: Effect.fnUntraced(function* ({ view, workspaceId }) {
          const { body, id } = yield* event("test", {
            workspaceId,
            processId: ProcessId.make(nobody),
            processRunId: ProcessRunId.make(nobody),
            processName: "test event",
            state: "completed",
            ...ofNoRun
          })
          const delivery = yield* deliveries.create({
            webhook: view.id,
            endpoint: view.endpoint,
            eventId: id,
            eventType: "process_run.test",
            processRun: null,
            body
          })
          yield* wake
          return delivery
        }),
        redeliver: Effect.fnUntraced(function* ({ view }, known) {
          const delivery = yield* transaction(
            Effect.gen(function* () {
              const old = yield* deliveries.get(view.id, known.id)
              if (old === null || old.state === "pending") {
                return yield* new Refused({
                  code: "CONFLICT",
                  message: "the delivery is in progress; wait until it has ended, or for its next attempt"
                })
              }
              return yield* deliveries.create({
                webhook: view.id,
                endpoint: view.endpoint,
                eventId: old.event_id,
                eventType: old.event_type,
                processRun: old.process_run?.id ?? null,
                body: old.body
              })
            })
          )
          yield* wake
          return delivery
        }),
        wake,
        listen: Effect.map(PubSub.subscribe(signals), (subscription) => Effect.asVoid(PubSub.take(subscription)))
      })
    })
  )
}
