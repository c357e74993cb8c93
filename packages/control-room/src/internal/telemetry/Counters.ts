/** The counters of the service. */
import { type StepRunErrorCode, stepRunErrorCodes } from "@signalbox/api/contract/StepRuns"
import { type ProcessRunAction, processRunActions } from "@signalbox/api/contract/ProcessRuns"
import type { Kind } from "@signalbox/sql/StorageFailure"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const counter = (name: string, description: string) =>
  Metric.counter(`signalbox_${name}_total`, { description, incremental: true })

const runs = counter("process_runs", "Runs that have started, completed or become unresolved")
const ended = counter("step_runs_ended", "Step runs that have ended, by the code of their error, or none")
const attempts = counter(
  "webhook_attempts",
  "Attempts to deliver webhooks: delivered, retried later or failed for good"
)
const failures = counter(
  "storage_failures",
  "Requests that failed because the database, the disk or the bucket did, by kind"
)

const targets = counter("bulk_operation_targets", "Items and runs that bulk operations changed, or could not change")

export const leasesExpired = counter("leases_expired", "Leases of step runs that no worker started in time")
export const alertMessagesSent = counter("alert_messages_sent", "Messages of alerts that were delivered")
export const alertMessagesNotSent = counter(
  "alert_messages_not_sent",
  "Attempts to deliver a message of an alert that failed"
)

/** The names that a process has in metrics. */
export interface ProcessNames {
  readonly workspace: string
  readonly process: string
}

export const runsOf = ({ process, workspace }: ProcessNames, action: ProcessRunAction) =>
  Metric.withAttributes(runs, { workspace, process, action })

export const stepRunsEnded = (error: StepRunErrorCode | null) =>
  Metric.withAttributes(ended, { error: error ?? "none" })

const outcomes = ["delivered", "retried", "failed"] as const

export const webhookAttempts = (outcome: (typeof outcomes)[number]) => Metric.withAttributes(attempts, { outcome })

const kinds: Readonly<Record<Kind, Metric.Metric<number, unknown>>> = {
  unavailable: Metric.withAttributes(failures, { kind: "unavailable" }),
  full: Metric.withAttributes(failures, { kind: "full" }),
  openFiles: Metric.withAttributes(failures, { kind: "openFiles" }),
  readOnly: Metric.withAttributes(failures, { kind: "readOnly" }),
  disk: Metric.withAttributes(failures, { kind: "disk" }),
  bucket: Metric.withAttributes(failures, { kind: "bucket" }),
  bucketFull: Metric.withAttributes(failures, { kind: "bucketFull" }),
  bucketRefused: Metric.withAttributes(failures, { kind: "bucketRefused" }),
  damaged: Metric.withAttributes(failures, { kind: "damaged" })
}

export const storageFailures = (kind: Kind) => kinds[kind]

export const bulkTargets = {
  done: Metric.withAttributes(targets, { result: "done" }),
  refused: Metric.withAttributes(targets, { result: "refused" })
}

const zero = (all: ReadonlyArray<Metric.Metric<number, unknown>>) =>
  Effect.forEach(all, (one) => Metric.update(one, 0), { discard: true })

/** Creates the counters of a process at zero, like `begin`. */
export const beginOf = (names: ProcessNames) => zero(processRunActions.map((action) => runsOf(names, action)))

/** Creates the counters at zero: Prometheus takes no notice of the first increase of one that it does not know yet. */
export const begin = zero([
  leasesExpired,
  alertMessagesSent,
  alertMessagesNotSent,
  ...([null, ...stepRunErrorCodes] as const).map(stepRunsEnded),
  ...outcomes.map(webhookAttempts),
  ...Object.values(bulkTargets),
  ...Object.values(kinds)
])
