/** Bulk operations on the command line: the question before one is created, and its progress. */
import * as BulkOperations from "@signalbox/api/BulkOperations"
import type { BulkOperationId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import { confirm } from "../../resources/Confirm.ts"
import { print } from "../../connection/Connection.ts"

/** Up to so many are taken without a question. */
const withoutQuestion = 100

const named = { retry: "retry", mark_as_done: "mark as done", delete: "delete", start_again: "rerun" } as const

const refusalLines = ({ refusals }: BulkOperations.BulkOperation) =>
  refusals.map(({ count, ids, message }) => `  ${count} refused: ${message} (such as ${ids.join(", ")})`)

/** What a job has done, in a line; at its end with what was refused and why. */
export const progressLines = (job: BulkOperations.BulkOperation): string => {
  const { done, refused, skipped, state, total } = job
  const counts = [
    `${done} of ${total} done`,
    ...(refused === 0 ? [] : [`${refused} refused`]),
    ...(skipped === null || skipped === 0 ? [] : [`${skipped} ${state === "cancelled" ? "not processed" : "skipped"}`])
  ]
  const line = `${state}: ${counts.join(", ")}`
  return BulkOperations.hasEnded(job) ? [line, ...refusalLines(job)].join("\n") : line
}

/** Prints each change of a job until it has ended. */
export const watchJob = (json: boolean, id: BulkOperationId) => {
  let printed = ""
  return BulkOperations.awaitEnd(id, {
    pollInterval: "1 second",
    onPoll: (job) =>
      Effect.suspend(() => {
        const lines = progressLines(job)
        if (lines === printed) return Effect.void
        printed = lines
        return print(json, job, () => lines)
      })
  })
}

/** Asks when there are many, and creates the job; null when nothing matches. */
export const createJob = Effect.fnUntraced(function* (
  operation: BulkOperations.BulkOperationName,
  filter: BulkOperations.BulkFilter,
  yes: boolean
) {
  const total = yield* BulkOperations.count(operation, filter)
  if (total === 0) return null
  const what = operation === "start_again" ? "runs" : "work items"
  if (total > withoutQuestion) yield* confirm(`${named[operation]} ${total} ${what}`, yes)
  return yield* BulkOperations.create(operation, filter)
})
