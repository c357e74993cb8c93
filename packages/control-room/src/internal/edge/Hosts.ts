/**
 * Which `Host` a request may name. A page of any site can make a browser resolve that site's name to a loopback address
 * (DNS rebinding) and so call a service that only this machine should reach; the `Host` header reveals it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpServer from "effect/http/HttpServer"
import * as NetAddress from "effect/net/NetAddress"
import { PublicUrl } from "../settings/PublicUrl.ts"

/** The name in a `Host` header without its port, in lower case; null when it is invalid. */
const nameOf = (host: string): string | null =>
  /^(\[[0-9a-f:.]+\]|[^\s:/@[\]]+)(?::\d*)?$/i.exec(host)?.[1]?.toLowerCase().replace(/\.$/, "") ?? null

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

export class Hosts extends Context.Service<
  Hosts,
  {
    /** Whether a request with this header is meant for this service. */
    readonly admits: (host: string | undefined) => boolean
  }
>()("@signalbox/control-room/edge/Hosts") {
  /** For a service behind a server that routes to it. */
  static readonly layerAny = Layer.succeed(Hosts, { admits: () => true })

  /**
   * Names of this machine, of the public and the internal address, and `allowed`. Checked when the service listens on loopback, or when
   * names are given.
   */
  static readonly layer = (allowed: ReadonlyArray<string> = [], internal?: string) =>
    Layer.effect(
      Hosts,
      Effect.gen(function* () {
        const { address } = yield* HttpServer.HttpServer
        const isLocal = NetAddress.isInetAddress(address) && NetAddress.isLoopback(address.address)
        if (!isLocal && allowed.length === 0) return Hosts.of({ admits: () => true })
        const own = [yield* PublicUrl, ...(internal === undefined ? [] : [internal])]
        const names = new Set([...allowed, ...own.map((one) => new URL(one).host)].map(nameOf))
        // A request without the header does not come from a browser.
        let last: string | undefined
        const admits = (host: string | undefined) => {
          // Nearly all requests name the same host.
          if (host === undefined || host === last) return true
          const name = nameOf(host)
          if (name === null || !(loopback.test(name) || names.has(name))) return false
          last = host
          return true
        }
        return Hosts.of({ admits })
      })
    )
}
