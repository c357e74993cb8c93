/** An app that acts as itself, by a certificate: what is in the drive of a person. */
import {
  ClientCertificateCredential,
  type ClientCertificateCredentialOptions
} from "@azure/identity"
import {
  Client,
  type ClientOptions,
  PageIterator
} from "@microsoft/microsoft-graph-client"
import { TokenCredentialAuthenticationProvider } from "@microsoft/microsoft-graph-client/authProviders/azureTokenCredentials/index.js"

interface App {
  readonly tenant: string
  readonly clientId: string
  readonly certificate: string
  readonly privateKey: string
}

export const main = async (
  user: string,
  { certificate, clientId, privateKey, tenant }: App,
  options?: ClientOptions,
  login?: ClientCertificateCredentialOptions
) => {
  const pem = { certificate: `${privateKey}\n${certificate}` }
  const credential = new ClientCertificateCredential(
    tenant,
    clientId,
    pem,
    login
  )
  const scopes = ["https://graph.microsoft.com/.default"]
  const authProvider = new TokenCredentialAuthenticationProvider(credential, {
    scopes
  })
  const client = Client.initWithMiddleware({ ...options, authProvider })
  const names: Array<string> = []
  const first = await client
    .api(`/users/${encodeURIComponent(user)}/drive/root/children`)
    .get()
  await new PageIterator(
    client,
    first,
    ({ name }) => names.push(name) > 0
  ).iterate()
  return names
}
