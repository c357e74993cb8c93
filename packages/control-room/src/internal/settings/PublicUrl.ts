/**
 * The addresses under which clients reach the service: the configured one, else the address it listens on, and a second
 * one for clients in the same network. Never taken from the `Host` of a request, which only chooses between the two.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"

const withoutSlash = (address: string) => address.replace(/\/+$/, "")

export class PublicUrl extends Context.Service<PublicUrl, string>()("@signalbox/control-room/PublicUrl") {
  /** For a service without its own server. */
  static readonly layerOf = (configured: string) => Layer.succeed(PublicUrl, withoutSlash(configured))

  static readonly layer = (configured?: string) =>
    configured !== undefined
      ? PublicUrl.layerOf(configured)
      : Layer.effect(
          PublicUrl,
          Effect.map(HttpServer.HttpServer, (server) =>
            // No client can call a wildcard address.
            HttpServer.formatAddress(server.address).replace("//0.0.0.0", "//127.0.0.1").replace("//[::]", "//[::1]")
          )
        )
}

/** The address with which links for the client of the current request begin; outside of a request, the public one. */
export class ClientUrl extends Context.Service<ClientUrl, Effect.Effect<string>>()(
  "@signalbox/control-room/ClientUrl"
) {
  /** `internal`: used for requests whose `Host` is that of this address. */
  static readonly layer = (internal?: string) =>
    Layer.effect(
      ClientUrl,
      Effect.map(PublicUrl, (publicUrl) => {
        if (internal === undefined) return Effect.succeed(publicUrl)
        const { host } = new URL(internal)
        const address = withoutSlash(internal)
        return Effect.map(Effect.serviceOption(HttpServerRequest.HttpServerRequest), (request) =>
          Option.exists(request, ({ headers }) => headers["host"]?.toLowerCase() === host) ? address : publicUrl
        )
      })
    )
}
