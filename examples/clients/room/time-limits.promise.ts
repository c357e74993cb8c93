/** Waits for the end of a run, at most as long as it may take, and no longer than the person wants to. */
import {
  connect,
  type ConnectionOptions,
  Timeout
} from "@signalbox/api/promise"

export const main = async (
  run: string,
  timeout: string & `${number} seconds`,
  signal: AbortSignal,
  options?: ConnectionOptions
) => {
  await using room = connect(options)
  try {
    const { state } = await room.processRuns.awaitEnd(run, undefined, {
      timeout,
      signal
    })
    return state
  } catch (error) {
    if (signal.aborted) return "cancelled"
    if (error instanceof Timeout) return "still running"
    throw error
  }
}
