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
import { GraphSandbox, type Sandbox } from "../src/GraphSandbox.ts"
import { fetched } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"
import { trusted } from "./support/trust.ts"

const scopes = ["https://graph.microsoft.com/User.Read", "offline_access"]
const redirectUri = "http://localhost:4711/callback"

const authority = (sandbox: Sandbox, tenant = "common") => ({
  authority: `${sandbox.origin}/${tenant}`,
  knownAuthorities: [new URL(sandbox.origin).host]
})

const webApp = (sandbox: Sandbox) =>
  new ConfidentialClientApplication({
    auth: { clientId: "web-app", clientSecret: "s3cret", ...authority(sandbox) }
  })

const call = <A>(run: () => Promise<A>) => Effect.promise(run)

const me = (sandbox: Sandbox, token: string) =>
  fetched(`${sandbox.graphUrl}/me`, { headers: { authorization: `Bearer ${token}` } })

/** Signs in as a browser would, and gives the address that it is sent back to. */
const signIn = Effect.fnUntraced(function* (app: ConfidentialClientApplication, hint: string) {
  const crypto = new CryptoProvider()
  const { challenge, verifier } = yield* call(() => crypto.generatePkceCodes())
  const url = yield* call(() =>
    app.getAuthCodeUrl({
      scopes,
      redirectUri,
      codeChallenge: challenge,
      codeChallengeMethod: "S256",
      state: "a state",
      loginHint: hint
    })
  )
  const { headers, status } = yield* fetched(url)
  assert.strictEqual(status, 302)
  const back = new URL(headers.get("location") ?? "")
  return { back, verifier }
})

layer(GraphSandbox.layer({ seed: contoso, tls: true }), { excludeTestServices: true })("msal-node", (it) => {
  it.effect("signs in by code with PKCE, and gets tokens silently from its cache and by refresh", () =>
    Effect.gen(function* () {
      const sandbox = yield* trusted
      const app = webApp(sandbox)
      const { back, verifier } = yield* signIn(app, "ann@contoso.test")
      assert.strictEqual(back.searchParams.get("state"), "a state")
      const code = back.searchParams.get("code") ?? ""
      const first = yield* call(() => app.acquireTokenByCode({ code, scopes, redirectUri, codeVerifier: verifier }))
      assert.strictEqual(first.account?.username, "ann@contoso.test")
      assert.strictEqual(first.account?.tenantId, sandbox.tenant)
      assert.strictEqual((yield* me(sandbox, first.accessToken)).body.displayName, "Ann Lee")

      const account = first.account
      if (account === null) return assert.fail("there is no account")
      const cached = yield* call(() => app.acquireTokenSilent({ account, scopes }))
      assert.isTrue(cached.fromCache)
      const refreshed = yield* call(() => app.acquireTokenSilent({ account, scopes, forceRefresh: true }))
      assert.isFalse(refreshed.fromCache)
      assert.notStrictEqual(refreshed.accessToken, first.accessToken)
      assert.strictEqual((yield* me(sandbox, refreshed.accessToken)).status, 200)
    })
  )

  it.effect("is refused a code that was redeemed, or whose verifier is not the right one", () =>
    Effect.gen(function* () {
      const sandbox = yield* trusted
      const app = webApp(sandbox)
      const { back, verifier } = yield* signIn(app, "ann@contoso.test")
      const code = back.searchParams.get("code") ?? ""
      const redeem = (codeVerifier: string) =>
        Effect.flip(
          Effect.tryPromise(() => webApp(sandbox).acquireTokenByCode({ code, scopes, redirectUri, codeVerifier }))
        ).pipe(Effect.map(({ cause }) => cause))
      const wrong = yield* redeem("x".repeat(43))
      assert.instanceOf(wrong, ServerError)
      assert.match(String(wrong), /501481/)
      yield* call(() => webApp(sandbox).acquireTokenByCode({ code, scopes, redirectUri, codeVerifier: verifier }))
      assert.match(String(yield* redeem(verifier)), /AADSTS54005/)
    })
  )

  it.effect("asks for a sign-in when the refresh token has expired", () =>
    Effect.gen(function* () {
      const sandbox = yield* trusted
      const app = webApp(sandbox)
      const { back, verifier } = yield* signIn(app, "bo@contoso.test")
      const code = back.searchParams.get("code") ?? ""
      const { account } = yield* call(() =>
        app.acquireTokenByCode({ code, scopes, redirectUri, codeVerifier: verifier })
      )
      if (account === null) return assert.fail("there is no account")
      yield* sandbox.expireRefreshTokens
      const { cause } = yield* Effect.flip(
        Effect.tryPromise(() => app.acquireTokenSilent({ account, scopes, forceRefresh: true }))
      )
      assert.instanceOf(cause, InteractionRequiredAuthError)
    })
  )

  it.effect("signs in on a device while it polls", () =>
    Effect.gen(function* () {
      const sandbox = yield* trusted
      const app = new PublicClientApplication({ auth: { clientId: "cli", ...authority(sandbox) } })
      const shown = yield* Deferred.make<string>()
      const waiting = yield* Effect.forkChild(
        call(() =>
          app.acquireTokenByDeviceCode({
            scopes,
            deviceCodeCallback: ({ userCode }) => Deferred.doneUnsafe(shown, Effect.succeed(userCode))
          })
        )
      )
      yield* sandbox.answerDevice(yield* Deferred.await(shown), "joan@contoso.test")
      const result = yield* Fiber.join(waiting)
      assert.strictEqual(result?.account?.username, "joan@contoso.test")
    })
  )

  it.effect("gets a token for the app itself, which is nobody's", () =>
    Effect.gen(function* () {
      const sandbox = yield* trusted
      const app = new ConfidentialClientApplication({
        auth: { clientId: "web-app", clientSecret: "s3cret", ...authority(sandbox, sandbox.tenant) }
      })
      const result = yield* call(() =>
        app.acquireTokenByClientCredential({ scopes: ["https://graph.microsoft.com/.default"] })
      )
      const token = result?.accessToken ?? ""
      assert.strictEqual((yield* me(sandbox, token)).status, 400)
      const users = yield* fetched(`${sandbox.graphUrl}/users`, { headers: { authorization: `Bearer ${token}` } })
      assert.strictEqual(users.body.value.length, 3)
    })
  )

  it.effect("is refused with a wrong secret", () =>
    Effect.gen(function* () {
      const sandbox = yield* trusted
      const app = new ConfidentialClientApplication({
        auth: { clientId: "web-app", clientSecret: "wrong", ...authority(sandbox, sandbox.tenant) }
      })
      const { cause } = yield* Effect.flip(
        Effect.tryPromise(() =>
          app.acquireTokenByClientCredential({ scopes: ["https://graph.microsoft.com/.default"] })
        )
      )
      assert.match(String(cause), /AADSTS7000215/)
    })
  )
})
