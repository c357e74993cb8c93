/** A link for the organisation that lasts a week, and access for one person more. */
import { GraphDefault } from "@pnp/nodejs"
import { InjectHeaders } from "@pnp/queryable"
import { graphfi } from "../support/pnp.ts"

export const main = async (
  path: string,
  recipient: string,
  baseUrl: string,
  token: string
) => {
  const graph = graphfi().using(
    GraphDefault({ baseUrl }),
    InjectHeaders({ authorization: `Bearer ${token}` })
  )
  const item = graph.me.drive.getItemByPath(path.slice(1))
  const expirationDateTime = new Date(
    Date.now() + 7 * 24 * 3_600_000
  ).toISOString()
  const { link } = await item.createSharingLink({
    type: "view",
    expirationDateTime
  })
  const invited = await item.addPermissions({
    recipients: [{ email: recipient }],
    roles: ["write"],
    requireSignIn: true,
    sendInvitation: true
  })
  const refused = invited
    .filter(({ error }) => error !== undefined)
    .map(({ invitation }) => invitation?.email ?? null)
  return { url: link.webUrl, refused }
}
