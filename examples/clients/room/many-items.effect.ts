/** A work item of each row; when the connection is lost on the way, it continues with the rows that are left. */
import type { ProcessId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"

interface Row {
  readonly article: string
  readonly pieces: number
}

export const main = Effect.fnUntraced(function* (
  process: ProcessId,
  rows: ReadonlyArray<Row>
) {
  const ids: Array<WorkItemId> = []
  while (ids.length < rows.length) {
    const created = yield* WorkItems.createMany({
      process,
      payloads: rows.slice(ids.length)
    }).pipe(
      Effect.catchTag("PartlyCreated", (error) =>
        Effect.as(Console.error(error.message), error.ids)
      )
    )
    ids.push(...created)
  }
  yield* Console.log(`${ids.length} items`)
  return ids
})
