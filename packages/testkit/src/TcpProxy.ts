/**
 * A TCP proxy in front of a server that is away: it can refuse connections, stop forwarding while its connections stay
 * open, like a peer that died without closing them, or forward late.
 */
import { createServer, connect, type AddressInfo, type Socket } from "node:net"

export interface TcpProxy {
  readonly port: number
  /** Resets all connections, and each new one, as the host of a server that is down does. */
  readonly refuse: () => void
  /** Forwards nothing from now on, not even for new connections. */
  readonly freeze: () => void
  /** Forwards what the server sends so much later, on all connections. */
  readonly delay: (millis: number) => void
  /** Forwards new connections again, at once; those that were frozen or delayed are reset. */
  readonly thaw: () => void
  /** How many of the connections that were open when it was frozen are still open. */
  readonly stale: () => number
  /** How many times a client has sent something: at most its writes. */
  readonly sent: () => number
  /** How many connections are open. */
  readonly open: () => number
  readonly close: () => Promise<void>
}

export const startProxy = (target: { readonly host: string; readonly port: number }) =>
  new Promise<TcpProxy>((resolve) => {
    /** The connections that the client has not ended. */
    const pairs = new Map<Socket, Socket>()
    const sockets = new Set<Socket>()
    let refusing = false
    let frozen = false
    let sent = 0
    let delayMillis = 0
    let stale: ReadonlySet<Socket> = new Set()
    // Half open, so that a frozen proxy does not respond to the end of a connection either.
    const server = createServer({ allowHalfOpen: true }, (client) => {
      if (refusing) return void client.resetAndDestroy()
      const upstream = connect({ ...target, allowHalfOpen: true })
      pairs.set(client, upstream)
      sockets.add(client).add(upstream)
      for (const [from, to] of [
        [client, upstream],
        [upstream, client]
      ] as const) {
        const forward = (send: () => void) => {
          const now = () => {
            if (!frozen && !to.destroyed) send()
          }
          if (from === upstream && delayMillis > 0) setTimeout(now, delayMillis).unref()
          else now()
        }
        from.on("data", (chunk) => {
          if (from === client) sent++
          forward(() => to.write(chunk))
        })
        from.on("end", () => {
          if (from === client) pairs.delete(client)
          forward(() => to.end())
        })
        from.on("error", () => {})
        from.on("close", () => {
          pairs.delete(client)
          sockets.delete(from)
          forward(() => to.destroy())
        })
      }
    })
    const drop = () => {
      for (const socket of sockets) socket.resetAndDestroy()
    }
    server.listen(0, "127.0.0.1", () =>
      resolve({
        // A server that listens on a port has such an address.
        port: (server.address() as AddressInfo).port,
        refuse: () => {
          refusing = true
          drop()
        },
        freeze: () => {
          frozen = true
          stale = new Set(pairs.keys())
        },
        delay: (millis) => {
          delayMillis = millis
        },
        thaw: () => {
          if (frozen || delayMillis > 0) drop()
          refusing = false
          frozen = false
          delayMillis = 0
        },
        stale: () => [...stale].filter((client) => pairs.has(client)).length,
        sent: () => sent,
        open: () => pairs.size,
        close: () => {
          drop()
          return new Promise((done) => server.close(() => done()))
        }
      })
    )
  })
