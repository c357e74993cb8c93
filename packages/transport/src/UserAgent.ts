/** How clients name themselves to a service. */

/** The globals by which runtimes are told apart. */
interface Globals {
  readonly process?: { readonly versions?: Readonly<Record<string, string | undefined>> }
  readonly Deno?: { readonly version?: { readonly deno?: string } }
  readonly navigator?: { readonly userAgent?: string }
}

/** The runtime with its version, such as `node/24.21.0`; null in browsers. */
export const runtimeOf = ({ Deno, navigator, process }: Globals): string | null => {
  const versions = process?.versions ?? {}
  // Those after the first three have the versions of Node too.
  const named: ReadonlyArray<readonly [string, string | undefined]> = [
    ["bun", versions["bun"]],
    ["deno", Deno?.version?.deno],
    ["workers", navigator?.userAgent === "Cloudflare-Workers" ? "" : undefined],
    ["node", versions["node"]]
  ]
  const [name, version] = named.find(([, version]) => version !== undefined) ?? []
  if (name === undefined) return null
  return version === "" ? name : `${name}/${version}`
}

/**
 * Returns the value of `User-Agent`: a prefix of the program's own, the client with its version, and the runtime. Undefined in
 * browsers, where the header would turn each request into two, since it needs a preflight.
 *
 * ```ts
 * import { userAgent } from "@signalbox/transport/UserAgent"
 *
 * // invoices/2.1 my-client/1.0.0 node/24.21.0
 * export const header = userAgent("my-client", "1.0.0", "invoices/2.1")
 * ```
 */
export const userAgent = (
  client: string,
  version: string,
  prefix?: string,
  globals: Globals = globalThis
): string | undefined => {
  const runtime = runtimeOf(globals)
  if (runtime === null) return undefined
  return [...(prefix === undefined ? [] : [prefix]), `${client}/${version}`, runtime].join(" ")
}
