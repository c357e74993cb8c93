/**
 * The ready composition for scripts: configured by the environment, with tokens in a file.
 */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"
import { startHttpProxy } from "@signalbox/testkit/HttpProxy"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { join } from "node:path"
import * as Downloads from "../src/Downloads.ts"
import * as Drive from "../src/Drive.ts"
import * as FileTokenStore from "../src/FileTokenStore.ts"
import { Graph } from "../src/Graph.ts"
import { layerConfig, layerWith } from "../src/Node.ts"
import { OAuth } from "../src/OAuth.ts"
import { TokenStore } from "../src/TokenStore.ts"
import * as Uploads from "../src/Uploads.ts"
import * as Users from "../src/Users.ts"

const environment = (variables: Readonly<Record<string, string>>) =>
  ConfigProvider.layer(ConfigProvider.fromUnknown(variables))

describe("the environment", () => {
  it.live("is enough for a script, which finds its tokens again the next time", () =>
    Effect.gen(function* () {
      const sandbox = yield* GraphSandbox
      const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      const variables = environment({
        SIGNALBOX_GRAPH_CLIENT_ID: sandbox.app.clientId,
        SIGNALBOX_GRAPH_CLIENT_SECRET: sandbox.app.secret ?? "",
        SIGNALBOX_GRAPH_REDIRECT_URI: sandbox.app.redirectUri,
        SIGNALBOX_GRAPH_URL: `${sandbox.origin}/v1.0/`,
        SIGNALBOX_GRAPH_LOGIN_URL: `${sandbox.origin}/`,
        SIGNALBOX_GRAPH_USER_AGENT: "NONISV|Contoso|Test/1.0",
        XDG_CONFIG_HOME: folder
      })
      const signIn = Effect.gen(function* () {
        const oauth = yield* OAuth
        const { pending, url } = yield* oauth.authorize({ loginHint: "ann@contoso.test" })
        const back = yield* Effect.promise(async () =>
          (await fetch(url, { redirect: "manual" })).headers.get("location")
        )
        yield* oauth.exchange(back ?? "", pending)
      })
      yield* Effect.provide(signIn, Layer.provide(layerConfig, variables))
      const path = yield* Effect.provide(FileTokenStore.defaultPath, variables)
      assert.strictEqual(path, join(folder, "signalbox", "graph", "auth_token.json"))
      const again = layerWith(FileTokenStore.layer({ path }))
      const me = yield* Effect.provide(Users.me(), Layer.provide(again, variables))
      assert.strictEqual(me.displayName, "Ann Lee")
    }).pipe(Effect.scoped, Effect.provide([GraphSandbox.layer({ signInAs: "ann@contoso.test" }), NodeServices.layer]))
  )

  it.live("names the proxy for the API, for signing in and for contents", () =>
    Effect.gen(function* () {
      const sandbox = yield* GraphSandbox
      const { asked, close, url } = yield* Effect.promise(() =>
        startHttpProxy({
          hosts: {
            "graph.test": Number(new URL(sandbox.origin).port),
            "files.test": Number(new URL(sandbox.filesOrigin).port)
          }
        })
      )
      yield* Effect.addFinalizer(() => Effect.promise(close))
      const variables = environment({
        SIGNALBOX_GRAPH_CLIENT_ID: sandbox.app.clientId,
        SIGNALBOX_GRAPH_CLIENT_SECRET: sandbox.app.secret ?? "",
        SIGNALBOX_GRAPH_ACTS_AS: "app",
        SIGNALBOX_GRAPH_URL: "http://graph.test",
        SIGNALBOX_GRAPH_LOGIN_URL: "http://graph.test",
        HTTP_PROXY: url
      })
      const through = Layer.provide(layerWith(TokenStore.layerMemory()), variables)
      const ann = yield* Effect.provide(Users.get("ann@contoso.test"), through)
      assert.strictEqual(ann.displayName, "Ann Lee")
      // The sandbox gives addresses of this computer, which never go through a proxy.
      const contents = yield* Effect.gen(function* () {
        const drive = Drive.of({ user: "ann@contoso.test" })
        const item = yield* Uploads.upload(drive, { path: "/a.txt" }, new TextEncoder().encode("through"))
        const address = Redacted.value(item["@microsoft.graph.downloadUrl"] ?? Redacted.make(""))
        const elsewhere = Redacted.make(address.replace(sandbox.filesOrigin, "http://files.test"))
        return yield* Downloads.bytes(drive, { ...item, "@microsoft.graph.downloadUrl": elsewhere })
      }).pipe(Effect.provide(through))
      assert.strictEqual(new TextDecoder().decode(contents), "through")
      assert.isTrue(asked().some((line) => line.startsWith("GET http://files.test/download/")))
      const [token = "", user = ""] = asked()
      assert.match(token, /^POST http:\/\/graph\.test\/.*\/token$/)
      assert.match(user, /^GET http:\/\/graph\.test\/v1\.0\/users\//)
    }).pipe(Effect.scoped, Effect.provide(GraphSandbox.layer({ signInAs: "ann@contoso.test" })))
  )

  const wrong: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
    ["SIGNALBOX_GRAPH_CLIENT_ID", {}],
    ["HTTPS_PROXY", { SIGNALBOX_GRAPH_CLIENT_ID: "x", HTTPS_PROXY: "ftp://proxy" }],
    ["SIGNALBOX_GRAPH_CLOUD", { SIGNALBOX_GRAPH_CLIENT_ID: "x", SIGNALBOX_GRAPH_CLOUD: "moon" }],
    ["SIGNALBOX_GRAPH_URL", { SIGNALBOX_GRAPH_CLIENT_ID: "x", SIGNALBOX_GRAPH_URL: "localhost:4800" }],
    ["SIGNALBOX_GRAPH_ACTS_AS", { SIGNALBOX_GRAPH_CLIENT_ID: "x", SIGNALBOX_GRAPH_ACTS_AS: "god" }]
  ]
  it.live.each(wrong)("that is wrong about %s says so", ([name, variables]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.provide(Graph, Layer.provide(layerConfig, environment(variables))))
      assert.include(error.message, name)
    })
  )
})

describe("a cloud", () => {
  const clouds: ReadonlyArray<readonly [string, string, string]> = [
    ["us", "https://graph.microsoft.us", "https://login.microsoftonline.us"],
    ["dod", "https://dod-graph.microsoft.us", "https://login.microsoftonline.us"],
    ["china", "https://microsoftgraph.chinacloudapi.cn", "https://login.partner.microsoftonline.cn"],
    ["global", "https://graph.microsoft.com", "https://login.microsoftonline.com"]
  ]
  it.live.each(clouds)("%s has addresses and scopes of its own", ([cloud, graph, login]) =>
    Effect.gen(function* () {
      const both = Effect.gen(function* () {
        assert.strictEqual((yield* Graph).baseUrl, graph)
        return (yield* (yield* OAuth).authorize()).url
      })
      const variables = environment({ SIGNALBOX_GRAPH_CLIENT_ID: "x", SIGNALBOX_GRAPH_CLOUD: cloud })
      const url = new URL(yield* Effect.provide(both, Layer.provide(layerConfig, variables)))
      assert.strictEqual(url.origin, login)
      assert.include(url.searchParams.get("scope"), `${graph}/User.Read`)
    })
  )
})
