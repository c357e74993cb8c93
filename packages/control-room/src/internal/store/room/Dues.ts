/**
 * Finds when something is due next, so that a test that advances time by hand stops there.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { nullable, query, Row, text, word } from "@signalbox/sql/Table"
import { silentAfter } from "../workers/Assistants.ts"
import { Database } from "../database/Database.ts"
import { lostAfter } from "../../settings/Limits.ts"

/** How long after the time in its column each kind is due, in milliseconds. Most are due after that time, not at it. */
const delays = {
  lease: 1,
  timeout: 1,
  retry: 0,
  delivery: 0,
  claim: 0,
  schedule: 0,
  alert: 0,
  heartbeat: 0,
  message: 0,
  worker: Duration.toMillis(lostAfter) + 1,
  assistant: silentAfter + 1
} as const

const dueRow = Row({
  kind: word<keyof typeof delays>(),
  at: nullable(text)
})

export class Dues extends Context.Service<
  Dues,
  {
    /**
     * Returns the first time after now, in milliseconds since 1970, at which a lease or step run times out, a worker or
     * assistant counts as lost, or a retry, delivery or schedule is due; null when nothing is. Without `workers` no worker
     * counts as lost.
     */
    readonly next: (options: { readonly workers: boolean }) => Effect.Effect<number | null>
  }
>()("@signalbox/control-room/store/Dues") {
  static readonly layer = Layer.effect(
    Dues,
    Effect.gen(function* () {
      const { millis, sql } = yield* Database
      return Dues.of({
        next: Effect.fnUntraced(function* ({ workers }) {
          const now = yield* millis
          /** The earliest value that a column can have for what is not due yet. */
          const from = (kind: keyof typeof delays) => new Date(now - delays[kind]).toISOString()
          const rows = yield* query(
            dueRow,
            sql`
              SELECT 'lease' AS kind, min(lease_expires_at) AS at FROM step_run
                WHERE state = 'awaiting_worker' AND worker_id IS NOT NULL AND lease_expires_at > ${from("lease")}
              UNION ALL SELECT 'timeout', min(timeout_at) FROM step_run
                WHERE state = 'in_progress' AND timeout_at > ${from("timeout")}
              UNION ALL SELECT 'worker', min(last_seen_at) FROM worker
                WHERE last_seen_at > ${from("worker")} AND id IN (SELECT worker_id FROM step_run WHERE state = 'in_progress')
              UNION ALL SELECT 'assistant', min(last_seen_at) FROM assistant_run
                WHERE state = 'in_progress' AND last_seen_at > ${from("assistant")}
              UNION ALL SELECT 'retry', min(not_before) FROM work_item
                WHERE state = 'pending' AND step_run_id IS NULL AND not_before > ${from("retry")}
              UNION ALL SELECT 'delivery', min(next_attempt_at) FROM webhook_delivery
                WHERE state = 'pending' AND claim IS NULL AND next_attempt_at > ${from("delivery")}
              UNION ALL SELECT 'claim', min(claimed_until) FROM webhook_delivery
                WHERE state = 'pending' AND claim IS NOT NULL AND claimed_until > ${from("claim")}
              UNION ALL SELECT 'schedule', min(wake_at) FROM schedule WHERE wake_at > ${from("schedule")}
              UNION ALL SELECT 'alert', min(check_at) FROM alert WHERE check_at > ${from("alert")}
              UNION ALL SELECT 'heartbeat', min(next_call_at) FROM alert_channel WHERE next_call_at > ${from("heartbeat")}
              UNION ALL SELECT 'message', min(next_attempt_at) FROM alert_message
                WHERE state = 'pending' AND next_attempt_at > ${from("message")}`
          )
          const dues = rows.flatMap(({ at, kind }) =>
            at === null || (kind === "worker" && !workers) ? [] : [Date.parse(at) + delays[kind]]
          )
          return dues.length === 0 ? null : Math.min(...dues)
        })
      })
    })
  )
}
