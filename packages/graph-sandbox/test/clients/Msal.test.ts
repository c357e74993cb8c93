/**
 * The identity provider, as Microsoft's own library for Node uses it.
 */
import { ConfidentialClientApplication, CryptoProvider, PublicClientApplication, ServerError } from "@azure/msal-node"
import { assert, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { fetched } from "../support/Asking.ts"
import { Command } from "../support/command.ts"

const call = <A>(run: () => Promise<A>) => Effect.promise(run)

const scopes = ["https://graph.microsoft.com/User.Read"]

const connected = Effect.gen(function* () {
  const command = yield* Command
  const { authority, client_id: clientId, client_secret: clientSecret, graph_url, origin } = command
  const auth = { authority, knownAuthorities: [new URL(origin).host] }
  const web = (secret = clientSecret, tenant = "common") =>
    new ConfidentialClientApplication({
      auth: { ...auth, authority: `${origin}/${tenant}`, clientId, clientSecret: secret }
    })
  const get = (path: string, token: string) =>
    fetched(`${graph_url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  return { ...command, auth, web, get }
})

layer(Command.layer(), { excludeTestServices: true })("msal-node, against the command", (it) => {
  it.effect("signs in by code with PKCE, and gets tokens from its cache and by refresh", () =>
    Effect.gen(function* () {
      const { get, redirect_uri: redirectUri, tenant, web } = yield* connected
      const app = web()
      const { challenge, verifier } = yield* call(() => new CryptoProvider().generatePkceCodes())
      const asked = { scopes, redirectUri, codeChallenge: challenge, codeChallengeMethod: "S256" }
      const url = yield* call(() => app.getAuthCodeUrl({ ...asked, loginHint: "ann@contoso.test" }))
      const { headers } = yield* fetched(url)
      const code = new URL(headers.get("location") ?? "").searchParams.get("code") ?? ""
      const first = yield* call(() => app.acquireTokenByCode({ code, scopes, redirectUri, codeVerifier: verifier }))
      const { account } = first
      if (account === null) return assert.fail("there is no account")
      assert.deepInclude(account, { username: "ann@contoso.test", tenantId: tenant })
      assert.strictEqual((yield* get("/me", first.accessToken)).body.displayName, "Ann Lee")
      assert.isTrue((yield* call(() => app.acquireTokenSilent({ account, scopes }))).fromCache)
      const refreshed = yield* call(() => app.acquireTokenSilent({ account, scopes, forceRefresh: true }))
      assert.notStrictEqual(refreshed.accessToken, first.accessToken)
      assert.strictEqual((yield* get("/me", refreshed.accessToken)).status, 200)
    })
  )

  it.effect("signs in on a device, while it polls", () =>
    Effect.gen(function* () {
      const { auth, control_url } = yield* connected
      const app = new PublicClientApplication({ auth: { ...auth, clientId: "cli" } })
      const shown = yield* Deferred.make<string>()
      const waiting = yield* Effect.forkChild(
        call(() =>
          app.acquireTokenByDeviceCode({
            scopes,
            deviceCodeCallback: ({ userCode }) => Deferred.doneUnsafe(shown, Effect.succeed(userCode))
          })
        )
      )
      const json = { userCode: yield* Deferred.await(shown), user: "joan@contoso.test" }
      yield* fetched(`${control_url}/devices`, { method: "POST", json })
      assert.strictEqual((yield* Fiber.join(waiting))?.account?.username, "joan@contoso.test")
    })
  )

  it.effect("gets a token for the app itself, and is refused one for a wrong secret", () =>
    Effect.gen(function* () {
      const { get, tenant, web } = yield* connected
      const asked = { scopes: ["https://graph.microsoft.com/.default"] }
      const result = yield* call(() => web(undefined, tenant).acquireTokenByClientCredential(asked))
      const users = yield* get("/users", result?.accessToken ?? "")
      assert.strictEqual(users.body.value.length, 2)
      const { cause } = yield* Effect.flip(
        Effect.tryPromise(() => web("wrong", tenant).acquireTokenByClientCredential(asked))
      )
      assert.instanceOf(cause, ServerError)
      assert.match(String(cause), /AADSTS7000215/)
    })
  )
})
