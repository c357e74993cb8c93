/**
 * Several nodes of the service on one Postgres: each a service of its own in this process, with a folder of files that
 * all share.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerIn, Service } from "./Service.ts"

/** One more node on the folder; it ends with the scope. */
export const node = Effect.fnUntraced(function* (folder: string) {
  const context = yield* Layer.build(Layer.fresh(layerIn(folder)))
  return { ...Context.get(context, Service), context }
})
