/**
 * Tokens of an app itself, from the sandbox's identity provider and from a server that speaks as the cloud's machines do.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import type { Seed } from "@signalbox/graph-sandbox/Seed"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { createSign } from "node:crypto"
import { AccessTokens } from "../src/AccessTokens.ts"
import * as Credentials from "../src/Credentials.ts"
import { Graph } from "../src/Graph.ts"
import { layerTokens } from "../src/Node.ts"
import { OAuthError } from "../src/OAuthError.ts"
import { connectGraph } from "../src/Promise.ts"
import * as Users from "../src/Users.ts"
import { certificate, privateKey, publicKey } from "@signalbox/testkit/Certificate"
import { asked, GraphSandbox, inSandbox } from "./support/Sandbox.ts"
import { failure, json, make, type Server, settle } from "./support/Server.ts"

const issuer = "https://cluster.test"
const subject = "system:serviceaccount:robots:invoices"
const clientId = "app-1"

const seed: Seed = {
  apps: [
    {
      clientId,
      platform: "web",
      secret: "s3cret",
      redirectUris: [],
      certificates: [certificate],
      federated: [{ issuer, subject, publicKey }]
    }
  ]
}

const graphIn = (origin: string) => Graph.layerHttpClient({ graphUrl: origin, loginUrl: origin })

/** Asks for a person with the tokens of a layer, made for the address of a sandbox. */
const askWith = (
  tokens: (place: { readonly loginUrl: string }) => Layer.Layer<AccessTokens, unknown, never>,
  check: (name: string | null | undefined) => void = (name) => assert.strictEqual(name, "Ann Lee")
) =>
  inSandbox(
    Effect.gen(function* () {
      const { origin } = yield* GraphSandbox
      const layer = graphIn(origin).pipe(
        Layer.provide(tokens({ loginUrl: origin })),
        Layer.provide(NodeHttpClient.layerUndici)
      )
      const { displayName } = yield* Effect.provide(Users.get("ann@contoso.test"), layer)
      check(displayName)
      const urls = (yield* asked).map(({ url }) => url)
      assert.strictEqual(urls[0], "/contoso.test/oauth2/v2.0/token")
    }),
    { seed }
  )

const app = { clientId, tenant: "contoso.test" }
const own = { certificate, privateKey: Redacted.make(privateKey) }

/** An assertion as others sign it. */
const assertion = (claims: Readonly<Record<string, unknown>> = {}) => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const now = Math.floor(Date.now() / 1000)
  const body = { iss: issuer, sub: subject, aud: "api://AzureADTokenExchange", exp: now + 60, ...claims }
  const text = `${part({ alg: "RS256", typ: "JWT" })}.${part(body)}`
  return `${text}.${createSign("sha256").update(text).sign(privateKey, "base64url")}`
}

const http = NodeHttpClient.layerUndici

describe("an app", () => {
  it.live("by its secret", () =>
    askWith((place) =>
      Layer.provide(Credentials.layerClientSecret({ ...place, ...app, clientSecret: Redacted.make("s3cret") }), http)
    )
  )

  for (const algorithm of [undefined, "PS256", "RS256"] as const) {
    it.live(`by a certificate, ${algorithm ?? "as by default"}`, () =>
      askWith((place) => Layer.provide(Credentials.layerCertificate({ ...place, ...app, ...own, algorithm }), http))
    )
  }

  it.live("whose tokens are asked for over the client of `layerTokens`", () =>
    inSandbox(
      Effect.gen(function* () {
        const { origin } = yield* GraphSandbox
        const place = { graphUrl: origin, loginUrl: origin }
        const layer = layerTokens(Credentials.layerCertificate({ ...place, ...app, ...own }), place)
        const { displayName } = yield* Effect.provide(Users.get("ann@contoso.test"), layer)
        assert.strictEqual(displayName, "Ann Lee")
      }),
      { seed }
    )
  )

  it.live("by a certificate that the app does not have: the provider says so", () =>
    inSandbox(
      Effect.gen(function* () {
        const { origin } = yield* GraphSandbox
        const layer = Credentials.layerCertificate({
          loginUrl: origin,
          tenant: "contoso.test",
          clientId: "other",
          ...own
        })
        const error = yield* AccessTokens.pipe(
          Effect.flatMap(({ current }) => Effect.flip(current)),
          Effect.provide(Layer.provide(layer, http))
        )
        assert.strictEqual(error._tag === "OAuthError" ? error.reason._tag : "", "InvalidClient")
        assert.include(error.message, "AADSTS700027")
      }),
      { seed: { apps: [{ clientId: "other", platform: "web", redirectUris: [] }] } }
    )
  )

  it.live.each([
    ["certificate", { certificate: "none", privateKey: Redacted.make(privateKey) }],
    ["privateKey", { certificate, privateKey: Redacted.make("none") }],
    [
      "openssl pkcs8",
      { certificate, privateKey: Redacted.make(privateKey.replaceAll("PRIVATE KEY", "RSA PRIVATE KEY")) }
    ]
  ] as ReadonlyArray<readonly [string, Credentials.Certificate]>)(
    "whose texts are no certificate and no key is refused by name: %s",
    ([name, texts]) =>
      Effect.gen(function* () {
        const layer = Layer.provide(Credentials.layerCertificate({ ...app, ...texts }), http)
        const error = yield* Effect.flip(Effect.provide(AccessTokens, layer))
        assert.instanceOf(error, OAuthError)
        assert.include(error.message, name)
        assert.notInclude(error.message, "MII")
      })
  )

  it.live("by an assertion that somebody else signs", () =>
    askWith((place) =>
      Layer.provide(
        Credentials.layerAssertion({ ...place, ...app, assertion: Effect.sync(() => Redacted.make(assertion())) }),
        http
      )
    )
  )

  it.live("with promises, by a certificate", () =>
    inSandbox(
      Effect.gen(function* () {
        const { origin } = yield* GraphSandbox
        yield* Effect.promise(async () => {
          const credentials = { ...app, certificate, privateKey }
          await using graph = connectGraph({ credentials, graphUrl: origin, loginUrl: origin })
          assert.strictEqual((await graph.users.get("ann@contoso.test")).displayName, "Ann Lee")
        })
      }),
      { seed }
    )
  )
})

