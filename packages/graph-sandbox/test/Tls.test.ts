/**
 * The certificate of a sandbox with TLS.
 */
import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { fetched } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

it.live("one client trusts two sandboxes", () =>
  Effect.gen(function* () {
    const started = Layer.build(Layer.fresh(GraphSandbox.layer({ seed: contoso, tls: true })))
    const sandboxes = yield* Effect.all([started, started])
    const trusted = sandboxes.map((context) => Context.get(context, GraphSandbox).ca ?? "")
    // As with NODE_EXTRA_CA_CERTS, which is read when a process starts.
    setDefaultCACertificates([...getCACertificates("default"), ...trusted])
    for (const context of sandboxes) {
      const { status } = yield* fetched(`${Context.get(context, GraphSandbox).graphUrl}/me`)
      assert.strictEqual(status, 401)
    }
  })
)
