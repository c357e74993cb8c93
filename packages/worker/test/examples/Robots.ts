import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Home from "@signalbox/worker/Home"
import * as Worker from "@signalbox/worker/Worker"

const origin = "http://127.0.0.1:4700"

export const robots = Effect.gen(function* () {
  const home = yield* Home.open({
    folder: ".signalbox-worker",
    service: origin
  })
  return yield* Worker.run({
    origin,
    linkToken: Redacted.make("sbl_…"),
    name: "robots",
    tasks: [],
    home
  })
}).pipe(
  Effect.scoped,
  Effect.provide([NodeHttpClient.layerUndici, NodeServices.layer])
)
