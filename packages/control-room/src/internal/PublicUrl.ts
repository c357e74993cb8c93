/**
 * The address under which clients reach the service: the configured one, else the address it listens on. Never taken
 * from the `Host` of a request.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpServer from "effect/http/HttpServer"

export class PublicUrl extends Context.Service<PublicUrl, string>()("@signalbox/control-room/PublicUrl") {
  /** For a service without its own server. */
  static readonly layerOf = (configured: string) => Layer.succeed(PublicUrl, configured.replace(/\/+$/, ""))

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
