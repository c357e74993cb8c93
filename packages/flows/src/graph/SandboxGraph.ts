/**
 * The graph of `signalbox flows fork --sandbox`, for the steps of `GraphSteps`.
 */
import { AccessTokens } from "@signalbox/graph/AccessTokens"
import { Graph } from "@signalbox/graph/Graph"
import { layer as layerNode } from "@signalbox/graph/node"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A token of somebody who has signed in already. */
const tokens = Layer.unwrap(Effect.map(Config.Redacted("SIGNALBOX_GRAPH_TOKEN"), AccessTokens.layerFixed))

/**
 * The graph at `SIGNALBOX_GRAPH_URL`, with the token `SIGNALBOX_GRAPH_TOKEN`, which is not renewed; and local files.
 *
 * ```ts
 * import * as SandboxGraph from "@signalbox/flows/graph/SandboxGraph"
 *
 * export const services = [SandboxGraph.layer]
 * ```
 */
export const layer = Layer.provide(Layer.unwrap(Effect.map(Graph.config, layerNode)), tokens)
