/** The address of the client that made a request, which is not that of the proxy in front of the service. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"

/** Parses an IP address, without the zone that an IPv6 one may have. */
export const ipOf = (address: string) =>
  Option.map(Result.getSuccess(NetAddress.ipFromString(address.replace(/%.*$/, ""))), (ip) =>
    NetAddress.toCanonical(ip)
  )

/** What shares a budget: an IPv4 address, or the /64 network of an IPv6 one, which is what one subscriber has. */
export const subscriberOf = (address: string): string =>
  Option.match(ipOf(address), {
    onNone: () => address,
    onSome: (ip) =>
      NetAddress.isIpv4Address(ip) ? NetAddress.formatIp(ip) : IpNetwork.format(IpNetwork.fromAddressUnsafe(ip, 64))
  })

/** Parses an address or a network of proxies, such as `10.0.0.5` and `10.0.0.0/8`; none when it is neither. */
export const networkOf = (text: string): Option.Option<IpNetwork.IpNetwork> =>
  text.includes("/")
    ? Result.getSuccess(IpNetwork.fromString(text))
    : Option.map(ipOf(text), (ip) => IpNetwork.fromAddressUnsafe(ip, NetAddress.isIpv4Address(ip) ? 32 : 128))

export class ClientAddress extends Context.Service<
  ClientAddress,
  {
    /** The address of the client; null where the server around the service provides none. */
    readonly address: (request: HttpServerRequest.HttpServerRequest) => string | null
    /** What shares a budget with the client; null where the server around the service provides no address. */
    readonly subscriber: (request: HttpServerRequest.HttpServerRequest) => string | null
    /** Whether proxies are known, so that two people do not seem to have the same address. */
    readonly isKnown: boolean
  }
>()("@signalbox/control-room/edge/ClientAddress") {
  /** `trusted`: proxies whose `X-Forwarded-For` counts. */
  static readonly layer = (trusted: ReadonlyArray<string> = []) =>
    Layer.sync(ClientAddress, () => {
      const networks = trusted.flatMap((text) => Option.toArray(networkOf(text)))
      const isTrusted = (address: string) =>
        Option.exists(ipOf(address), (ip) => networks.some((network) => IpNetwork.contains(network, ip)))
      const addressOf = (request: HttpServerRequest.HttpServerRequest) => {
        const peer = Option.getOrNull(request.remoteAddress)
        if (peer === null || !isTrusted(peer)) return peer
        // Each proxy appends who it was asked by; what stands before the last one that is not trusted may be invented.
        const passed = (request.headers["x-forwarded-for"] ?? "").split(",").map((text) => text.trim())
        return passed.findLast((text) => text !== "" && !isTrusted(text)) ?? peer
      }
      return ClientAddress.of({
        isKnown: networks.length > 0,
        address: (request) => addressOf(request)?.slice(0, 100) ?? null,
        subscriber: (request) => {
          const address = addressOf(request)
          return address === null ? null : subscriberOf(address)
        }
      })
    })
}
