/** The sandbox of the graph over HTTPS, with a person who has a folder of a hundred files. */
import { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { writeFileSync } from "node:fs"
import { serve } from "../harness/Program.ts"

export interface Sandbox {
  readonly origin: string
  readonly graphUrl: string
  readonly token: string
}

const [certificate = ""] = process.argv.slice(2)
const files = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`Reports/${n}.txt`, `${n} orders`]))
const runtime = ManagedRuntime.make(
  GraphSandbox.layer({
    // The peer sends no token over plain HTTP.
    tls: true,
    seed: { users: [{ userPrincipalName: "ann@contoso.test", displayName: "Ann Lee", drive: files }] }
  })
)
const ready = await runtime.runPromise(
  Effect.gen(function* () {
    const { accessToken, ca, graphUrl, origin } = yield* GraphSandbox
    // Node reads it when a client starts.
    writeFileSync(certificate, ca ?? "")
    const sandbox: Sandbox = { origin, graphUrl, token: yield* accessToken("ann@contoso.test") }
    return sandbox
  })
)
// Otherwise the record of requests grows with each.
setInterval(
  () => void runtime.runPromise(Effect.flatMap(GraphSandbox, ({ forgetRequests }) => forgetRequests)),
  100
).unref()
serve(() => Promise.resolve(null), { ready, close: () => runtime.dispose() })
