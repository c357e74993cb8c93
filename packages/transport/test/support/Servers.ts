/**
 * Real servers on sockets, with and without TLS.
 */
import { type HttpProxy, type Options, startHttpProxy } from "@signalbox/testkit/HttpProxy"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as HttpClientError from "effect/http/HttpClientError"
import { randomUUID } from "node:crypto"
import { createServer, type RequestListener } from "node:http"
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo, Server, Socket } from "node:net"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { generate } from "selfsigned"
import { noResponse } from "../../src/NoResponse.ts"
import * as NodeTransport from "../../src/Node.ts"

const listening = (server: Server): Effect.Effect<number, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sockets = new Set<Socket>()
    server.on("connection", (socket: Socket) => sockets.add(socket))
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () =>
        Effect.promise(() => {
          for (const socket of sockets) socket.destroy()
          return new Promise<void>((resolve) => server.close(() => resolve()))
        })
    )
    return (server.address() as AddressInfo).port // it listens on a port
  })

/** A server; returns its port. */
export const serve = (listener: RequestListener) => Effect.suspend(() => listening(createServer(listener)))

/** A certificate for these hosts. */
const certified = (...hosts: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    // Clients find an authority by its name, so each has a separate one.
    const { cert, private: key } = await generate([{ name: "commonName", value: `Test ${randomUUID()}` }], {
      keyType: "ec",
      algorithm: "sha256",
      extensions: [
        { name: "basicConstraints", cA: true, critical: true },
        { name: "subjectAltName", altNames: hosts.map((value) => ({ type: 2 as const, value })) }
      ]
    })
    return { cert, key }
  })

const trust = (cert: string) => Effect.sync(() => setDefaultCACertificates([...getCACertificates("default"), cert]))

/** A server with TLS for a host; `trusted: false`: with a certificate that is not trusted. */
export const serveTls = Effect.fnUntraced(function* (
  host: string,
  listener: RequestListener,
  { trusted }: { readonly trusted: boolean } = { trusted: true }
) {
  const { cert, key } = yield* certified(host)
  if (trusted) yield* trust(cert)
  return yield* listening(createTlsServer({ cert, key }, listener))
})

/** A server with TLS on this computer, and the certificate, which nobody trusts. */
export const serveOwnTls = Effect.fnUntraced(function* (listener: RequestListener) {
  const { cert, key } = yield* certified("localhost")
  return { cert, port: yield* listening(createTlsServer({ cert, key }, listener)) }
})

/** A server that speaks HTTP/2 only. */
export const serveHttp2 = Effect.fnUntraced(function* (
  listener: (request: Http2ServerRequest, response: Http2ServerResponse) => void
) {
  const { cert, key } = yield* certified("localhost")
  yield* trust(cert)
  return yield* listening(createSecureServer({ cert, key }, listener))
})

export const proxy = (options: Options): Effect.Effect<HttpProxy, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => startHttpProxy(options)),
    (started) => Effect.promise(() => started.close())
  )

/** The client on Node with an environment of only these variables. */
export const client = (variables: Readonly<Record<string, string>> = {}) =>
  Layer.fresh(Layer.provide(NodeTransport.layer, ConfigProvider.layer(ConfigProvider.fromUnknown(variables))))

/** What an error of the client means. */
export const meaning = (idleMillis: number | null) => (error: HttpClientError.HttpClientError) =>
  noResponse(error, idleMillis)
