import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { FlowEngine } from "@signalbox/flows/FlowEngine"

const url = Redacted.make("postgres://flows@localhost/flows")

/** Its address is in the environment (HOST, PORT): each runner has its own. */
const runner = Layer.provide(NodeClusterSocket.layer(), PgClient.layer({ url }))

export const engine = Layer.provide(FlowEngine.layerCluster({ url }), runner)
