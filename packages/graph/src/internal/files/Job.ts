/**
 * Waits for a job of the service, such as a copy, by the address of its progress. That address gives access by itself.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Graph } from "../../Graph.ts"
import type { GraphError } from "../../GraphError.ts"
import type { ItemId } from "../../model/Common.ts"
import { JobStatus } from "../../model/Drive.ts"
import { JobFailed, type TransferError, transferError } from "../../TransferError.ts"
import { bodyOf } from "../requests/Answer.ts"
import { decoder, malformed, requestAddress } from "../requests/Call.ts"
import { asText, type Sent } from "../requests/Transport.ts"

const Status = Schema.Struct({
  ...JobStatus.fields,
  error: Schema.optionalKey(Schema.NullOr(Schema.Struct({ code: Schema.optionalKey(Schema.String) })))
})
const decode = decoder(Status)

/** What each status means; the service says nothing else. */
const meanings: Readonly<Record<string, "going" | "done" | "failed">> = {
  notstarted: "going",
  inprogress: "going",
  running: "going",
  waiting: "going",
  updating: "going",
  deletepending: "going",
  completed: "done",
  succeeded: "done",
  failed: "failed",
  deletefailed: "failed",
  cancelled: "failed",
  skipped: "failed"
}

const meaningOf = (status: string | null | undefined) => {
  const key = (status ?? "").toLowerCase()
  return Object.hasOwn(meanings, key) ? meanings[key] : undefined
}

const firstPauseMillis = 500
const longestPauseMillis = 10_000

/** What the job made. */
export const awaitJob = Effect.fnUntraced(function* (
  started: Sent<string>,
  name: string | null | undefined
): Effect.fn.Return<ItemId, GraphError | TransferError, Graph> {
  const failed = (message: string) => transferError(new JobFailed({ message }), name)
  const monitor = started.headers["location"]
  if (monitor === undefined) return yield* failed("the service did not say where the job can be followed")
  for (let pause = firstPauseMillis; ; pause = Math.min(pause * 1.5, longestPauseMillis)) {
    const sent = yield* requestAddress(monitor, { method: "GET", authorize: false, follow: false, read: asText })
    const found = sent.status === 303 ? /\/items\/([^/?]+)/.exec(sent.headers["location"] ?? "")?.[1] : undefined
    const status = yield* decode(
      found === undefined ? bodyOf(sent.value) : { status: "completed", resourceId: decodeURIComponent(found) },
      sent.request
    )
    const { error, resourceId } = status
    switch (meaningOf(status.status)) {
      case "done":
        return resourceId ?? (yield* failed("the job is done, but the service did not return the id of its result"))
      case "failed":
        return yield* failed(`the service could not finish it (${error?.code ?? status.status})`)
      case undefined:
        // Waiting for a status that never comes would not end.
        return yield* malformed(sent.request, "the service does not say in a known word how far the job is")
      case "going":
        yield* Effect.sleep(pause)
    }
  }
})
