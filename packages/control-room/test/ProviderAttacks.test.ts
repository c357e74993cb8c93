/** Sign-ins with a provider that somebody has tampered with, against a real provider: nobody is let in. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { Answer } from "./support/Http.ts"
import { newLogin } from "./support/People.ts"
import * as Provider from "./support/Provider.ts"
import { Service } from "./support/Service.ts"

/** Nobody is signed in, and a page says so. */
const assertOut = (answer: Answer, status: number, text: RegExp) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.match(answer.text, text)
  assert.match(answer.headers["content-type"] ?? "", /^text\/html/)
  assert.notInclude(answer.headers["set-cookie"] ?? "", "sbu_")
}
const ended = /This sign-in has ended/
const unverified = /could not be verified, so nobody was signed in/

/** Somebody who has signed in at the provider, on the way back. */
const onTheWay = Effect.fnUntraced(function* (provider: Provider.Provider, login = `${newLogin("ada")}~staff`) {
  const begun = yield* Provider.begin(provider)
  return { ...begun, back: yield* Provider.signInAt(begun.address, login) }
})

const changed = (address: string, name: string, value: string | null) => {
  const url = new URL(address)
  if (value === null) url.searchParams.delete(name)
  else url.searchParams.set(name, value)
  return url.href
}

const parameter = (address: string, name: string) => new URL(address).searchParams.get(name) ?? ""

