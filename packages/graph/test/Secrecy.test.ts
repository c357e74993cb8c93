/**
 * Nothing secret in errors, logs or spans: a program fails in every way that it can, and all that it left behind is searched
 * for the tokens, the secret, the query, the body and the answer.
 */
import { assert, it } from "@effect/vitest"
import { soak } from "@signalbox/testkit/Soak"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { inspect } from "node:util"
import * as Batch from "../src/Batch.ts"
import * as Downloads from "../src/Downloads.ts"
import * as Drive from "../src/Drive.ts"
import * as Drives from "../src/Drives.ts"
import { Graph } from "../src/Graph.ts"
import * as Lists from "../src/Lists.ts"
import { SiteId } from "../src/model/Common.ts"
import { User } from "../src/model/User.ts"
import { OAuth } from "../src/OAuth.ts"
import { literal, path } from "../src/Path.ts"
import { defaultPolicy, GraphPolicy } from "../src/Policy.ts"
import * as Raw from "../src/Raw.ts"
import * as Sharing from "../src/Sharing.ts"
import { TokenStore } from "../src/TokenStore.ts"
import * as Uploads from "../src/Uploads.ts"
import * as Users from "../src/Users.ts"
import { failure, json, make, type Received, type Reply } from "./support/Server.ts"
import { formOf, tokenError, tokens } from "./support/IdentityProvider.ts"

const secrets = [
  "ACCESSSECRET",
  "REFRESHSECRET",
  "CLIENTSECRET",
  "CODESECRET",
  "QUERYSECRET",
  "BODYSECRET",
  "ANSWERSECRET",
  "LINKSECRET",
  // As it stands in the address of a sharing link.
  "TElOS1NFQ1JFVA"
]

