/** Queues all failed items of a process again, page by page. */
import type { ProcessId } from "@signalbox/api/contract/Ids"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

export const main = Effect.fnUntraced(function* (process: ProcessId) {
  const failed = yield* Stream.runCollect(
    WorkItems.stream({ process, state: "failed", limit: 2 })
  )
  yield* WorkItems.retry(failed.map(({ id }) => id))
  yield* Console.log(`${failed.length} items are tried again`)
  return failed.length
})
