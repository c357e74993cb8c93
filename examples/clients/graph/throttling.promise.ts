/** Says when a call waits and is sent again, and gives it up after a time. */
import { connectGraph, type GraphOptions, me } from "@signalbox/graph/promise"

export const main = async (
  path: string,
  millis: number,
  options?: GraphOptions
) => {
  const told: Array<string> = []
  await using graph = connectGraph({
    ...options,
    on: {
      onPause: ({ operation, why }) => told.push(`${operation} waits: ${why}`),
      onRetry: ({ attempt, status }) =>
        told.push(`attempt ${attempt} after ${status}`)
    }
  })
  const signal = AbortSignal.timeout(millis)
  try {
    const { name } = await graph.withSignal(signal).drives.item(me, { path })
    return [...told, name]
  } catch (error) {
    if (signal.aborted) return [...told, "given up"]
    throw error
  }
}
