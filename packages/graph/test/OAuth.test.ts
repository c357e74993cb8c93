/**
 * Authorizing, and keeping tokens fresh.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { inspect } from "node:util"
import { Graph } from "../src/Graph.ts"
import { OAuth, type Options, PendingAuthorization } from "../src/OAuth.ts"
import * as Raw from "../src/Raw.ts"
import { getScopes, scopeHelpers } from "../src/Scopes.ts"
import { TokenStore, TokenStoreError } from "../src/TokenStore.ts"
import { fromRefreshToken, type Tokens } from "../src/Tokens.ts"
import { formOf, serve, tokenError, tokens } from "./support/IdentityProvider.ts"
import { json, make, type Server, settle } from "./support/Server.ts"

const app = (server: Server, more: Partial<Options> = {}): Options => ({
  clientId: "app-1",
  clientSecret: Redacted.make("CLIENTSECRET"),
  graphUrl: server.origin,
  loginUrl: server.origin,
  ...more
})

const stack = (server: Server, store: Layer.Layer<TokenStore>, more: Partial<Options> = {}) =>
  Graph.layerHttpClient({ graphUrl: server.origin }).pipe(
    Layer.provide(OAuth.layerAccessTokens),
    Layer.provideMerge(OAuth.layer(app(server, more))),
    Layer.provideMerge(store),
    Layer.provide(server.http)
  )

const expired: Tokens = {
  accessToken: Redacted.make("AT-0"),
  refreshToken: Redacted.make("RT-0"),
  expiresAt: 0,
  scopes: []
}

const oauth = OAuth
const text = (secret: Redacted.Redacted | null | undefined) =>
  secret === null || secret === undefined ? secret : Redacted.value(secret)

describe("authorize", () => {
  it.effect("gives an address with PKCE and a state, and sends nothing", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(json({}))
      yield* Effect.gen(function* () {
        const first = yield* (yield* oauth).authorize({ loginHint: "ann@contoso.example", prompt: "consent" })
        const second = yield* (yield* oauth).authorize()
        const url = new URL(first.url)
        assert.strictEqual(`${url.origin}${url.pathname}`, `${server.origin}/common/oauth2/v2.0/authorize`)
        const query = Object.fromEntries(url.searchParams)
        assert.strictEqual(query["client_id"], "app-1")
        assert.strictEqual(query["response_type"], "code")
        assert.strictEqual(query["scope"], "offline_access https://graph.microsoft.com/User.Read")
        assert.strictEqual(query["redirect_uri"], `${server.origin}/common/oauth2/nativeclient`)
        assert.strictEqual(query["login_hint"], "ann@contoso.example")
        assert.strictEqual(query["prompt"], "consent")
        assert.strictEqual(query["state"], first.pending.state)
        assert.strictEqual(query["code_challenge_method"], "S256")
        const verifier = Redacted.value(first.pending.codeVerifier)
        assert.strictEqual(query["code_challenge"], createHash("sha256").update(verifier).digest("base64url"))
        assert.isAtLeast(verifier.length, 43)
        assert.notInclude(first.url, "CLIENTSECRET")
        assert.notStrictEqual(first.pending.state, second.pending.state)
        assert.notInclude(inspect(first, { depth: 9 }), verifier)
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory())))
      assert.lengthOf(server.received(), 0)
    })
  )

  it.effect("what is pending goes through JSON and back", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(tokens(1))
      yield* Effect.gen(function* () {
        const { pending } = yield* (yield* oauth).authorize({ redirectUri: "https://app.example/back" })
        const saved = JSON.stringify(yield* Schema.encodeEffect(PendingAuthorization)(pending))
        const restored = yield* Schema.decodeUnknownEffect(PendingAuthorization)(JSON.parse(saved))
        const back = `https://app.example/back?code=CODE-1&state=${pending.state}`
        yield* (yield* oauth).exchange(back, restored)
        const form = formOf(server.received()[0])
        assert.strictEqual(form["code_verifier"], Redacted.value(pending.codeVerifier))
        assert.strictEqual(form["redirect_uri"], "https://app.example/back")
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory())), (all) => settle(server, all))
    })
  )
})

describe("exchange", () => {
  const begin = Effect.flatMap(oauth, (service) => service.authorize())

  it.effect("sends the code once, and stores what comes", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(tokens(1))
      yield* Effect.gen(function* () {
        const { pending } = yield* begin
        yield* (yield* oauth).exchange(
          `  ${server.origin}/x?code=CODE-1&state=${pending.state}&session_state=s\n`,
          pending
        )
        const stored = Option.getOrThrow(yield* (yield* TokenStore).load)
        assert.strictEqual(text(stored.accessToken), "AT-1")
        assert.strictEqual(text(stored.refreshToken), "RT-1")
        assert.deepStrictEqual(stored.scopes, ["User.Read", "Files.Read.All"])
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory())), (all) => settle(server, all))
      const [request] = server.received()
      assert.strictEqual(request?.url, "/common/oauth2/v2.0/token")
      const form = formOf(request)
      assert.strictEqual(form["grant_type"], "authorization_code")
      assert.strictEqual(form["code"], "CODE-1")
      assert.strictEqual(form["client_secret"], "CLIENTSECRET")
    })
  )

  const refusals: ReadonlyArray<readonly [string, (state: string) => string, string]> = [
    ["another state", () => "https://x/?code=CODE-1&state=other", "StateMismatch"],
    ["no state", () => "https://x/?code=CODE-1", "StateMismatch"],
    ["nothing of use", () => "https://x/", "InvalidRequest"],
    ["a refusal", (state) => `https://x/?error=access_denied&error_description=no&state=${state}`, "AccessDenied"],
    ["a missing consent", (state) => `https://x/?error=consent_required&state=${state}`, "InteractionRequired"]
  ]
  it.effect.each(refusals)("refuses %s, and sends nothing", ([, pasted, tag]) =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(tokens(1))
      const error = yield* Effect.gen(function* () {
        const { pending } = yield* begin
        return yield* Effect.flip((yield* oauth).exchange(pasted(pending.state), pending))
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory())))
      assert.strictEqual(error._tag === "OAuthError" ? error.reason._tag : "", tag)
      assert.lengthOf(server.received(), 0)
    })
  )

  it.effect("reads an address with a fragment, too", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(tokens(1))
      yield* Effect.gen(function* () {
        const { pending } = yield* begin
        yield* (yield* oauth).exchange(`https://x/#code=CODE-1&state=${pending.state}`, pending)
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory())), (all) => settle(server, all))
      assert.strictEqual(formOf(server.received()[0])["code"], "CODE-1")
    })
  )

  it.effect("B14: an error says what is wrong, and holds neither code, verifier nor secret", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(tokenError("invalid_grant", "AADSTS54005: The code 'CODE-1' with CLIENTSECRET was redeemed"))
      const shown = yield* Effect.gen(function* () {
        const { pending } = yield* begin
        const error = yield* Effect.flip(
          (yield* oauth).exchange(`https://x/?code=CODE-1&state=${pending.state}`, pending)
        )
        assert.strictEqual(error._tag === "OAuthError" ? error.reason._tag : "", "InvalidGrant")
        assert.deepStrictEqual(error._tag === "OAuthError" ? error.reason.numbers : [], [70008])
        return `${error.message}${inspect(error, { depth: 20, showHidden: true })}${JSON.stringify(error)}`
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory())), (all) => settle(server, all))
      assert.include(shown, "was redeemed")
      assert.include(shown, "c-1")
      for (const secret of ["CODE-1", "CLIENTSECRET"]) assert.notInclude(shown, secret)
    })
  )
})

describe("tokens", () => {
  it.effect("50 calls with an expired token make one renewal", () =>
    Effect.gen(function* () {
      const server = yield* make
      const seen = serve(server)
      const calls = Effect.forEach(Array.from({ length: 50 }), () => Raw.send({ path: "/me" }), {
        concurrency: "unbounded"
      })
      yield* settle(server, Effect.provide(calls, stack(server, TokenStore.layerMemory(expired))))
      assert.lengthOf(seen.renewals(), 1)
      assert.lengthOf(seen.calls(), 50)
      assert.strictEqual(formOf(seen.renewals()[0])["refresh_token"], "RT-0")
    })
  )

  it.effect("B9: 50 calls with a token that the service refuses make one renewal", () =>
    Effect.gen(function* () {
      const server = yield* make
      const seen = serve(server)
      const valid = { ...expired, expiresAt: 3_600_000 }
      const calls = Effect.forEach(Array.from({ length: 50 }), () => Raw.send({ path: "/me" }), {
        concurrency: "unbounded"
      })
      yield* settle(server, Effect.provide(calls, stack(server, TokenStore.layerMemory(valid))))
      assert.lengthOf(seen.renewals(), 1)
      assert.lengthOf(seen.calls(), 100)
    })
  )

  it.effect("are renewed before they end, and rotated ones are used next", () =>
    Effect.gen(function* () {
      const server = yield* make
      const seen = serve(server)
      yield* Effect.gen(function* () {
        yield* Raw.send({ path: "/me" })
        yield* Raw.send({ path: "/me" })
        yield* Effect.sleep("3580 seconds")
        yield* Raw.send({ path: "/me" })
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory(expired))), (all) => settle(server, all, 100_000))
      assert.deepStrictEqual(
        seen.renewals().map((request) => formOf(request)["refresh_token"]),
        ["RT-0", "RT-1"]
      )
      // None of the calls had to be refused first.
      assert.lengthOf(seen.calls(), 3)
    })
  )

  it.effect("that live shortly are used for half of their life", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond(({ url }) => (url.endsWith("/token") ? tokens(1, { expires_in: 10 }) : json({})))
      yield* Effect.gen(function* () {
        yield* Effect.forEach([1, 2, 3, 4], () => Raw.send({ path: "/me" }), { concurrency: 4 })
        assert.lengthOf(server.received(), 5)
        yield* Effect.sleep("6 seconds")
        yield* Raw.send({ path: "/me" })
        assert.lengthOf(server.received(), 7)
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory(expired))), (all) => settle(server, all))
    })
  )

  it.effect("B2: a refresh token that is passed is the one that is sent", () =>
    Effect.gen(function* () {
      const server = yield* make
      const seen = serve(server)
      yield* Effect.gen(function* () {
        const service = yield* oauth
        yield* service.refresh()
        const renewed = yield* service.refresh(Redacted.make("SEED"))
        assert.strictEqual(text(renewed.refreshToken), "RT-2")
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory(expired))), (all) => settle(server, all))
      assert.deepStrictEqual(
        seen.renewals().map((request) => formOf(request)["refresh_token"]),
        ["RT-0", "SEED"]
      )
    })
  )

  it.effect("an answer without a refresh token keeps the one there was", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(tokens(1, { refresh_token: undefined }))
      const renewed = yield* Effect.flatMap(oauth, (service) => service.refresh()).pipe(
        Effect.provide(stack(server, TokenStore.layerMemory(expired))),
        (all) => settle(server, all)
      )
      assert.strictEqual(text(renewed.refreshToken), "RT-0")
    })
  )

  it.effect("that cannot be stored are not used", () =>
    Effect.gen(function* () {
      const server = yield* make
      const seen = serve(server)
      const full = Layer.succeed(TokenStore, {
        load: Effect.succeedSome(expired),
        save: () => Effect.fail(new TokenStoreError({ message: "the disk is full" })),
        exclusive: (effect) => effect
      })
      const error = yield* settle(server, Effect.flip(Effect.provide(Raw.send({ path: "/me" }), stack(server, full))))
      assert.strictEqual(error.reason._tag, "Unauthenticated")
      assert.include(error.message, "the disk is full")
      assert.lengthOf(seen.calls(), 0)
    })
  )

  it.live("that come after their caller gave up are stored all the same", () =>
    Effect.gen(function* () {
      const server = yield* make
      serve(server)
      const saving = yield* Deferred.make<void>()
      const saved = yield* Deferred.make<Tokens>()
      const slow = Layer.succeed(TokenStore, {
        load: Effect.succeedSome(expired),
        save: (next) =>
          Deferred.succeed(saving, undefined).pipe(
            Effect.andThen(Effect.sleep("50 millis")),
            Effect.andThen(Deferred.succeed(saved, next)),
            Effect.asVoid
          ),
        exclusive: (effect) => effect
      })
      const call = yield* Effect.forkChild(Effect.provide(Raw.send({ path: "/me" }), stack(server, slow)))
      yield* Deferred.await(saving)
      yield* Fiber.interrupt(call)
      assert.strictEqual(text((yield* Deferred.await(saved)).refreshToken), "RT-1")
    }).pipe(Effect.scoped)
  )

  it.effect("a refresh token that somebody else rotated meanwhile is read again", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond((request) =>
        formOf(request)["refresh_token"] === "RT-9" ? tokens(10) : tokenError("invalid_grant")
      )
      const stored = yield* Ref.make<Tokens>(expired)
      const shared = Layer.succeed(TokenStore, {
        load: Effect.asSome(Ref.getAndUpdate(stored, () => fromRefreshToken(Redacted.make("RT-9")))),
        save: (next) => Ref.set(stored, next),
        exclusive: (effect) => effect
      })
      const renewed = yield* Effect.flatMap(oauth, (service) => service.refresh()).pipe(
        Effect.provide(stack(server, shared)),
        (all) => settle(server, all)
      )
      assert.strictEqual(text(renewed.accessToken), "AT-10")
    })
  )

  it.effect("B15: nobody authorized: a call says what to do, and is not sent", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(json({}))
      const error = yield* Effect.flip(
        Effect.provide(Raw.send({ path: "/me" }), stack(server, TokenStore.layerMemory()))
      )
      assert.strictEqual(error.reason._tag, "Unauthenticated")
      assert.include(error.message, "authorize first")
      assert.lengthOf(server.received(), 0)
    })
  )

  it.effect("a refresh token that ended makes a call fail with the reason of the provider", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(tokenError("invalid_grant", "AADSTS700082: The refresh token has expired"))
      const error = yield* settle(
        server,
        Effect.flip(Effect.provide(Raw.send({ path: "/me" }), stack(server, TokenStore.layerMemory(expired))))
      )
      assert.strictEqual(error.reason._tag, "Unauthenticated")
      assert.strictEqual(error.code, "invalid_grant")
    })
  )

  it.effect("a provider that is down is asked again", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script({ status: 503 }, "reset", tokens(1))
      const renewed = yield* Effect.flatMap(oauth, (service) => service.refresh()).pipe(
        Effect.provide(stack(server, TokenStore.layerMemory(expired))),
        (all) => settle(server, all)
      )
      assert.strictEqual(text(renewed.accessToken), "AT-1")
      assert.lengthOf(server.received(), 3)
    })
  )

  it.effect("an app that acts as itself asks with its secret, once for many calls, and stores nothing", () =>
    Effect.gen(function* () {
      const server = yield* make
      const seen = serve(server)
      yield* Effect.gen(function* () {
        yield* Effect.forEach([1, 2, 3], () => Raw.send({ path: "/users" }), { concurrency: 3 })
        assert.isTrue(Option.isNone(yield* (yield* TokenStore).load))
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory(), { actsAs: "app", tenant: "t-1" })), (all) =>
        settle(server, all)
      )
      assert.lengthOf(seen.renewals(), 1)
      const [request] = seen.renewals()
      assert.strictEqual(request?.url, "/t-1/oauth2/v2.0/token")
      assert.strictEqual(formOf(request)["grant_type"], "client_credentials")
      assert.strictEqual(formOf(request)["scope"], "https://graph.microsoft.com/.default")
    })
  )
})

describe("sign-in on another device", () => {
  const device = json({
    device_code: "DEVICECODE",
    user_code: "ABC-123",
    verification_uri: "https://login.example/device",
    expires_in: 900,
    interval: 5,
    message: "Open the page and enter ABC-123"
  })

  it.effect("asks at the interval, slower when told so, until the user is done", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(
        device,
        tokenError("authorization_pending"),
        tokenError("slow_down"),
        tokenError("authorization_pending"),
        tokens(1)
      )
      yield* Effect.gen(function* () {
        const login = yield* (yield* oauth).deviceLogin()
        assert.strictEqual(login.userCode, "ABC-123")
        assert.include(login.message, "ABC-123")
        yield* login.complete
        assert.isTrue(Option.isSome(yield* (yield* TokenStore).load))
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory())), (all) => settle(server, all, 1000))
      const times = server.received().map(({ at }) => at)
      const gaps = times.slice(2).map((at, i) => at - (times[i + 1] ?? 0))
      assert.isAtLeast(gaps[0] ?? 0, 5_000)
      assert.isAtLeast(gaps[1] ?? 0, 10_000)
      assert.isAtLeast(gaps[2] ?? 0, 10_000)
      assert.strictEqual(formOf(server.received()[1])["device_code"], "DEVICECODE")
    })
  )

  const ends: ReadonlyArray<readonly [string, string]> = [
    ["authorization_declined", "AccessDenied"],
    ["expired_token", "Expired"]
  ]
  it.effect("the store is free while it waits", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(device, tokenError("authorization_pending"))
      yield* Effect.gen(function* () {
        const login = yield* (yield* oauth).deviceLogin()
        const waiting = yield* Effect.forkChild(login.complete)
        yield* Effect.sleep("6 seconds")
        const store = yield* TokenStore
        yield* store.exclusive(store.load)
        assert.isBelow(yield* Clock.currentTimeMillis, 60_000)
        yield* Fiber.interrupt(waiting)
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory())), (all) => settle(server, all, 1000))
      assert.isAtLeast(server.received().length, 2)
    })
  )

  it.effect.each(ends)("%s ends it", ([error, tag]) =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(device, tokenError(error))
      const failed = yield* Effect.gen(function* () {
        const login = yield* (yield* oauth).deviceLogin()
        return yield* Effect.flip(login.complete)
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory())), (all) => settle(server, all, 1000))
      assert.strictEqual(failed._tag === "OAuthError" ? failed.reason._tag : "", tag)
    })
  )

  it.effect("nobody comes: it ends by itself", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script(device, tokenError("authorization_pending"))
      const failed = yield* Effect.gen(function* () {
        const login = yield* (yield* oauth).deviceLogin()
        return yield* Effect.flip(login.complete)
      }).pipe(Effect.provide(stack(server, TokenStore.layerMemory())), (all) => settle(server, all, 60_000))
      assert.strictEqual(failed._tag === "OAuthError" ? failed.reason._tag : "", "Expired")
    })
  )
})

describe("scopes", () => {
  it("of all helpers are 25, always in the same order", () => {
    assert.lengthOf(getScopes(), 25)
    assert.lengthOf(new Set(getScopes()), 25)
    assert.deepStrictEqual(getScopes(), getScopes(scopeHelpers.toReversed()))
    assert.lengthOf(scopeHelpers, 24)
  })
  it("basic is in every answer, names have no case, and what is no helper stays as it is", () => {
    assert.deepStrictEqual(getScopes(["Drive", "Sites.Manage.All"]), [
      "offline_access",
      "https://graph.microsoft.com/User.Read",
      "https://graph.microsoft.com/Files.Read.All",
      "Sites.Manage.All"
    ])
  })
  it("of another cloud have its address", () => {
    assert.include(getScopes(["site"], "https://graph.microsoft.us"), "https://graph.microsoft.us/Sites.Read.All")
  })
})
