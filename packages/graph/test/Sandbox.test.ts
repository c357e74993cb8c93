/**
 * Against the sandbox over real HTTP: the identity provider, users, sites, lists and batches, also when things go wrong.
 */
import { assert, layer } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { GraphSandbox, type Sandbox } from "@signalbox/graph-sandbox/GraphSandbox"
import type { Seed } from "@signalbox/graph-sandbox/Seed"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { AccessTokens } from "../src/AccessTokens.ts"
import * as Batch from "../src/Batch.ts"
import { Graph } from "../src/Graph.ts"
import * as Lists from "../src/Lists.ts"
import { UserId } from "../src/model/Common.ts"
import { Drive } from "../src/model/Drive.ts"
import { User } from "../src/model/User.ts"
import { OAuth, type Options } from "../src/OAuth.ts"
import { odataText } from "../src/Path.ts"
import { defaultPolicy, GraphPolicy } from "../src/Policy.ts"
import * as Sites from "../src/Sites.ts"
import { TokenStore } from "../src/TokenStore.ts"
import * as Users from "../src/Users.ts"

const staff = Array.from({ length: 130 }, (_, n) => ({
  userPrincipalName: `jo${n}@contoso.test`,
  displayName: `Jo Number ${n}`
}))

const seed: Seed = {
  apps: [
    { clientId: "web", secret: "s3cret", platform: "web", redirectUris: ["http://localhost/callback"] },
    { clientId: "cli", platform: "public", redirectUris: ["http://localhost"] }
  ],
  users: [
    {
      userPrincipalName: "ann@contoso.test",
      displayName: "Ann Lee",
      mail: "ann@contoso.test",
      manager: "bo@contoso.test"
    },
    { userPrincipalName: "bo@contoso.test", displayName: "Bo O'Brien", department: "Sales" },
    ...staff
  ],
  groups: [{ id: "g1", displayName: "Team", members: ["ann@contoso.test", "bo@contoso.test"], site: "/sites/My Team" }],
  sites: [
    { path: "", displayName: "Home" },
    {
      path: "/sites/My Team",
      displayName: "My Team",
      drives: { Documents: {}, Archive: {} },
      lists: [
        {
          displayName: "A/B #1",
          columns: [{ name: "Page Count", number: {} }],
          items: Array.from({ length: 7 }, (_, n) => ({ Title: `item ${n}`, Page_x0020_Count: n }))
        }
      ]
    }
  ]
}

const http = NodeHttpClient.layerUndici
const quick = { ...defaultPolicy, baseMillis: 10 }

/** The API as Ann sees it. */
const asAnn = <A, E>(use: Effect.Effect<A, E, Graph>) =>
  Effect.gen(function* () {
    const sandbox = yield* GraphSandbox
    const token = Redacted.make(yield* sandbox.accessToken("ann@contoso.test"))
    const graph = Graph.layerHttpClient({ graphUrl: sandbox.origin }).pipe(
      Layer.provide(AccessTokens.layerFixed(token)),
      Layer.provide(http)
    )
    return yield* Effect.provide(use, graph).pipe(Effect.provideService(GraphPolicy, quick))
  })

/** An app with a memory of its own. */
const app = (sandbox: Sandbox, more: Partial<Options>) =>
  Graph.layerHttpClient({ graphUrl: sandbox.origin }).pipe(
    Layer.provide(OAuth.layerAccessTokens),
    Layer.provideMerge(
      OAuth.layer({
        clientId: "web",
        clientSecret: Redacted.make("s3cret"),
        redirectUri: "http://localhost/callback",
        graphUrl: sandbox.origin,
        loginUrl: sandbox.origin,
        ...more
      })
    ),
    Layer.provide(TokenStore.layerMemory()),
    Layer.provide(http)
  )

/** Where a browser is sent when Ann signs in at the address. */
const browse = (url: string) =>
  Effect.promise(async () => (await fetch(url, { redirect: "manual" })).headers.get("location") ?? "")

const collect = Stream.runCollect

