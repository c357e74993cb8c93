/** A link for the organisation that lasts a week, and access for one person more. */
import { Client, type Options } from "@microsoft/microsoft-graph-client"

interface Invited {
  readonly error?: object
  readonly invitation?: { readonly email: string }
}

export const main = async (
  path: string,
  recipient: string,
  options: Options
) => {
  const client = Client.init(options)
  const item = `/me/drive/root:${path.split("/").map(encodeURIComponent).join("/")}:`
  const expirationDateTime = new Date(
    Date.now() + 7 * 24 * 3_600_000
  ).toISOString()
  const { link } = await client
    .api(`${item}/createLink`)
    .post({ type: "view", expirationDateTime })
  const invited: { readonly value: ReadonlyArray<Invited> } = await client
    .api(`${item}/invite`)
    .post({
      recipients: [{ email: recipient }],
      roles: ["write"],
      requireSignIn: true,
      sendInvitation: true
    })
  const refused = invited.value
    .filter(({ error }) => error !== undefined)
    .map(({ invitation }) => invitation?.email ?? null)
  return { url: String(link.webUrl), refused }
}
