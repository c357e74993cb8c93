/** Two pages now, and those after them another time: `next` is kept, and given back as it came. */
import type { ProcessId } from "@signalbox/api/contract/Ids"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"

export const main = Effect.fnUntraced(function* (
  process: ProcessId,
  kept?: string
) {
  const first = yield* WorkItems.list({ process, limit: 2, cursor: kept })
  const second =
    first.next === null
      ? null
      : yield* WorkItems.list({ process, limit: 2, cursor: first.next })
  const items = [...first.data, ...(second?.data ?? [])]
  for (const { id, state } of items) yield* Console.log(id, state)
  return { ids: items.map(({ id }) => id), later: second?.next ?? undefined }
})
