/**
 * The TCP connections of a client to Postgres, so that they can be closed while the server is away. The driver ends a
 * connection by a message to the server; a socket whose peer does not respond to it would keep the process alive for
 * minutes.
 */
import * as Redacted from "effect/Redacted"
import { connect, type NetConnectOpts, type Socket } from "node:net"

const keepAliveMillis = 30_000

/** How long a connection may take to close before its socket is destroyed. */
export const endMillis = 500

/** The place that a URL names, by the rules of libpq, which the driver follows too. */
const placeOf = (url: string): NetConnectOpts => {
  const { hostname, port, searchParams } = new URL(url)
  const host = searchParams.get("host") ?? decodeURIComponent(hostname.replace(/^\[(.*)\]$/, "$1"))
  const number = Number(searchParams.get("port") ?? (port === "" ? "5432" : port))
  if (host.startsWith("/")) return { path: `${host}/.s.PGSQL.${number}` }
  return {
    host: host === "" ? "localhost" : host,
    port: number,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMillis
  }
}

export interface Sockets {
  /** Opens a connection: the option `stream` of the driver. */
  readonly stream: () => Socket
  /** Destroys the connections that are open after so long, also those that are opened later. */
  readonly close: (afterMillis: number) => void
}

/** Creates the connections of a client. The driver reports a URL that is invalid when it connects. */
export const make = (url: Redacted.Redacted): Sockets => {
  const open = new Set<Socket>()
  let isClosed = false
  return {
    stream: () => {
      const socket = connect(placeOf(Redacted.value(url)))
      open.add(socket)
      socket.on("close", () => open.delete(socket))
      // The driver does not listen while it exchanges one listener for another. What fails is the statement.
      socket.on("error", () => {})
      // The driver has said that it is the end, and the peer may be away.
      socket.on("finish", () => setTimeout(() => socket.destroy(), endMillis).unref())
      if (isClosed) socket.destroy()
      return socket
    },
    close: (afterMillis) => {
      const destroy = () => {
        isClosed = true
        for (const socket of open) socket.destroy()
      }
      if (afterMillis === 0) return destroy()
      // The sockets keep the process alive for so long, the timer does not.
      setTimeout(destroy, afterMillis).unref()
    }
  }
}
