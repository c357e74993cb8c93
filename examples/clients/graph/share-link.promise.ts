/** A link for the organisation that lasts a week, and access for one person more. */
import { connectGraph, type GraphOptions, me } from "@signalbox/graph/promise"

export const main = async (
  path: string,
  recipient: string,
  options?: GraphOptions
) => {
  await using graph = connectGraph(options)
  const expirationDateTime = new Date(
    Date.now() + 7 * 24 * 3_600_000
  ).toISOString()
  const { link } = await graph.sharing.createLink(
    me,
    { path },
    { type: "view", expirationDateTime }
  )
  const invited = await graph.sharing.invite(
    me,
    { path },
    { recipients: [recipient], roles: ["write"] }
  )
  const refused = invited
    .filter(({ problem }) => problem !== null)
    .map(({ recipient }) => recipient)
  return { url: link?.webUrl, refused }
}
