/**
 * The identity provider, as Microsoft's own library for Node uses it.
 */
import {
  ConfidentialClientApplication,
  CryptoProvider,
  InteractionRequiredAuthError,
  PublicClientApplication,
  ServerError
} from "@azure/msal-node"
import { assert, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { fetched } from "../../support/Asking.ts"
import { Command } from "../../support/command.ts"

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
  const { redirect_uri: redirectUri } = command

  /** Signs Ann in as a browser would, and returns the code that the app is sent. */
  const signIn = Effect.fnUntraced(function* (app: ConfidentialClientApplication) {
    const { challenge, verifier } = yield* call(() => new CryptoProvider().generatePkceCodes())
    const asked = { scopes, redirectUri, codeChallenge: challenge, codeChallengeMethod: "S256", state: "a state" }
    const url = yield* call(() => app.getAuthCodeUrl({ ...asked, loginHint: "ann@contoso.test" }))
    const { searchParams } = new URL((yield* fetched(url)).headers.get("location") ?? "")
    assert.strictEqual(searchParams.get("state"), "a state")
    return { code: searchParams.get("code") ?? "", verifier }
  })
  const redeem = (app: ConfidentialClientApplication, signedIn: { readonly code: string; readonly verifier: string }) =>
    app.acquireTokenByCode({ code: signedIn.code, scopes, redirectUri, codeVerifier: signedIn.verifier })
  return { ...command, auth, web, get, signIn, redeem }
})

layer(Command.layer("--enforce-scopes"), { excludeTestServices: true })("msal-node, against the command", (it) => {
  it.effect("signs in by code with PKCE, and gets tokens from its cache and by refresh", () =>
    Effect.gen(function* () {
      const { control, get, redeem, signIn, tenant, web } = yield* connected
      const app = web()
      const signedIn = yield* signIn(app)
      const first = yield* call(() => redeem(app, signedIn))
      const { account } = first
      if (account === null) return assert.fail("there is no account")
      assert.deepInclude(account, { username: "ann@contoso.test", tenantId: tenant })
      assert.strictEqual((yield* get("/me", first.accessToken)).body.displayName, "Ann Lee")
      // It asked for no scope of files.
      assert.strictEqual((yield* get("/me/drive", first.accessToken)).status, 403)
      assert.isTrue((yield* call(() => app.acquireTokenSilent({ account, scopes }))).fromCache)
      const refresh = () => app.acquireTokenSilent({ account, scopes, forceRefresh: true })
      const refreshed = yield* call(refresh)
      assert.notStrictEqual(refreshed.accessToken, first.accessToken)
      assert.strictEqual((yield* get("/me", refreshed.accessToken)).status, 200)
      yield* control("/expire-refresh-tokens", { method: "POST" })
      assert.instanceOf((yield* Effect.flip(Effect.tryPromise(refresh))).cause, InteractionRequiredAuthError)
    })
  )

  it.effect("is refused a code that was redeemed, or whose verifier is not the right one", () =>
    Effect.gen(function* () {
      const { redeem, signIn, web } = yield* connected
      const signedIn = yield* signIn(web())
      const refused = (verifier: string) =>
        Effect.map(Effect.flip(Effect.tryPromise(() => redeem(web(), { ...signedIn, verifier }))), ({ cause }) => cause)
      const wrong = yield* refused("x".repeat(43))
      assert.instanceOf(wrong, ServerError)
      assert.match(String(wrong), /501481/)
      yield* call(() => redeem(web(), signedIn))
      assert.match(String(yield* refused(signedIn.verifier)), /AADSTS54005/)
    })
  )

  it.effect("signs in on a device, while it polls", () =>
    Effect.gen(function* () {
      const { auth, control } = yield* connected
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
      yield* control("/devices", { method: "POST", json })
      assert.strictEqual((yield* Fiber.join(waiting))?.account?.username, "joan@contoso.test")
    })
  )

  it.effect("gets a token for the app itself, and is refused one for a wrong secret", () =>
    Effect.gen(function* () {
      const { get, tenant, web } = yield* connected
      const asked = { scopes: ["https://graph.microsoft.com/.default"] }
      const result = yield* call(() => web(undefined, tenant).acquireTokenByClientCredential(asked))
      const users = yield* get("/users", result?.accessToken ?? "")
      assert.strictEqual(users.body.value.length, 3)
      const { cause } = yield* Effect.flip(
        Effect.tryPromise(() => web("wrong", tenant).acquireTokenByClientCredential(asked))
      )
      assert.instanceOf(cause, ServerError)
      assert.match(String(cause), /AADSTS7000215/)
    })
  )
})
