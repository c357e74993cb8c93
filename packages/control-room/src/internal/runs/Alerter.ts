/**
 * Carries alerts out: checks each every half minute on any one node, and writes what its rule found, the moves of its
 * firings and their messages in one transaction. A node that dies leaves a claim that expires.
 */
import { DiskUsage } from "../storage/DiskUsage.ts"
import { unhurried } from "@signalbox/sql/QueryDeadline"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import { hostname } from "node:os"
import { forEachIndependently, repeating, steady } from "../background/BackgroundTask.ts"
import { AlertSender } from "../delivery/AlertSender.ts"
import * as AlertTexts from "../delivery/AlertTexts.ts"
import { advance, type FiringMove } from "../engine/Alerts.ts"
import * as AlertHours from "../engine/AlertHours.ts"
import { AlertTiming, PollInterval } from "../background/PollInterval.ts"
import { AlertMessages } from "../store/notifications/AlertMessages.ts"
import { Alerts, type OpenFiring } from "../store/notifications/Alerts.ts"
import * as Chunks from "../store/database/Chunks.ts"
import { Changes } from "../store/room/Changes.ts"
import { Database } from "../store/database/Database.ts"
import { RoomState } from "../store/room/RoomState.ts"
import type { StoredAlert } from "../store/notifications/StoredAlert.ts"

/** Alerts that one poll checks at most. */
const mostAtOnce = 200
/** How long firings that are over are stored. */
const keepFirings = Duration.toMillis("90 days")

const firing = Metric.gauge("signalbox_alerts_firing", { description: "Firings of alerts that are not over" })

const iso = (millis: number) => new Date(millis).toISOString()

/** Whether messages of an alert may be sent now. */
const mayTell = ({ muted, quiet }: StoredAlert, now: number) =>
  (muted === null || muted.until <= iso(now)) && (quiet === null || !AlertHours.contains(quiet, now))

/** A subject of which the rule of an alert holds, and the sentence about it. */
interface Found {
  readonly subject: string
  readonly message: string
}

export class Alerter extends Context.Service<
  Alerter,
  {
    /** Checks every alert that is due now, then calls the heartbeats that are due. */
    readonly tick: Effect.Effect<void>
    /** Sends a test message to each channel of an alert. */
    readonly test: (alert: StoredAlert) => ReturnType<AlertMessages["Service"]["create"]>
    /** Records how full the disk of this node is, and how many firings there are. */
    readonly measure: Effect.Effect<void>
    readonly sweep: Effect.Effect<void>
  }
