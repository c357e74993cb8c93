/** Keeps deliveries from machines that only this one can reach. */
import * as RefusedTargets from "@signalbox/transport/RefusedTargets"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpServer from "effect/http/HttpServer"
import * as NetAddress from "effect/net/NetAddress"

export class TargetGuard extends Context.Service<TargetGuard, RefusedTargets.Guard>()(
  "@signalbox/control-room/delivery/TargetGuard"
) {
  /** For a service without its own server. */
  static readonly layerOf = (allowPrivate: boolean) =>
    Layer.sync(TargetGuard, () => RefusedTargets.make(allowPrivate, "this service"))

  /** `allowPrivate` defaults to true only when the service itself is reachable from this machine alone. */
  static readonly layer = (allowPrivate?: boolean) =>
    Layer.effect(
      TargetGuard,
      Effect.map(HttpServer.HttpServer, ({ address }) =>
        RefusedTargets.make(
          allowPrivate ?? (NetAddress.isInetAddress(address) && NetAddress.isLoopback(address.address)),
          "this service"
        )
      )
    )
}
