/**
 * The address under which clients reach the service: what is configured, else the address it listens on. Never taken
 * from a request's `Host`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpServer from "effect/http/HttpServer"

export class PublicUrl extends Context.Service<PublicUrl, string>()("@signalbox/control-room/PublicUrl") {
  /** For a service that listens nowhere itself. */
  static readonly layerOf = (configured: string) => Layer.succeed(PublicUrl, configured.replace(/\/+$/, ""))

  static readonly layer = (configured?: string) =>
    configured !== undefined
      ? PublicUrl.layerOf(configured)
      : Layer.effect(
          PublicUrl,
          Effect.map(HttpServer.HttpServer, (server) =>
            // A wildcard address is none that a client could call.
            HttpServer.formatAddress(server.address).replace("//0.0.0.0", "//127.0.0.1").replace("//[::]", "//[::1]")
          )
        )
}
