/**
 * Keeps requests from machines that only this one can reach: loopback, private networks, link-local and metadata
 * addresses. The address that is checked, after resolving the name, is the one that is connected to, so a name that
 * resolves differently the next time gains nothing.
 */
import * as Result from "effect/Result"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import { lookup as resolve } from "node:dns"

const networks = (table: Readonly<Record<string, string>>) =>
  Object.entries(table).map(([cidr, what]) => ({ network: IpNetwork.fromStringUnsafe(cidr), what }))

const refusedIpv4 = networks({
  "0.0.0.0/8": "an address of this machine",
  "10.0.0.0/8": "a private address",
  "100.64.0.0/10": "a shared address of a provider",
  "127.0.0.0/8": "a loopback address",
  "168.63.129.16/32": "a metadata address",
  "169.254.0.0/16": "a link-local address",
  "172.16.0.0/12": "a private address",
  "192.0.0.0/24": "a reserved address",
  "192.0.2.0/24": "an address for documentation",
  "192.88.99.0/24": "a reserved address",
  "192.168.0.0/16": "a private address",
  "198.18.0.0/15": "an address for benchmarks",
  "198.51.100.0/24": "an address for documentation",
  "203.0.113.0/24": "an address for documentation",
  "224.0.0.0/4": "a multicast address",
  "240.0.0.0/4": "a reserved address"
})

const refusedIpv6 = networks({
  "2001::/23": "a reserved address",
  "2001:db8::/32": "an address for documentation",
  "3fff::/20": "an address for documentation",
  "::/128": "an address of this machine",
  "::1/128": "a loopback address",
  "fc00::/7": "a unique local address",
  "fe80::/10": "a link-local address",
  "fec0::/10": "a private address",
  "ff00::/8": "a multicast address"
})

/** The only public network of IPv6. */
const publicIpv6 = IpNetwork.fromStringUnsafe("2000::/3")

/** IPv6 networks whose addresses contain an IPv4 address, and at which of their eight segments. */
const carriers = [
  { network: IpNetwork.fromStringUnsafe("::/96"), at: 6 },
  { network: IpNetwork.fromStringUnsafe("::ffff:0:0/96"), at: 6 },
  { network: IpNetwork.fromStringUnsafe("::ffff:0:0:0/96"), at: 6 },
  { network: IpNetwork.fromStringUnsafe("64:ff9b::/96"), at: 6 },
  { network: IpNetwork.fromStringUnsafe("2002::/16"), at: 1 }
] as const

const refusedAddress = (address: NetAddress.IpAddress): string | null => {
  if (NetAddress.isIpv4Address(address)) {
    return refusedIpv4.find(({ network }) => IpNetwork.contains(network, address))?.what ?? null
  }
  const known = refusedIpv6.find(({ network }) => IpNetwork.contains(network, address))
  if (known !== undefined) return known.what
  const carrier = carriers.find(({ network }) => IpNetwork.contains(network, address))
  if (carrier !== undefined) {
    const segments = NetAddress.ipv6ToSegments(address)
    const [high = 0, low = 0] = segments.slice(carrier.at, carrier.at + 2)
    return refusedAddress(NetAddress.ipv4FromBytesUnsafe(Uint8Array.of(high >> 8, high & 255, low >> 8, low & 255)))
  }
  return IpNetwork.contains(publicIpv6, address) ? null : "a reserved address"
}

/** Why an IP address is refused as a target; null when it is allowed. A zone (`%eth0`) makes it a local one. */
export const refusedIp = (text: string): string | null => {
  if (text.includes("%")) return "an address of a local network"
  const address = NetAddress.ipFromString(text)
  return Result.isSuccess(address) ? refusedAddress(address.success) : "not an IP address"
}

/** The host of an address as it will be resolved: `URL` has normalised every spelling of an IPv4 address. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.+$/, "")

/** Why the host is refused by its text alone; null when that is not known before it is resolved. */
const refusedHost = (host: string): string | null => {
  if (host === "" || host === "localhost" || host.endsWith(".localhost")) return "this machine"
  return Result.isSuccess(NetAddress.ipFromString(host)) ? refusedIp(host) : null
}

/** The host was resolved, and is refused as a target. */
class RefusedTarget extends Error {}

export interface Guard {
  /** Why nothing is ever sent to this address; null when it may be tried. */
  readonly refuses: (endpoint: string) => string | null
  /** For the connection: resolves a host, and fails when any of its addresses is refused. */
  readonly lookup: Lookup
}

/** How connections of Node look a name up; declared here, since those who install this need no types of Node. */
export type Lookup = (
  hostname: string,
  options: { readonly all?: boolean | undefined },
  callback: (
    error: Error | null,
    address: string | Array<{ readonly address: string; readonly family: number }>,
    family?: number
  ) => void
) => void

/** The guard of a program, which `sender` names in the reasons, such as `this service`. */
export const make = (allowPrivate: boolean, sender: string): Guard => ({
  refuses: (endpoint) => {
    if (!URL.canParse(endpoint)) return "is not a valid address"
    const url = new URL(endpoint)
    if (url.protocol !== "http:" && url.protocol !== "https:") return "must begin with http:// or https://"
    const what = allowPrivate ? null : refusedHost(hostOf(url))
    return what === null ? null : `is ${what}, to which ${sender} sends no requests`
  },
  lookup: (hostname, options, callback) => {
    resolve(hostname.replace(/\.+$/, ""), { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null || first === undefined) return callback(error ?? new Error("no address"), "")
      const what = allowPrivate
        ? undefined
        : addresses.map(({ address }) => refusedIp(address)).find((it) => it !== null)
      if (what !== undefined && what !== null) {
        return callback(new RefusedTarget(`the host resolves to ${what}, to which ${sender} sends no requests`), "")
      }
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family)
    })
  }
})

/** The message of a failed connection if its target was refused. */
export const refusalOf = (error: unknown): string | null => (error instanceof RefusedTarget ? error.message : null)
