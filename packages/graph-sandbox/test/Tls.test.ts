/**
 * The certificate of a sandbox with TLS.
 */
import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { fetched } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"
import { trusted } from "./support/trust.ts"

it.live("one client trusts two sandboxes", () =>
  Effect.gen(function* () {
    const started = Layer.build(Layer.fresh(GraphSandbox.layer({ seed: contoso, tls: true })))
    const sandboxes = yield* Effect.all([started, started])
    for (const context of sandboxes) yield* Effect.provide(trusted, context)
    for (const context of sandboxes) {
      const { status } = yield* fetched(`${Context.get(context, GraphSandbox).graphUrl}/me`)
      assert.strictEqual(status, 401)
    }
  })
)
