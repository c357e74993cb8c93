/**
 * The identity provider, as Azure's library for credentials uses it, on its own and under Microsoft's client of the graph.
 */
import {
  AuthenticationRequiredError,
  AuthorizationCodeCredential,
  ClientCertificateCredential,
  ClientSecretCredential,
  DeviceCodeCredential,
  type TokenCredential
} from "@azure/identity"
import { assert, layer } from "@effect/vitest"
import { Client } from "@microsoft/microsoft-graph-client"
import {
  TokenCredentialAuthenticationProvider,
  type TokenCredentialAuthenticationProviderOptions
} from "@microsoft/microsoft-graph-client/authProviders/azureTokenCredentials/index.js"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { fetched } from "../../support/Asking.ts"
import { certificate, privateKey } from "@signalbox/testkit/Certificate"
import { Command } from "../../support/command.ts"

const call = <A>(run: () => Promise<A>) => Effect.promise(run)

const scopes = ["https://graph.microsoft.com/.default"]

const connected = Effect.gen(function* () {
  const command = yield* Command
  const { client_id, client_secret, origin, tenant } = command
  // Discovery asks an address of the service, which is in the library's code.
  const options = { authorityHost: origin, disableInstanceDiscovery: true }
  const secret = (value = client_secret) => new ClientSecretCredential(tenant, client_id, value, options)
  const clientFor = (credential: TokenCredential) => {
    const settings: TokenCredentialAuthenticationProviderOptions = { scopes }
    return Client.initWithMiddleware({
      baseUrl: `${origin}/`,
      customHosts: new Set(["localhost"]),
      authProvider: new TokenCredentialAuthenticationProvider(credential, settings)
    })
  }
  return { ...command, options, secret, clientFor }
})

layer(Command.layer(), { excludeTestServices: true })("@azure/identity, against the command", (it) => {
  it.effect("gets a token for the app by its secret, once for many requests", () =>
    Effect.gen(function* () {
      const { clientFor, control, secret } = yield* connected
      yield* control("/requests", { method: "DELETE" })
      const client = clientFor(secret())
      const path = "/users/ann@contoso.test/drive/root:/Docs/a%20%231%25.txt"
      assert.strictEqual((yield* call(() => client.api(path).get())).size, 11)
      const users = yield* call(() => client.api("/users").get())
      assert.strictEqual(users.value.length, 3)
      const seen: ReadonlyArray<{ readonly url: string }> = (yield* control("/requests")).body
      assert.strictEqual(seen.filter(({ url }) => url.includes("/oauth2/v2.0/token")).length, 1)
    })
  )

  it.effect("gets a token for the app by its certificate", () =>
    Effect.gen(function* () {
      const { client_id, clientFor, options, tenant } = yield* connected
      const pem = { certificate: `${privateKey}\n${certificate}` }
      const client = clientFor(new ClientCertificateCredential(tenant, client_id, pem, options))
      const users = yield* call(() => client.api("/users").get())
      assert.strictEqual(users.value.length, 3)
    })
  )

  it.effect("is refused with a wrong secret", () =>
    Effect.gen(function* () {
      const { secret } = yield* connected
      const refused: unknown = yield* call(() =>
        secret("wrong")
          .getToken(scopes)
          .catch((error: unknown) => error)
      )
      assert.match(String(refused), /AADSTS7000215/)
    })
  )

  it.effect("signs a person in by a code", () =>
    Effect.gen(function* () {
      const { authority, client_id, client_secret, clientFor, options, redirect_uri, tenant } = yield* connected
      const asked = new URLSearchParams({ client_id, redirect_uri, response_type: "code", scope: scopes.join(" ") })
      const { headers } = yield* fetched(
        `${authority}/oauth2/v2.0/authorize?${asked.toString()}&login_hint=ann@contoso.test`
      )
      const code = new URL(headers.get("location") ?? "").searchParams.get("code") ?? ""
      const credential = new AuthorizationCodeCredential(tenant, client_id, client_secret, code, redirect_uri, options)
      const me = yield* call(() => clientFor(credential).api("/me").get())
      assert.strictEqual(me.displayName, "Ann Lee")
    })
  )

  it.effect("signs a person in on a device, and only when it may ask", () =>
    Effect.gen(function* () {
      const { clientFor, control, options, tenant } = yield* connected
      const silent = new DeviceCodeCredential({
        ...options,
        tenantId: tenant,
        clientId: "cli",
        disableAutomaticAuthentication: true
      })
      const refused: unknown = yield* call(() => silent.getToken(scopes).catch((error: unknown) => error))
      assert.instanceOf(refused, AuthenticationRequiredError)
      const shown = yield* Deferred.make<string>()
      const credential = new DeviceCodeCredential({
        ...options,
        tenantId: tenant,
        clientId: "cli",
        userPromptCallback: ({ userCode }) => Deferred.doneUnsafe(shown, Effect.succeed(userCode))
      })
      const waiting = yield* Effect.forkChild(call(() => clientFor(credential).api("/me").get()))
      const json = { userCode: yield* Deferred.await(shown), user: "joan@contoso.test" }
      yield* control("/devices", { method: "POST", json })
      assert.strictEqual((yield* Fiber.join(waiting)).displayName, "Joan OneVideo")
    })
  )
})
