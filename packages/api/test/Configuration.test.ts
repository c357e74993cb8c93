/** How the client is configured: by the three variables, or by a control room of this folder. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { startHttpProxy } from "@signalbox/testkit/HttpProxy"
import { join } from "node:path"
import { ControlRoom } from "../src/ControlRoom.ts"
import { layerConfig } from "../src/Node.ts"
import { connect } from "../src/Promise.ts"
import * as Workspaces from "../src/Workspaces.ts"
import { answer, make } from "./support/FaultServer.ts"

const names = ["SIGNALBOX_BASE_URL", "SIGNALBOX_API_KEY", "SIGNALBOX_WORKSPACE_ID"] as const
const all = {
  SIGNALBOX_BASE_URL: "http://far.example.com",
  SIGNALBOX_API_KEY: "sbk_far",
  SIGNALBOX_WORKSPACE_ID: "far"
}
type Variables = Readonly<Record<string, string>>

/** Connects beside the credentials of a local control room. */
const configured = Effect.fnUntraced(
  function* (variables: Variables) {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const local = { base_url: "http://127.0.0.1:4700", workspace_id: "local", api_key: "sbk_local" }
    yield* fs.writeFileString(join(folder, "credentials.json"), JSON.stringify(local))
    const provider = ConfigProvider.fromUnknown({ SIGNALBOX_DATA: folder, ...variables })
    return yield* Effect.provide(ControlRoom, Layer.provide(layerConfig, ConfigProvider.layer(provider)))
  },
  Effect.scoped,
  Effect.provide(NodeServices.layer)
)

describe("the connection of the environment", () => {
  it.effect("is what all three variables say", () =>
    Effect.gen(function* () {
      const { baseUrl, workspaceId } = yield* configured(all)
      assert.deepStrictEqual([baseUrl, workspaceId], ["http://far.example.com/api/v1", "far"])
    })
  )

  it.effect("is the local control room when no variable is set, or all are empty", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* configured({})).workspaceId, "local")
      const empty = Object.fromEntries(names.map((name) => [name, ""]))
      assert.strictEqual((yield* configured(empty)).workspaceId, "local")
    })
  )

  const partial = [1, 2, 3, 4, 5, 6].map((bits) => {
    const set = names.filter((_, n) => (bits & (1 << n)) !== 0)
    return { set, text: set.join(" and ") }
  })
  it.effect.each(partial)("with $text alone names what is missing, and is not the local control room", ({ set }) =>
    Effect.gen(function* () {
      for (const missing of [{}, Object.fromEntries(names.map((name) => [name, ""]))]) {
        const given = Object.fromEntries(set.map((name) => [name, all[name]]))
        const error = yield* Effect.flip(configured({ ...missing, ...given }))
        assert.strictEqual(error._tag, "NotConfigured")
        const [before = "", after = ""] = error.message.split(", but ")
        for (const name of names) assert.include(set.includes(name) ? after : before, name)
        assert.match(after, /set all three, or none to use the control room that runs from this folder$/)
      }
    })
  )

  it.effect("with a base URL that is no address names the variable", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(configured({ ...all, SIGNALBOX_BASE_URL: "localhost:4700" }))
      assert.strictEqual(
        error.message,
        "SIGNALBOX_BASE_URL: expected an absolute http or https address, such as http://127.0.0.1:4700"
      )
    })
  )

  it.effect("with a key that no header can carry names the variable, and shows nothing of it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(configured({ ...all, SIGNALBOX_API_KEY: "sbk_far\n" }))
      assert.strictEqual(error.message, "SIGNALBOX_API_KEY: expected a key, without spaces or line breaks around it")
    })
  )

  it.effect("with a proxy that is no address names the variable, and shows nothing of it", () =>
    Effect.gen(function* () {
      for (const given of [all, {}]) {
        const error = yield* Effect.flip(configured({ ...given, HTTPS_PROXY: "ftp://ann:PROXYSECRET@proxy" }))
        assert.strictEqual(
          error.message,
          "HTTPS_PROXY: expected the address of a proxy, such as http://proxy.example.com:3128"
        )
      }
    })
  )

  it.live("reaches a far service through the proxy", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script([
        answer(503, undefined, { "retry-after": "0" }),
        answer(200, { id: "far", name: "Far", organization: { id: "o", name: "O" } })
      ])
      const { asked, close, url } = yield* Effect.promise(() =>
        startHttpProxy({ hosts: { "far.example.com": Number(new URL(server.origin).port) } })
      )
      yield* Effect.addFinalizer(() => Effect.promise(close))
      const provider = ConfigProvider.fromUnknown({ ...all, HTTP_PROXY: url })
      const layer = Layer.provide(layerConfig, ConfigProvider.layer(provider))
      const { name } = yield* Effect.provide(Workspaces.get, layer)
      assert.strictEqual(name, "Far")
      const address = "GET http://far.example.com/api/v1/workspaces/far"
      assert.deepStrictEqual(asked(), [address, address])
    }).pipe(Effect.scoped)
  )

  it("of a program without Effect names the options that are empty", () => {
    assert.throws(
      () => connect({ baseUrl: "http://127.0.0.1:4700", apiKey: "", workspaceId: "" }),
      /apiKey, workspaceId/
    )
  })
})
