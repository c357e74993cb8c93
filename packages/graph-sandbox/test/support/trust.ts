import * as Effect from "effect/Effect"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { GraphSandbox } from "../../src/GraphSandbox.ts"

/** A sandbox with TLS whose certificate this process trusts, as it does with `NODE_EXTRA_CA_CERTS`. */
export const trusted = Effect.gen(function* () {
  const sandbox = yield* GraphSandbox
  if (sandbox.ca !== null) setDefaultCACertificates([...getCACertificates("default"), sandbox.ca])
  return sandbox
})