/** The same text with another signature. */
const forged = (text: string) => `${text.slice(0, text.lastIndexOf("."))}.${Buffer.alloc(256, 1).toString("base64url")}`

const refusals = {
  "for another audience": () => assertion({ aud: "api://elsewhere" }),
  "of another subject": () => assertion({ sub: "system:serviceaccount:other" }),
  "that is over": () => assertion({ exp: 1 }),
  "that another key signed": () => forged(assertion())
}
for (const [name, text] of Object.entries(refusals)) {
  it.live(`an assertion ${name} is refused`, () =>
    inSandbox(
      Effect.gen(function* () {
        const { origin } = yield* GraphSandbox
        const given = Effect.sync(() => Redacted.make(text()))
        const layer = Credentials.layerAssertion({ loginUrl: origin, ...app, assertion: given })
        const error = yield* AccessTokens.pipe(
          Effect.flatMap(({ current }) => Effect.flip(current)),
          Effect.provide(Layer.provide(layer, http))
        )
        assert.strictEqual(error._tag === "OAuthError" ? error.reason._tag : "", "InvalidClient")
      }),
      { seed }
    )
  )
}

const environment = (variables: Readonly<Record<string, string>>) =>
  ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...variables } }))

describe("a workload", () => {
  it.live("reads its token from the file that the environment names, each time", () =>
    inSandbox(
      Effect.gen(function* () {
        const { origin } = yield* GraphSandbox
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const tokenFile = `${folder}/token`
        yield* fs.writeFileString(tokenFile, "expired")
        const variables = {
          AZURE_CLIENT_ID: clientId,
          AZURE_TENANT_ID: "contoso.test",
          AZURE_FEDERATED_TOKEN_FILE: tokenFile,
          AZURE_AUTHORITY_HOST: `${origin}/`
        }
        const layer = Credentials.layerWorkloadIdentity().pipe(
          Layer.provide([http, NodeFileSystem.layer, environment(variables)])
        )
        yield* Effect.gen(function* () {
          const { current } = yield* AccessTokens
          const error = yield* Effect.flip(current)
          assert.include(error.message, "AADSTS50027")
          yield* fs.writeFileString(tokenFile, `${assertion()}\n`)
          assert.isNotEmpty(Redacted.value(yield* current))
        }).pipe(Effect.provide(layer))
      }),
      { seed }
    )
  )

  it.live("without a variable fails with its name", () =>
    Effect.gen(function* () {
      const layer = Credentials.layerWorkloadIdentity({ clientId: "a" }).pipe(
        Layer.provide([http, NodeFileSystem.layer, environment({})])
      )
      const error = yield* Effect.flip(Effect.provide(AccessTokens, layer))
      assert.include(String(error), "AZURE_TENANT_ID")
    })
  )
})

