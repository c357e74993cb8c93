/** Waits for the end of a run, at most as long as it may take; who interrupts it, ends its requests too. */
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

export const main = (run: ProcessRunId, timeout: Duration.Input) =>
  ProcessRuns.awaitEnd(run, { timeout }).pipe(
    Effect.map(({ state }) => `${state}`),
    Effect.catchReason("ControlRoomError", "Timeout", () =>
      Effect.succeed("still running")
    )
  )