withLayer(Provider.layer, { excludeTestServices: true, timeout: "4 minutes" })("sign-in with a provider", (it) => {
  it.effect("asks for a code with PKCE, state and nonce, in a cookie that comes back from other sites", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const real = yield* Provider.Real
      const answer = yield* Provider.follow("/console/sign-in/provider/real")
      const asked = Object.fromEntries(new URL(answer.headers["location"] ?? "").searchParams)
      assert.deepInclude(asked, {
        client_id: real.settings.clientId,
        redirect_uri: `${origin}/console/sign-in/provider/real/callback`,
        response_type: "code",
        response_mode: "query",
        code_challenge_method: "S256",
        scope: "openid profile email"
      })
      for (const name of ["state", "nonce", "code_challenge"]) assert.match(asked[name] ?? "", /^[\w-]{43}$/)
      assert.match(
        answer.headers["set-cookie"] ?? "",
        /^signalbox-provider-\w+=sbp_[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/
      )
    })
  )

  it.effect("sets a cookie for this site alone, on a page that reloads itself and loads nothing", () =>
    Effect.gen(function* () {
      const { back, cookie } = yield* onTheWay(yield* Provider.Real)
      const page = yield* Provider.comeBack(back, cookie)
      assert.strictEqual(page.status, 200, page.text)
      assert.match(page.headers["set-cookie"] ?? "", /signalbox-\w+=sbu_[^,]*HttpOnly[^,]*SameSite=Strict/)
      assert.match(page.headers["set-cookie"] ?? "", /signalbox-provider-\w+=;[^,]*Max-Age=0/)
      assert.include(page.text, `<meta http-equiv="refresh" content="0;url=/console/#/">`)
      assert.match(page.headers["content-security-policy"] ?? "", /^default-src 'none';.*frame-ancestors 'none'$/)
      assert.strictEqual(page.headers["referrer-policy"], "no-referrer")
      assert.strictEqual(page.headers["cache-control"], "no-store")
    })
  )

  it.effect("refuses another state, and leaves the sign-in as it is", () =>
    Effect.gen(function* () {
      const { back, cookie } = yield* onTheWay(yield* Provider.Real)
      for (const state of ["another", "", null]) {
        assertOut(yield* Provider.comeBack(changed(back, "state", state), cookie), 403, ended)
      }
      assert.strictEqual((yield* Provider.comeBack(back, cookie)).status, 200)
    })
  )

  it.effect("refuses what began in another browser, or comes back in a frame", () =>
    Effect.gen(function* () {
      const real = yield* Provider.Real
      const victim = yield* Provider.begin(real)
      const attacker = yield* onTheWay(real)
      assertOut(yield* Provider.comeBack(attacker.back, ""), 403, ended)
      assertOut(yield* Provider.comeBack(attacker.back, victim.cookie), 403, ended)
      const forged = attacker.cookie.replace(/_[\w-]{43}$/, `_${"A".repeat(43)}`)
      assertOut(yield* Provider.comeBack(attacker.back, forged), 403, ended)
      const framed = { "sec-fetch-dest": "iframe" }
      assertOut(yield* Provider.comeBack(attacker.back, attacker.cookie, framed), 403, ended)
    })
  )

  it.effect("refuses a callback that was used, of two at the same moment as well", () =>
    Effect.gen(function* () {
      const real = yield* Provider.Real
      const { back, cookie } = yield* onTheWay(real)
      const both = yield* Effect.all([Provider.comeBack(back, cookie), Provider.comeBack(back, cookie)], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(both.map(({ status }) => status).sort(), [200, 403])
      assertOut(yield* Provider.comeBack(back, cookie), 403, ended)
    })
  )

  it.effect("refuses a code of somebody else's sign-in, with the right state", () =>
    Effect.gen(function* () {
      const real = yield* Provider.Real
      const own = yield* onTheWay(real)
      const other = yield* onTheWay(real, `${newLogin("eve")}~staff`)
      const swapped = changed(own.back, "code", parameter(other.back, "code"))
      assertOut(yield* Provider.comeBack(swapped, own.cookie), 502, unverified)
      // A code that was used once.
      const third = yield* onTheWay(real)
      yield* Provider.comeBack(other.back, other.cookie)
      const replayed = changed(third.back, "code", parameter(other.back, "code"))
      assertOut(yield* Provider.comeBack(replayed, third.cookie), 502, unverified)
    })
  )

  it.effect("refuses what one provider has sent at the callback of another", () =>
    Effect.gen(function* () {
      const other = yield* Provider.Other
      const { back, cookie } = yield* onTheWay(yield* Provider.Real)
      const mixed = back.replace("/provider/real/", "/provider/other/")
      assertOut(yield* Provider.comeBack(mixed, cookie), 403, ended)
      for (const issuer of [other.origin, null]) {
        const one = yield* onTheWay(yield* Provider.Real)
        assertOut(yield* Provider.comeBack(changed(one.back, "iss", issuer), one.cookie), 502, unverified)
      }
    })
  )

  const tokens = [
    "audience",
    "party",
    "issuer",
    "nonce",
    "expired",
    "future",
    "unsigned",
    "symmetric",
    "signature",
    "key"
  ]
  for (const wrong of tokens) {
    it.effect(`refuses an ID token: ${wrong}`, () =>
      Effect.gen(function* () {
        const real = yield* Provider.Real
        yield* real.behave(wrong)
        const { back, cookie } = yield* onTheWay(real)
        assertOut(yield* Effect.ensuring(Provider.comeBack(back, cookie), real.behave()), 502, unverified)
      })
    )
  }

  it.effect("accepts clocks that differ by less than a minute", () =>
    Effect.gen(function* () {
      const real = yield* Provider.Real
      yield* real.behave("skewed")
      const { back, cookie } = yield* onTheWay(real)
      const page = yield* Effect.ensuring(Provider.comeBack(back, cookie), real.behave())
      assert.strictEqual(page.status, 200, page.text)
    })
  )

  it.effect("leads to a screen of the console, wherever it was asked to", () =>
    Effect.gen(function* () {
      const real = yield* Provider.Real
      const places: ReadonlyArray<readonly [asked: string, shown: string]> = [
        ["/runs/7?tab=items", "/console/#/runs/7?tab=items"],
        ["https://evil.example", "/console/#/"],
        ["//evil.example", "/console/#//evil.example"],
        ["ticket=sbt_1", "/console/#/"],
        [`/"><script>`, "/console/#/&#34;&#62;&#60;script&#62;"],
        ["/a b", "/console/#/"]
      ]
      for (const [asked, shown] of places) {
        const begun = yield* Provider.begin(real, "", asked)
        const back = yield* Provider.signInAt(begun.address, `${newLogin("ada")}~staff`)
        const page = yield* Provider.comeBack(back, begun.cookie)
        assert.include(page.text, `content="0;url=${shown}">`)
      }
    })
  )

  it.effect("begins by a link of the console, and not by pages of others", () =>
    Effect.gen(function* () {
      for (const site of ["cross-site", "same-site"]) {
        const answer = yield* Provider.follow("/console/sign-in/provider/real", "", { "sec-fetch-site": site })
        assertOut(answer, 403, /Sign in from the console/)
        assert.isUndefined(answer.headers["set-cookie"])
      }
      assertOut(yield* Provider.follow("/console/sign-in/provider/nobody"), 404, /No such provider/)
      const { raw } = yield* Service
      const posted = yield* raw("POST", "/console/sign-in/provider/real", { key: null, json: { link: "x" } })
      assert.strictEqual(posted.status, 403)
    })
  )

  it.effect("ends after ten minutes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { back, cookie } = yield* onTheWay(yield* Provider.Real)
      const [row] = yield* sql<{ readonly expires_at: string }>`
        SELECT expires_at FROM provider_sign_in WHERE state = ${parameter(back, "state")}`
      const left = Date.parse(row?.expires_at ?? "") - Date.now()
      assert.isTrue(left <= 600_000 && left > 300_000)
      yield* sql`UPDATE provider_sign_in SET expires_at = ${new Date(Date.now() - 1).toISOString()}`
      assertOut(yield* Provider.comeBack(back, cookie), 403, ended)
    })
  )

  it.effect("says that the provider refused, without the words that came with it", () =>
    Effect.gen(function* () {
      const real = yield* Provider.Real
      const errors = [
        ["access_denied", /The sign-in was cancelled/],
        ["<script>alert(1)</script>", /<code>&#60;script&#62;alert\(1\)/]
      ] as const
      for (const [error, text] of errors) {
        const { back, cookie } = yield* onTheWay(real)
        const told = changed(changed(changed(back, "code", null), "error", error), "error_description", "call 0800 555")
        const page = yield* Provider.comeBack(told, cookie)
        assertOut(page, 403, text)
        assert.notInclude(page.text, "0800")
      }
    })
  )
})
