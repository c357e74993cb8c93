/** An app that acts as itself, by a certificate: what is in the drive of a person. */
import { GraphDefault } from "@pnp/nodejs"
import { X509Certificate } from "node:crypto"
import { graphfi } from "../support/pnp.ts"

interface App {
  readonly tenant: string
  readonly clientId: string
  readonly certificate: string
  readonly privateKey: string
}

export const main = async (
  user: string,
  { certificate, clientId, privateKey, tenant }: App,
  baseUrl: string,
  login = "https://login.microsoftonline.com"
) => {
  const thumbprintSha256 = new X509Certificate(
    certificate
  ).fingerprint256.replaceAll(":", "")
  const auth = {
    clientId,
    authority: `${login}/${tenant}`,
    knownAuthorities: [new URL(login).host],
    clientCertificate: { thumbprintSha256, privateKey }
  }
  const scopes = ["https://graph.microsoft.com/.default"]
  const graph = graphfi().using(
    GraphDefault({ baseUrl, msal: { config: { auth }, scopes } })
  )
  const names: Array<string> = []
  for await (const page of graph.users.getById(user).drive.root.children) {
    for (const { name } of page) names.push(name ?? "")
  }
  return names
}