>()("@signalbox/control-room/runs/Alerter") {
  static readonly layer = Layer.effect(
    Alerter,
    Effect.gen(function* () {
      const { millis, transaction } = yield* Database
      const alerts = yield* Alerts
      const changes = yield* Changes
      const messages = yield* AlertMessages
      const { whenRunning } = yield* RoomState
      const { heartbeats } = yield* AlertSender
      const disk = yield* DiskUsage
      const timing = yield* AlertTiming
      const checkEvery = Duration.toMillis(timing.checkEvery)
      const claimTime = Duration.toMillis(timing.claim)

      const say = Effect.fnUntraced(function* (
        alert: StoredAlert,
        { beganAt, id, subject }: OpenFiring,
        message: string,
        { message: kind }: FiringMove,
        endedAt: string | null
      ) {
        if (kind === null) return
        const about = { id, subject, began_at: beganAt, ended_at: endedAt }
        yield* messages.create(alert, {
          kind,
          firing: about,
          ...AlertTexts.messages[kind](alert.name, message, beganAt)
        })
      })

      const begin = Effect.fnUntraced(function* (alert: StoredAlert, found: Found, now: number) {
        const move = advance({ state: "held", found: true, mayTell: mayTell(alert, now), repeat: false })
        const begun = yield* alerts.begin(alert, found, move.to, move.message !== null)
        if (begun !== null) yield* say(alert, begun, found.message, move, null)
      })

      const proceed = Effect.fnUntraced(function* (
        alert: StoredAlert,
        known: OpenFiring,
        found: Found | undefined,
        now: number
      ) {
        const { repeatSeconds } = alert
        const repeat =
          repeatSeconds !== null && known.toldAt !== null && Date.parse(known.toldAt) + repeatSeconds * 1000 <= now
        const move = advance({ state: known.state, found: found !== undefined, mayTell: mayTell(alert, now), repeat })
        if (move.to === known.state && move.message === null) return
        // The last message says what was the case when it was told, or last seen.
        const message = found?.message ?? known.message
        const endedAt = found === undefined ? (known.endedAt ?? iso(now)) : null
        yield* alerts.move(alert, known, { state: move.to, message, endedAt, told: move.message !== null })
        yield* say(alert, known, message, move, endedAt)
      })

      /** Queries before the transaction, which then only writes. */
      const check = Effect.fnUntraced(function* (claimed: StoredAlert) {
        const now = yield* millis
        const holds = yield* alerts.find(claimed, yield* alerts.open(claimed), now)
        const found = holds.map((one) => ({
          subject: one.subject,
          message: AlertTexts.sentence(claimed.rule, one)
        }))
        yield* transaction(
          Effect.gen(function* () {
            const alert = yield* alerts.lock(claimed.workspaceId, claimed.id)
            // It changed in between: it is due again.
            if (alert === null || alert.checkAt !== claimed.checkAt || alert.since !== claimed.since) return
            const bySubject = new Map(found.map((one) => [one.subject, one]))
            const open = yield* alerts.open(alert)
            for (const known of open) {
              yield* proceed(alert, known, bySubject.get(known.subject), now)
              bySubject.delete(known.subject)
            }
            for (const one of bySubject.values()) yield* begin(alert, one, now)
            if (found.length > 0 || open.length > 0)
              yield* changes.tell(alert.workspaceId, () => [{ topic: "alerts", id: alert.id }])
            yield* alerts.checkAt(alert, iso(now + checkEvery))
          })
        )
        yield* Effect.yieldNow
      })

      return Alerter.of({
        tick: Effect.gen(function* () {
          const due = yield* alerts.claim(mostAtOnce, iso((yield* millis) + claimTime))
          yield* forEachIndependently(due, check)
          // Only a service whose alerts work says that it lives.
          yield* heartbeats
        }).pipe(whenRunning, Effect.withSpan("Alerter.tick")),
        test: (alert) =>
          transaction(messages.create(alert, { kind: "test", firing: null, ...AlertTexts.messages.test(alert.name) })),
        measure: Effect.gen(function* () {
          const used = yield* disk
          if (used !== null) yield* alerts.measured(hostname(), used)
          yield* Metric.update(firing, yield* alerts.countOpen)
        }),
        sweep: Effect.gen(function* () {
          const cutoff = iso((yield* millis) - keepFirings)
          yield* Chunks.sweep((limit) => alerts.sweep(cutoff, limit))
        }).pipe(unhurried)
      })
    })
  )

  static readonly layerTicking = Layer.effectDiscard(
    Effect.gen(function* () {
      const { measure, sweep, tick } = yield* Alerter
      const { startDelay } = yield* AlertTiming
      const measuring = steady("measuring the disk for alerts")(measure)
      // What was measured before it slept is old.
      const awoke = Effect.andThen(Effect.sleep(startDelay), measuring)
      const checking = repeating(steady("checking alerts")(tick), { interval: yield* PollInterval, awoke })
      yield* Effect.forkScoped(Effect.andThen(awoke, checking))
      yield* Effect.forkScoped(Effect.repeat(measuring, Schedule.spaced("1 minute")))
      yield* sweep.pipe(
        steady("deleting old firings of alerts"),
        Effect.repeat(Schedule.spaced("1 hour")),
        Effect.forkScoped
      )
    })
  )
}