layer(GraphSandbox.layer({ seed }), { excludeTestServices: true, timeout: "4 minutes" })("the sandbox", (it) => {
  it.effect("a user authorizes, and what they gave is renewed when the service refuses it", () =>
    Effect.gen(function* () {
      const sandbox = yield* GraphSandbox
      yield* Effect.gen(function* () {
        const oauth = yield* OAuth
        const { pending, url } = yield* oauth.authorize({ loginHint: "ann@contoso.test" })
        const first = yield* oauth.exchange(yield* browse(url), pending)
        assert.strictEqual((yield* Users.me()).displayName, "Ann Lee")
        yield* sandbox.expireAccessTokens
        yield* sandbox.forgetRequests
        const all = yield* Effect.forEach(Array.from({ length: 20 }), () => Users.me(), { concurrency: 20 })
        assert.lengthOf(all, 20)
        const seen = yield* sandbox.requests
        assert.lengthOf(
          seen.filter(({ host }) => host === "login"),
          1
        )
        const again = yield* Effect.flip(oauth.exchange("http://localhost/callback?code=x&state=other", pending))
        assert.strictEqual(again._tag === "OAuthError" ? again.reason._tag : "", "StateMismatch")
        yield* sandbox.expireRefreshTokens
        const ended = yield* Effect.flip(oauth.refresh(first.refreshToken ?? undefined))
        assert.strictEqual(ended._tag === "OAuthError" ? ended.reason._tag : "", "InvalidGrant")
      }).pipe(Effect.provide(app(sandbox, {})))
    })
  )

  it.effect("a device signs in", () =>
    Effect.gen(function* () {
      const sandbox = yield* GraphSandbox
      const { clientSecret: _, ...publicApp } = {
        clientSecret: undefined,
        clientId: "cli",
        redirectUri: "http://localhost"
      }
      const oauth = Effect.gen(function* () {
        const login = yield* (yield* OAuth).deviceLogin()
        const fiber = yield* Effect.forkChild(login.complete)
        yield* sandbox.answerDevice(login.userCode, "ann@contoso.test")
        yield* Fiber.join(fiber)
        return yield* Users.me()
      })
      const layer = Graph.layerHttpClient({ graphUrl: sandbox.origin }).pipe(
        Layer.provide(OAuth.layerAccessTokens),
        Layer.provideMerge(OAuth.layer({ ...publicApp, graphUrl: sandbox.origin, loginUrl: sandbox.origin })),
        Layer.provide(TokenStore.layerMemory()),
        Layer.provide(http)
      )
      assert.strictEqual((yield* Effect.provide(oauth, layer)).displayName, "Ann Lee")
    })
  )

  it.effect("an app acts as itself; a wrong secret is InvalidClient", () =>
    Effect.gen(function* () {
      const sandbox = yield* GraphSandbox
      const users = Users.get("bo@contoso.test")
      const found = yield* Effect.provide(users, app(sandbox, { actsAs: "app", tenant: sandbox.tenant }))
      assert.strictEqual(found.displayName, "Bo O'Brien")
      const wrong = { clientSecret: Redacted.make("WRONGSECRET") }
      const oauth = Effect.flatMap(OAuth, (service) => service.clientCredentials)
      const error = yield* Effect.flip(Effect.provide(oauth, app(sandbox, { ...wrong, tenant: sandbox.tenant })))
      assert.strictEqual(error.reason._tag, "InvalidClient")
      assert.notInclude(error.message, "WRONGSECRET")
    })
  )

  it.effect("users are found, over all pages and with quotes in their names", () =>
    asAnn(
      Effect.gen(function* () {
        const me = yield* Users.me()
        assert.strictEqual(me.mail, "ann@contoso.test")
        const found = yield* collect(Users.search("Jo"))
        assert.lengthOf(found, 130)
        assert.lengthOf(new Set(found.map(({ id }) => id)), 130)
        const byStart = yield* collect(Users.search("Bo O'B", { mode: "startsWith" }))
        assert.deepStrictEqual(
          byStart.map(({ displayName }) => displayName),
          ["Bo O'Brien"]
        )
        const members = yield* collect(Users.search("Bo", { resource: "groups/g1/members" }))
        assert.lengthOf(members, 1)
        assert.strictEqual((yield* Users.manager(me.id)).displayName, "Bo O'Brien")
        const sales = yield* collect(Users.stream({ filter: `displayName eq ${odataText("Bo O'Brien")}` }))
        assert.lengthOf(sales, 1)
        const missing = yield* Effect.flip(Users.get(UserId.make("nobody@contoso.test")))
        assert.strictEqual(missing.reason._tag, "NotFound")
        assert.isNotNull(missing.request.requestId)
      })
    )
  )

  it.effect("sites by every address", () =>
    asAnn(
      Effect.gen(function* () {
        const root = yield* Sites.get("root")
        const host = root.siteCollection?.hostname ?? ""
        const team = yield* Sites.get([host, "/sites/My Team"])
        assert.strictEqual(team.displayName, "My Team")
        const [, collection = "", site = ""] = team.id.split(",")
        const addresses: ReadonlyArray<Sites.SiteAddress> = [
          team.id,
          `${host}, ${collection}, ${site}`,
          [host, collection, site],
          `https://${host}/sites/My%20Team`,
          [host, "sites/My Team"]
        ]
        for (const address of addresses) assert.strictEqual((yield* Sites.get(address)).id, team.id)
        assert.strictEqual((yield* Sites.get(host)).id, root.id)
        assert.strictEqual((yield* Sites.get("root", { resource: "groups/g1" })).id, team.id)
        assert.lengthOf(yield* collect(Sites.drives(team.id)), 2)
        assert.isDefined((yield* Sites.drive(team.id)).id)
        assert.include(
          (yield* collect(Sites.search("My Team"))).map(({ id }) => id),
          team.id
        )
        const none = yield* Effect.flip(Sites.get([host, "/sites/none"]))
        assert.strictEqual(none.reason._tag, "NotFound")
      })
    )
  )

  it.effect("a list from its making to its end", () =>
    asAnn(
      Effect.gen(function* () {
        const site = yield* Sites.get("root", { resource: "groups/g1" })
        const columns = [
          { name: "Author", text: {} },
          { name: "PageCount", number: {} }
        ]
        const books = yield* Lists.create(site.id, { displayName: "Books", columns })
        const again = yield* Effect.flip(Lists.create(site.id, { displayName: "Books" }))
        assert.strictEqual(again.reason._tag, "NameAlreadyExists")
        const { internalOf } = yield* Lists.columnNames(site.id, "Books")
        assert.strictEqual(internalOf.get("PageCount"), "PageCount")
        const made = yield* Lists.createItem(site.id, "Books", { Title: "Kindred", PageCount: 287 })
        yield* Lists.createItem(site.id, books.id, { Title: "Dune", PageCount: 612 })
        const long = yield* collect(
          Lists.items(site.id, "Books", { filter: "fields/PageCount gt 300", fields: ["Title"] })
        )
        assert.deepStrictEqual(
          long.map(({ fields }) => fields?.["Title"]),
          ["Dune"]
        )
        const strict = yield* Effect.flip(
          collect(Lists.items(site.id, "Books", { filter: "fields/PageCount gt 300", unindexed: false }))
        )
        assert.strictEqual(strict.reason._tag, "InvalidRequest")
        const changed = yield* Lists.updateItem(site.id, "Books", made.id, { Author: "Butler" })
        assert.strictEqual(changed["Author"], "Butler")
        assert.strictEqual((yield* Lists.item(site.id, "Books", made.id)).fields?.["Author"], "Butler")
        const stale = { ifMatch: '"stale,1"' }
        const refused = yield* Effect.flip(Lists.updateItem(site.id, "Books", made.id, { Author: "x" }, stale))
        assert.strictEqual(refused.reason._tag, "PreconditionFailed")
        yield* Lists.removeItem(site.id, "Books", made.id)
        assert.lengthOf(yield* collect(Lists.items(site.id, "Books")), 1)
        yield* Lists.update(site.id, books.id, { description: "what we read" })
        assert.strictEqual((yield* Lists.get(site.id, "Books")).description, "what we read")
        yield* Lists.remove(site.id, books.id)
        assert.strictEqual((yield* Effect.flip(Lists.get(site.id, "Books"))).reason._tag, "NotFound")
      })
    )
  )

  it.effect("B5: a list whose name has a slash and a hash; its items over many pages", () =>
    asAnn(
      Effect.gen(function* () {
        const site = yield* Sites.get("root", { resource: "groups/g1" })
        const items = yield* collect(Lists.items(site.id, "A/B #1", { pageSize: 2 }))
        assert.deepStrictEqual(
          items.map(({ fields }) => fields?.["Page_x0020_Count"]),
          [0, 1, 2, 3, 4, 5, 6]
        )
      })
    )
  )

  it.effect("batches, with parts that are throttled on their own", () =>
    Effect.gen(function* () {
      const sandbox = yield* GraphSandbox
      yield* sandbox.setFaults({
        rules: [{ fault: "throttle", path: "/users/bo", times: 2, retryAfter: "decimal", seconds: 0.05 }]
      })
      const results = yield* asAnn(
        Batch.send({
          me: Batch.part(User, { path: "/me" }),
          drive: Batch.part(Drive, { path: "/me/drive", dependsOn: ["me"] }),
          bo: Batch.part(User, { path: "/users/bo@contoso.test" }),
          nobody: Batch.part(User, { path: "/users/nobody@contoso.test" })
        })
      )
      yield* sandbox.clearFaults
      assert.strictEqual(Result.getOrThrow(results.me).displayName, "Ann Lee")
      assert.isDefined(Result.getOrThrow(results.drive).id)
      assert.strictEqual(Result.getOrThrow(results.bo).displayName, "Bo O'Brien")
      assert.strictEqual(Result.isFailure(results.nobody) ? results.nobody.failure.reason._tag : "", "NotFound")
    })
  )

  it.effect("throttled in every form, dropped and broken: the work is done all the same", () =>
    Effect.gen(function* () {
      const sandbox = yield* GraphSandbox
      const forms = ["decimal", "integer", "date", "missing"] as const
      yield* sandbox.setFaults({
        rules: [
          ...forms.map((retryAfter, n) => ({
            fault: "throttle" as const,
            host: "graph" as const,
            skip: 2 * n,
            times: 1,
            retryAfter,
            seconds: retryAfter === "decimal" ? 0.05 : 1
          })),
          { fault: "drop", host: "graph", skip: 9, times: 1 },
          { fault: "status", status: 503, html: true, host: "graph", skip: 11, times: 1 },
          { fault: "truncate", bytes: 20, host: "graph", skip: 13, times: 1 }
        ]
      })
      const found = yield* asAnn(collect(Users.search("Jo", { pageSize: 10 })))
      const faults = (yield* sandbox.requests).flatMap((seen) => seen.faults)
      yield* sandbox.clearFaults
      assert.lengthOf(new Set(found.map(({ id }) => id)), 130)
      for (const fault of ["throttle", "drop", "status", "truncate"] as const) assert.include(faults, fault)
    })
  )
})
