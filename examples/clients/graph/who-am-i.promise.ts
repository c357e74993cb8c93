/** Who is signed in, and how full the drive is. */
import { connectGraph, type GraphOptions, me } from "@signalbox/graph/promise"

export const main = async (options?: GraphOptions) => {
  await using graph = connectGraph(options)
  const { displayName, mail } = await graph.users.me()
  const { driveType, quota } = await graph.drives.get(me)
  return `${displayName} <${mail}>, ${driveType} drive, ${quota?.used} bytes used`
}
