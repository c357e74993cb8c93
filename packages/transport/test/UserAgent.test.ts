/** How clients name themselves in each runtime. */
import { assert, describe, it } from "vitest"
import { runtimeOf, userAgent } from "../src/UserAgent.ts"

describe("the runtime is", () => {
  const runtimes: ReadonlyArray<readonly [string | null, Parameters<typeof runtimeOf>[0]]> = [
    ["node/24.21.0", { process: { versions: { node: "24.21.0" } } }],
    ["bun/1.4.0", { process: { versions: { node: "24.0.0", bun: "1.4.0" } } }],
    ["deno/2.9.0", { process: { versions: { node: "24.0.0" } }, Deno: { version: { deno: "2.9.0" } } }],
    ["workers", { process: { versions: { node: "22.0.0" } }, navigator: { userAgent: "Cloudflare-Workers" } }],
    [null, { navigator: { userAgent: "Mozilla/5.0" } }],
    [null, { process: {}, navigator: { userAgent: "Mozilla/5.0" } }]
  ]
  it.each(runtimes)("%s", (expected, globals) => {
    assert.strictEqual(runtimeOf(globals), expected)
  })
})

describe("the header", () => {
  const node = { process: { versions: { node: "24.21.0" } } }

  it("has the program before the client", () => {
    assert.strictEqual(userAgent("client", "1.0.0", "mine/2", node), "mine/2 client/1.0.0 node/24.21.0")
    assert.strictEqual(userAgent("client", "1.0.0", undefined, node), "client/1.0.0 node/24.21.0")
  })

  it("is left out in browsers", () => {
    assert.isUndefined(userAgent("client", "1.0.0", "mine/2", {}))
  })
})
