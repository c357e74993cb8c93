/** An app that acts as itself, by a certificate: what is in the drive of a person. */
import {
  type AppCertificate,
  connectGraph,
  driveOf,
  type GraphOptions,
  root
} from "@signalbox/graph/promise"

export const main = async (
  user: string,
  app: AppCertificate,
  options?: GraphOptions
) => {
  await using graph = connectGraph({ ...options, credentials: app })
  const names: Array<string> = []
  for await (const { name } of graph.drives.children(driveOf({ user }), root))
    names.push(name ?? "")
  return names
}
