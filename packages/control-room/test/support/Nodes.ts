/**
 * Several nodes of the service on one Postgres: each a separate service in this process, with a shared folder of files.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { WakeInterval } from "../../src/internal/background/PollInterval.ts"
import { layerIn, Service } from "./Service.ts"

/** Starts one more node on the folder; it ends with the scope. Its leases wake by notifications only. */
export const node = Effect.fnUntraced(function* (folder: string) {
  const context = yield* Layer.build(Layer.provide(Layer.fresh(layerIn(folder)), Layer.succeed(WakeInterval, "1 hour")))
  return { ...Context.get(context, Service), context }
})
