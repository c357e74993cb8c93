/**
 * An HTTP proxy like those of companies: it tunnels (`CONNECT`) and forwards, and resolves host names that this machine
 * cannot. It can stop forwarding while its connections stay open.
 */
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http"
import { connect, type AddressInfo, type Socket } from "node:net"

export interface HttpProxy {
  readonly url: string
  /** The requests it received, such as `CONNECT room.test:443` or `GET http://room.test/a`. */
  readonly asked: () => ReadonlyArray<string>
  /** Stops forwarding; new requests are forwarded again. */
  readonly stall: () => void
  readonly close: () => Promise<void>
}

export interface Options {
  /** The ports of 127.0.0.1 behind the names of hosts. */
  readonly hosts: Readonly<Record<string, number>>
  /** `name:password` that it requires. */
  readonly credentials?: string
}

export const startHttpProxy = ({ credentials, hosts }: Options) =>
  new Promise<HttpProxy>((resolve) => {
    const asked: Array<string> = []
    const sockets = new Set<Socket>()
    const expected = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`
    const admits = ({ headers }: IncomingMessage) =>
      expected === undefined || headers["proxy-authorization"] === expected
    const portOf = (url: URL) => hosts[url.hostname]

    const server = createServer((request: IncomingMessage, response: ServerResponse) => {
      asked.push(`${request.method} ${request.url}`)
      const url = new URL(request.url ?? "")
      const port = portOf(url)
      if (!admits(request)) return void response.writeHead(407, { "proxy-authenticate": "Basic" }).end()
      if (port === undefined) return void response.writeHead(502).end()
      const { headers, method } = request
      const onward = forward(
        { port, host: "127.0.0.1", path: url.pathname + url.search, method, headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        }
      )
      onward.on("socket", (socket) => sockets.add(socket))
      onward.on("error", () => response.destroy())
      response.on("close", () => onward.destroy())
      request.pipe(onward)
    })
    server.on("connection", (socket: Socket) => sockets.add(socket))
    server.on("connect", (request: IncomingMessage, client: Socket) => {
      asked.push(`CONNECT ${request.url}`)
      client.on("error", () => {})
      const port = portOf(new URL(`https://${request.url}`))
      if (!admits(request)) return void client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
      if (port === undefined) return void client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n")
      const onward = connect(port, "127.0.0.1", () => {
        client.write("HTTP/1.1 200 Connection established\r\n\r\n")
        client.pipe(onward)
        onward.pipe(client)
      })
      sockets.add(onward)
      onward.on("error", () => client.destroy())
      onward.on("close", () => client.destroy())
      client.on("close", () => onward.destroy())
    })
    server.listen(0, "127.0.0.1", () =>
      resolve({
        // A server that listens on a port has such an address.
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        asked: () => asked,
        stall: () => {
          for (const socket of sockets) {
            socket.unpipe()
            socket.pause()
          }
          sockets.clear()
        },
        close: () => {
          for (const socket of sockets) socket.destroy()
          server.closeAllConnections()
          return new Promise((done) => server.close(() => done()))
        }
      })
    )
  })
