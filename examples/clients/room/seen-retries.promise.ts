/** Says what the client does while a call waits. `SIGNALBOX_DEBUG=client` says all of it, without a change of the program. */
import { connect, type ConnectionOptions } from "@signalbox/api/promise"

export const main = async (
  log: (line: string) => void,
  options?: ConnectionOptions
) => {
  await using room = connect({
    ...options,
    onRetry: ({ attempt, operation, pauseMillis, status }) =>
      log(`${operation}: ${status}, attempt ${attempt} in ${pauseMillis} ms`),
    onPause: ({ operation, why }) => log(`${operation}: waits for ${why}`)
  })
  return (await room.workspaces.get()).name
}