/** Runs with the tokens of a managed identity that a scripted server gives. */
const managed = <A>(
  server: Server,
  variables: Readonly<Record<string, string>>,
  use: (tokens: AccessTokens["Service"]) => Effect.Effect<A, unknown>,
  identity: Credentials.ManagedIdentity = {}
) => {
  const layer = Credentials.layerManagedIdentity({ imdsUrl: server.origin, ...identity })
  const provided = Layer.provide(layer, [server.http, environment(variables)])
  return settle(server, Effect.provide(Effect.flatMap(AccessTokens, use), provided))
}

const issued = (n: number, more: object) => json({ access_token: `MI-${n}`, token_type: "Bearer", ...more })

describe("a managed identity", () => {
  it.effect("of a machine: once for many calls, and again before its end", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond((_, index) => issued(index + 1, { expires_in: "3600" }))
      const tokens = yield* managed(
        server,
        {},
        ({ current }) =>
          Effect.gen(function* () {
            const first = yield* Effect.all([current, current, current], { concurrency: "unbounded" })
            yield* TestClock.adjust("3580 seconds")
            return [...first, yield* current].map(Redacted.value)
          }),
        { clientId: "mi-1" }
      )
      assert.deepStrictEqual(tokens, ["MI-1", "MI-1", "MI-1", "MI-2"])
      const [request] = server.received()
      assert.strictEqual(
        request?.url,
        "/metadata/identity/oauth2/token?resource=https%3A%2F%2Fgraph.microsoft.com&api-version=2018-02-01&client_id=mi-1"
      )
      assert.strictEqual(request?.headers["metadata"], "true")
    })
  )

  it.effect("of a machine that is not ready yet is asked again", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond(
        (_, index) => [failure(404, "x"), failure(410, "x"), failure(503, "x")][index] ?? issued(1, { expires_on: "1" })
      )
      assert.strictEqual(Redacted.value(yield* managed(server, {}, ({ current }) => current)), "MI-1")
      assert.lengthOf(server.received(), 4)
    })
  )

  it.effect("of an App Service, at the address of the environment, with its header", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond(() => issued(1, { expires_on: "4102444800" }))
      const variables = { IDENTITY_ENDPOINT: `${server.origin}/msi/token`, IDENTITY_HEADER: "HEADERSECRET" }
      const token = yield* managed(server, variables, ({ current }) => current, { imdsUrl: "http://127.0.0.1:1" })
      assert.strictEqual(Redacted.value(token), "MI-1")
      const [request] = server.received()
      assert.strictEqual(request?.url, "/msi/token?resource=https%3A%2F%2Fgraph.microsoft.com&api-version=2019-08-01")
      assert.strictEqual(request?.headers["x-identity-header"], "HEADERSECRET")
    })
  )

  it.effect("that does not exist says why", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond(() => json({ error: "invalid_request", error_description: "Identity not found" }, 400))
      const error = yield* managed(server, {}, ({ current }) => Effect.flip(current))
      assert.include(error.message, "Identity not found")
    })
  )

  it.effect("is asked for another token when the service refuses one", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond((_, index) => issued(index + 1, { expires_in: 3600 }))
      const token = yield* managed(server, {}, ({ current, renew }) => Effect.flatMap(current, renew))
      assert.strictEqual(Redacted.value(token), "MI-2")
    })
  )
})

describe("any credential", () => {
  it.live("with getToken, which is asked for the scope of the cloud", () =>
    Effect.gen(function* () {
      const scopes: Array<unknown> = []
      const credential: Credentials.TokenCredential = {
        getToken: (scope) => {
          scopes.push(scope)
          return Promise.resolve({ token: "T", expiresOnTimestamp: Date.now() + 3_600_000 })
        }
      }
      const layer = Credentials.layerTokenCredential(credential, { cloud: "us" })
      const { current } = yield* Effect.provide(AccessTokens, layer)
      assert.strictEqual(Redacted.value(yield* current), "T")
      yield* current
      assert.deepStrictEqual(scopes, ["https://graph.microsoft.us/.default"])
    })
  )

  it.live.each([
    ["fails", () => Promise.reject(new Error("sign in first")), "sign in first"],
    ["gives none", () => Promise.resolve(null), "gave no token"]
  ] as ReadonlyArray<readonly [string, Credentials.TokenCredential["getToken"], string]>)(
    "that %s is Unavailable",
    ([, getToken, words]) =>
      Effect.gen(function* () {
        const { current } = yield* Effect.provide(AccessTokens, Credentials.layerTokenCredential({ getToken }))
        const error = yield* Effect.flip(current)
        assert.strictEqual(error._tag === "OAuthError" ? error.reason._tag : "", "Unavailable")
        assert.include(error.message, words)
      })
  )
})
