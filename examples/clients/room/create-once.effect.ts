/** Creates the item of an invoice, once: the program may run again after an answer was lost, or after a crash. */
import type { ProcessId } from "@signalbox/api/contract/Ids"
import { withIdempotencyScope } from "@signalbox/api/Idempotency"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"

export const main = (process: ProcessId, invoice: string) =>
  withIdempotencyScope(
    `invoice-${invoice}`,
    WorkItems.create({ process, payload: { invoice } })
  ).pipe(
    Effect.map(({ id }) => id),
    Effect.tap((id) => Console.log(id))
  )
