/** The proxies of the environment. */
import * as Config from "effect/Config"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Rule } from "../../OptionError.ts"
import { BlockList, isIP } from "node:net"

/** Empty: none. */
export interface Proxies {
  readonly httpProxy: string
  readonly httpsProxy: string
  readonly noProxy: string
}

const schemes: ReadonlySet<string> = new Set(["http:", "https:", "socks5:", "socks:"])

/** `proxy.example.com:3128` is read as http, as in other programs. */
const withScheme = (address: string) => (address === "" || address.includes("://") ? address : `http://${address}`)

const expected = "expected the address of a proxy, such as http://proxy.example.com:3128"

const isProxy = (address: string) => {
  if (address === "") return true
  const url = withScheme(address)
  return URL.canParse(url) && schemes.has(new URL(url).protocol)
}

/** What is not the address of a proxy; the message has no password that may be in it. */
export const rule: Rule = (value) => (typeof value === "string" && isProxy(value) ? null : expected)

/** The same proxy for all hosts but this computer; empty: none. */
export const all = (address: string): Proxies => {
  const proxy = withScheme(address)
  return { httpProxy: proxy, httpsProxy: proxy, noProxy: "" }
}

// Errors do not contain the value, which may include a password.
const ProxyAddress = Schema.Trim.check(Schema.makeFilter(isProxy, { message: expected }))

/** A variable in lower or upper case; empty when neither is set. */
const variable = <S extends Schema.Codec<string, string>>(name: string, schema: S) =>
  Config.all([name, name.toUpperCase()].map((spelling) => Config.option(Config.schema(schema, spelling)))).pipe(
    Config.map((found) => Option.getOrElse(Option.firstSomeOf(found), () => ""))
  )

/** From `https_proxy`, `http_proxy` and `no_proxy`, or the same names in upper case. */
export const config: Config.Config<Proxies> = Config.all({
  httpProxy: Config.map(variable("http_proxy", ProxyAddress), withScheme),
  httpsProxy: Config.map(variable("https_proxy", ProxyAddress), withScheme),
  noProxy: variable("no_proxy", Schema.String)
})

const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8)
loopback.addAddress("::1", "ipv6")

/** Whether the host of a URL is this computer: `localhost`, a name below it, or a loopback address. */
export const isLoopback = (url: string | URL): boolean => {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")
  const version = isIP(host)
  if (version === 0) return host === "localhost" || host.endsWith(".localhost")
  return loopback.check(host, version === 6 ? "ipv6" : "ipv4")
}

/** Undici's message, with the status, when a proxy does not connect. */
export const refusal = /^Proxy (?:response|Authentication Required) \((\d+)\)/
