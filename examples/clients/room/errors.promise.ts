/** Deletes a run, and tells what came of it; what it cannot tell is logged with what the support asks for. */
import * as Api from "@signalbox/api/promise"

export const main = async (run: string, options?: Api.ConnectionOptions) => {
  await using room = Api.connect(options)
  try {
    await room.processRuns.remove(run)
    return "deleted"
  } catch (error) {
    if (error instanceof Api.NotFound) return "there was none"
    if (error instanceof Api.Conflict) return "it has not ended yet"
    if (error instanceof Api.RateLimited)
      return `too early, in ${error.retryAfterMillis} ms again`
    if (error instanceof Api.ControlRoomError)
      console.error(error.operation, error.status, error.code, error.requestId)
    throw error
  }
}
