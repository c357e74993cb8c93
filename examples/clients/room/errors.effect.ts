/** Deletes a run, and tells what came of it; what it cannot tell is logged with what the support asks for. */
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import { Console, Effect } from "effect"

export const main = (run: ProcessRunId) =>
  ProcessRuns.remove(run).pipe(
    Effect.as("deleted"),
    Effect.catchTags({
      NotFound: () => Effect.succeed("there was none"),
      Conflict: () => Effect.succeed("it has not ended yet")
    }),
    Effect.catchReason(
      "ControlRoomError",
      "RateLimited",
      ({ retryAfterMillis }) =>
        Effect.succeed(`too early, in ${retryAfterMillis} ms again`)
    ),
    Effect.tapError(({ reason, request }) =>
      Console.error(request.operation, reason._tag, request.requestId)
    )
  )
