/** What a web application bundles that starts a flow. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { bundling } from "./support/Bundled.ts"

const files = {
  "payment.ts": `
    import * as Schema from "effect/Schema"
    import { define } from "@signalbox/flows/FlowDefinition"
    export const payment = define("payment", {
      version: 1, input: Schema.String, success: Schema.String, error: Schema.Never, idempotencyKey: (order) => order
    })`,
  "body.ts": `
    import * as Effect from "effect/Effect"
    import * as Flow from "@signalbox/flows/Flow"
    import { payment } from "./payment.ts"
    export const pay = Flow.implement(payment, () => Effect.as(Flow.sleep("only its body says this", "1 hour"), "only its body says this"))`,
  "web.ts": `
    import { connectFlows } from "@signalbox/flows/PromiseClient"
    import { payment } from "./payment.ts"
    export const start = (url: string, token: string, order: string) => connectFlows({ url, token }).submit(payment, order)`
}

const { bundle, remove } = bundling("web", files)
afterAll(remove)

describe("a web application that starts a flow", () => {
  it("bundles its definition and the client, without its body, an engine, or modules of Node", async () => {
    const { code, imports, warnings } = await bundle("web.ts")
    assert.deepStrictEqual({ imports, warnings }, { imports: [], warnings: [] })
    assert.include(code, `define("payment"`)
    for (const absent of [
      "only its body says this",
      "interpreter/Interpreter.ts",
      "internal/journal/",
      "src/FlowEngine.ts"
    ]) {
      assert.notInclude(code, absent)
    }
    assert.include((await bundle("body.ts")).code, "only its body says this")
  })
})
