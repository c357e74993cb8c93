/** Deletes a run, and tells what came of it; what it cannot tell is logged with what the support asks for. */
import {
  Conflict,
  connect,
  type ConnectionOptions,
  ControlRoomError,
  NotFound,
  RateLimited
} from "@signalbox/api/promise"

export const main = async (run: string, options?: ConnectionOptions) => {
  await using room = connect(options)
  try {
    await room.processRuns.remove(run)
    return "deleted"
  } catch (error) {
    if (error instanceof NotFound) return "there was none"
    if (error instanceof Conflict) return "it has not ended yet"
    if (error instanceof RateLimited)
      return `too early, in ${error.retryAfterMillis} ms again`
    if (error instanceof ControlRoomError)
      console.error(error.operation, error.status, error.code, error.requestId)
    throw error
  }
}