it.live("a token, a code, a query, a body or an answer shows nowhere", () =>
  Effect.gen(function* () {
    const server = yield* make
    const other = yield* make
    const faults: ReadonlyArray<Reply> = [
      ...[400, 401, 403, 404, 409, 412, 429, 500, 503, 507].map((status) => failure(status, "x")),
      { status: 500, body: "<html>ANSWERSECRET</html>" },
      { status: 200, body: "ANSWERSECRET" },
      json({ id: 5, value: "ANSWERSECRET", responses: "ANSWERSECRET" }),
      json({ value: [], "@odata.nextLink": `${other.origin}/LINKSECRET?x=LINKSECRET` }),
      { status: 302, headers: { location: `${other.origin}/LINKSECRET?sig=LINKSECRET` } },
      { status: 202, headers: { location: `${other.origin}/LINKSECRET?sig=LINKSECRET` } },
      json({
        id: "i",
        name: "n",
        size: 5_000_000,
        file: {},
        "@microsoft.graph.downloadUrl": `${other.origin}/LINKSECRET?sig=LINKSECRET`,
        uploadUrl: `${other.origin}/LINKSECRET?sig=LINKSECRET`
      }),
      "reset"
    ]
    const left: Array<string> = []
    const keep = (value: unknown) => {
      left.push(inspect(value, { depth: 20, showHidden: true }), String(value), JSON.stringify(value) ?? "")
    }
    const logger = Logger.make((options) => {
      left.push(Logger.formatJson.log(options), inspect(options.message, { depth: 20 }))
    })
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        keep(options.name)
        const end = span.end.bind(span)
        span.end = (time, exit) => {
          keep(Object.fromEntries(span.attributes))
          keep(span.events)
          if (exit._tag === "Failure") keep(Cause.pretty(exit.cause))
          end(time, exit)
        }
        return span
      }
    })
    const oauth = OAuth
    const ofGraph: ReadonlyArray<Effect.Effect<unknown, unknown, Graph>> = [
      Users.me(),
      Stream.runDrain(Users.search("QUERYSECRET")),
      Stream.runDrain(Lists.items(SiteId.make("s"), "L", { filter: "fields/A eq 'QUERYSECRET'" })),
      Lists.createItem(SiteId.make("s"), "L", { Title: "BODYSECRET" }),
      Raw.send({ path: path`/me/drive/root/search(q=${literal("QUERYSECRET")})` }),
      Batch.send({
        a: Batch.part(User, { method: "POST", path: "/x", query: { q: "QUERYSECRET" }, json: { b: "BODYSECRET" } })
      }),
      Stream.runDrain(Drives.search(Drive.me, "QUERYSECRET")),
      Drives.item(Drive.link("https://x.test/LINKSECRET"), Drive.root),
      Drives.copy(Drive.me, { id: "1" }, { name: "x" }),
      Uploads.upload(Drive.me, { path: "/a" }, Buffer.alloc(4_500_000, "BODYSECRET"), {
        keep: (state) => Effect.log("kept", state)
      }),
      Downloads.bytes(Drive.me, { path: "/a" }),
      Sharing.createLink(Drive.me, { path: "/a" }, { password: "BODYSECRET" })
    ]
    const ofTokens: ReadonlyArray<Effect.Effect<unknown, unknown, OAuth>> = [
      Effect.flatMap(oauth, (service) => service.refresh()),
      Effect.flatMap(oauth, (service) => service.clientCredentials),
      Effect.flatMap(oauth, (service) => service.deviceLogin()),
      Effect.gen(function* () {
        const service = yield* oauth
        const { pending } = yield* service.authorize()
        return yield* service.exchange(`https://x/?code=CODESECRET&state=${pending.state}`, pending)
      })
    ]
    const layer = Graph.layerHttpClient({ graphUrl: server.origin }).pipe(
      Layer.provide(OAuth.layerAccessTokens),
      Layer.provideMerge(
        OAuth.layer({
          clientId: "app",
          clientSecret: Redacted.make("CLIENTSECRET"),
          graphUrl: server.origin,
          loginUrl: server.origin
        })
      ),
      Layer.provide(
        TokenStore.layerMemory({
          accessToken: Redacted.make("ACCESSSECRET"),
          refreshToken: Redacted.make("REFRESHSECRET"),
          expiresAt: Number.MAX_SAFE_INTEGER,
          scopes: []
        })
      ),
      Layer.provide(server.http)
    )
    other.script(failure(403, "x"))
    /** A provider that says back whatever it was sent. */
    const refused = (request: Received) =>
      tokenError("invalid_grant", `AADSTS1: ${Object.values(formOf(request)).join(" ")} were refused`)
    const granted = tokens(1, { access_token: "ACCESSSECRET", refresh_token: "REFRESHSECRET" })
    for (const fault of faults) {
      for (const [n, token] of [() => granted, refused, () => fault].entries()) {
        server.respond((request) => (request.url.startsWith("/v1.0/") ? fault : token(request)))
        // In the long form all of them: calls of the graph ask for a token when theirs is refused.
        const renews = typeof fault === "object" && fault.status === 401
        const calls: ReadonlyArray<Effect.Effect<unknown, unknown, Graph | OAuth>> =
          soak || renews || n === 0 ? [...ofGraph, ...ofTokens] : ofTokens
        for (const call of calls) {
          const exit = yield* Effect.exit(Effect.asVoid(call)).pipe(
            Effect.tap((result) => Effect.logError("a call ended", result)),
            Effect.provideService(GraphPolicy, { ...defaultPolicy, attempts: 2, baseMillis: 1 }),
            Effect.provide([layer, Logger.layer([logger])]),
            Effect.provideService(References.MinimumLogLevel, "All"),
            Effect.provideService(Tracer.Tracer, tracer)
          )
          keep(exit)
          if (exit._tag === "Failure") keep(Cause.squash(exit.cause))
        }
      }
    }
    // Something must have been left, or the search proves nothing.
    assert.isAbove(left.length, 1000)
    for (const proof of ["told to fail", "a call ended", "url.path", "Users.me", "were refused", "search(q='…')"]) {
      assert.isTrue(
        left.some((text) => text.includes(proof)),
        proof
      )
    }
    for (const secret of secrets) {
      const found = left.find((text) => text.includes(secret))
      assert.isUndefined(found, `${secret} is in ${found?.slice(0, 2000)}`)
    }
  }).pipe(Effect.scoped)
)
