/** A TCP proxy that can stop forwarding while its connections stay open, like a peer that died without closing them. */
import { createServer, connect, type AddressInfo, type Socket } from "node:net"

export interface TcpProxy {
  readonly port: number
  /** Forwards nothing from now on, not even for new connections. */
  readonly freeze: () => void
  /** Forwards new connections again; those that were frozen are reset. */
  readonly thaw: () => void
  /** How many of the connections that were open when it was frozen are still open. */
  readonly stale: () => number
  readonly close: () => Promise<void>
}

export const startProxy = (target: { readonly host: string; readonly port: number }) =>
  new Promise<TcpProxy>((resolve) => {
    const pairs = new Map<Socket, Socket>()
    let frozen = false
    let stale: ReadonlySet<Socket> = new Set()
    const server = createServer((client) => {
      const upstream = connect(target)
      pairs.set(client, upstream)
      for (const [from, to] of [
        [client, upstream],
        [upstream, client]
      ] as const) {
        from.on("data", (chunk) => {
          if (!frozen) to.write(chunk)
        })
        from.on("error", () => {})
        from.on("close", () => {
          pairs.delete(client)
          if (!frozen) to.destroy()
        })
      }
    })
    const drop = () => {
      for (const [client, upstream] of pairs) {
        client.resetAndDestroy()
        upstream.destroy()
      }
    }
    server.listen(0, "127.0.0.1", () =>
      resolve({
        // A server that listens on a port has such an address.
        port: (server.address() as AddressInfo).port,
        freeze: () => {
          frozen = true
          stale = new Set(pairs.keys())
        },
        thaw: () => {
          drop()
          frozen = false
        },
        stale: () => [...stale].filter((client) => pairs.has(client)).length,
        close: () => {
          drop()
          return new Promise((done) => server.close(() => done()))
        }
      })
    )
  })
