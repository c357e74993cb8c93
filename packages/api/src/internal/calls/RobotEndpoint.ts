/** The address and token of calls on the robot side. */
import { type Redacted, value } from "effect/Redacted"
import type { Connection } from "./Connection.ts"
import { type Transport, transportTo } from "./Transport.ts"

/** An address, without the path that is the same on every service, and the token for it. */
export interface Endpoint {
  readonly url: string
  readonly token: Redacted
}

/** Calls below a path of the endpoint. */
export const transportOf = (endpoint: Endpoint, path: string, connection: Connection): Transport =>
  transportTo(endpoint.url.replace(/\/+$/, "") + path, connection, `Bearer ${value(endpoint.token)}`)
