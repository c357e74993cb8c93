/** Waits for the end of a run, at most as long as it may take, and no longer than the person wants to. */
import * as Api from "@signalbox/api/promise"

export const main = async (
  run: string,
  timeout: string & `${number} seconds`,
  signal: AbortSignal,
  options?: Api.ConnectionOptions
) => {
  await using room = Api.connect(options)
  try {
    const { state } = await room.processRuns.awaitEnd(run, undefined, {
      timeout,
      signal
    })
    return state
  } catch (error) {
    if (signal.aborted) return "cancelled"
    if (error instanceof Api.Timeout) return "still running"
    throw error
  }
}
