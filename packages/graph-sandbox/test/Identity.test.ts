/**
 * The identity provider on the wire.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createHash, createPublicKey, verify } from "node:crypto"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { fetched } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

const redirect = "http://localhost:5000/callback"

const form = (fields: Record<string, string>) => ({
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(fields).toString()
})

const web = { client_id: "web-app", client_secret: "s3cret" }

const setUp = Effect.map(GraphSandbox, (sandbox) => {
  const authorize = (fields: Record<string, string>, init = {}) => {
    const all = {
      client_id: "web-app",
      response_type: "code",
      redirect_uri: redirect,
      scope: "openid offline_access User.Read",
      ...fields
    }
    return fetched(`${sandbox.authority}/oauth2/v2.0/authorize?${new URLSearchParams(all).toString()}`, init)
  }
  const token = (fields: Record<string, string>) => fetched(`${sandbox.authority}/oauth2/v2.0/token`, form(fields))
  const code = (fields: Record<string, string> = {}) =>
    Effect.map(
      authorize({ login_hint: "ann@contoso.test", ...fields }),
      ({ headers }) => new URL(headers.get("location") ?? "").searchParams.get("code") ?? ""
    )
  return { authorize, code, sandbox, token }
})

const back = ({ headers }: { readonly headers: Headers }) => new URL(headers.get("location") ?? "")

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("the identity provider", (it) => {
  it.effect("shows a page where one picks who signs in, or declines", () =>
    Effect.gen(function* () {
      const { authorize } = yield* setUp
      const page = yield* authorize({ state: "s & t" })
      assert.strictEqual(page.status, 200)
      assert.include(Buffer.from(page.bytes).toString(), "joan@contoso.test")
      const picked = yield* authorize({ state: "s & t" }, form({ user: "joan@contoso.test" }))
      assert.strictEqual(picked.status, 302)
      assert.strictEqual(back(picked).searchParams.get("state"), "s & t")
      const declined = yield* authorize({ state: "x" }, form({ decline: "yes" }))
      assert.strictEqual(back(declined).searchParams.get("error"), "access_denied")
      assert.strictEqual(back(declined).searchParams.get("state"), "x")
      const again = yield* authorize({ login_hint: "ann@contoso.test", prompt: "select_account" })
      assert.strictEqual(again.status, 200)
    })
  )

  it.effect("answers in the mode that is asked for", () =>
    Effect.gen(function* () {
      const { authorize } = yield* setUp
      const hint = { login_hint: "ann@contoso.test", state: "x" }
      const fragment = yield* authorize({ ...hint, response_mode: "fragment" })
      assert.match(back(fragment).hash, /code=.*&state=x/)
      const posted = Buffer.from((yield* authorize({ ...hint, response_mode: "form_post" })).bytes).toString()
      assert.match(posted, /<form method="post" action="http:\/\/localhost:5000\/callback">.*name="code".*name="state"/)
    })
  )

  it.effect("sends nothing to an address that is not registered, and tells of an unknown app on a page", () =>
    Effect.gen(function* () {
      const { authorize } = yield* setUp
      const elsewhere = yield* authorize({ redirect_uri: "http://evil.test/callback", login_hint: "ann@contoso.test" })
      assert.strictEqual(elsewhere.status, 400)
      assert.include(Buffer.from(elsewhere.bytes).toString(), "AADSTS50011")
      const path = yield* authorize({ redirect_uri: "http://localhost:5000/other" })
      assert.strictEqual(path.status, 400)
      const app = yield* authorize({ client_id: "none" })
      assert.include(Buffer.from(app.bytes).toString(), "AADSTS700016")
      const silent = yield* authorize({ prompt: "none" })
      assert.strictEqual(back(silent).searchParams.get("error"), "login_required")
      const page = yield* authorize({
        client_id: "page",
        redirect_uri: "http://localhost/page",
        login_hint: "ann@contoso.test"
      })
      assert.match(back(page).searchParams.get("error_description") ?? "", /9002325/)
    })
  )

  it.effect("gives an id token that its keys verify, and a refresh token that gives the next", () =>
    Effect.gen(function* () {
      const { code, sandbox, token } = yield* setUp
      const got = yield* token({
        ...web,
        grant_type: "authorization_code",
        code: yield* code({ nonce: "n1" }),
        redirect_uri: redirect
      })
      assert.strictEqual(got.status, 200)
      const [header = "", payload = "", signature = ""] = String(got.body.id_token).split(".")
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString())
      assert.deepInclude(claims, { aud: "web-app", nonce: "n1", preferred_username: "ann@contoso.test" })
      const configuration = (yield* fetched(`${sandbox.authority}/v2.0/.well-known/openid-configuration`)).body
      assert.strictEqual(configuration.issuer, claims.iss)
      const { keys } = (yield* fetched(configuration.jwks_uri)).body
      const key = createPublicKey({ key: keys[0], format: "jwk" })
      assert.isTrue(verify("RSA-SHA256", Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url")))

      const refresh = (value: string) => token({ ...web, grant_type: "refresh_token", refresh_token: value })
      const next = yield* refresh(got.body.refresh_token)
      assert.notStrictEqual(next.body.refresh_token, got.body.refresh_token)
      assert.strictEqual((yield* refresh(got.body.refresh_token)).status, 200)
      yield* sandbox.expireRefreshTokens
      const expired = yield* refresh(next.body.refresh_token)
      assert.deepInclude(expired.body, { error: "invalid_grant", error_codes: [700082] })
      assert.match(expired.body.error_description, /^AADSTS700082: .*\r\nTrace ID: /)
    })
  )

  it.effect("names what is wrong with a request for a token", () =>
    Effect.gen(function* () {
      const { code, sandbox, token } = yield* setUp
      const codeGrant = { grant_type: "authorization_code", redirect_uri: redirect }
      const challenge = createHash("sha256").update("v".repeat(43)).digest("base64url")
      const cases: ReadonlyArray<readonly [Record<string, string>, number, number]> = [
        [{}, 400, 900144],
        [{ grant_type: "password", ...web }, 400, 70003],
        [{ ...codeGrant, client_id: "none", code: "x" }, 400, 700016],
        [{ ...codeGrant, client_id: "web-app", code: "x" }, 401, 7000218],
        [{ ...codeGrant, ...web, client_secret: "no", code: "x" }, 401, 7000215],
        [{ ...codeGrant, client_id: "cli", client_secret: "x", code: "x" }, 401, 700025],
        [{ ...codeGrant, ...web, code: "x" }, 400, 9002313],
        [{ ...codeGrant, ...web, redirect_uri: "http://localhost:1/callback", code: yield* code() }, 400, 500112],
        [
          { ...codeGrant, ...web, code: yield* code({ code_challenge: challenge, code_challenge_method: "S256" }) },
          400,
          501481
        ],
        [{ grant_type: "client_credentials", ...web, scope: "User.Read" }, 400, 70011],
        [{ grant_type: "device_code", client_id: "cli", device_code: "x" }, 400, 70018]
      ]
      for (const [fields, status, number] of cases) {
        const got = yield* token(fields)
        assert.deepStrictEqual([got.status, got.body.error_codes], [status, [number]], JSON.stringify(fields))
      }
      const tenant = yield* fetched(`${sandbox.origin}/nowhere.test/oauth2/v2.0/token`, form(web))
      assert.deepStrictEqual(tenant.body.error_codes, [90002])
    })
  )

  it.effect("lets a device poll until somebody answers on the page", () =>
    Effect.gen(function* () {
      const { sandbox, token } = yield* setUp
      const start = () =>
        fetched(`${sandbox.authority}/oauth2/v2.0/devicecode`, form({ client_id: "cli", scope: "User.Read" }))
      const { body } = yield* start()
      const poll = (code: string) =>
        token({ grant_type: "urn:ietf:params:oauth:grant-type:device_code", client_id: "cli", device_code: code })
      assert.strictEqual((yield* poll(body.device_code)).body.error, "authorization_pending")
      const page = yield* fetched(
        body.verification_uri,
        form({ user_code: body.user_code.toLowerCase(), user: "bo@contoso.test" })
      )
      assert.strictEqual(page.status, 200)
      const got = yield* poll(body.device_code)
      const me = yield* fetched(`${sandbox.graphUrl}/me`, {
        headers: { authorization: `Bearer ${got.body.access_token}` }
      })
      assert.strictEqual(me.body.displayName, "Bo Jones")
      assert.notProperty(got.body, "refresh_token")
      const second = (yield* start()).body
      yield* sandbox.answerDevice(second.user_code, null)
      assert.strictEqual((yield* poll(second.device_code)).body.error, "authorization_declined")
    })
  )
})
