/**
 * The service on a folder, without a rate limit. Prints where it is when it is ready.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as NodeServer from "@signalbox/control-room/NodeServer"
import * as Server from "@signalbox/control-room/Server"
import * as StorageLayers from "../../packages/control-room/src/internal/service/StorageLayers.ts"
import { ApiKeys } from "../../packages/control-room/src/internal/store/access/ApiKeys.ts"
import { Processes } from "../../packages/control-room/src/internal/store/processes/Processes.ts"
import { Workspaces } from "../../packages/control-room/src/internal/store/access/Workspaces.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpServer from "effect/http/HttpServer"

const [folder = "."] = process.argv.slice(2)

const announce = Layer.effectDiscard(
  Effect.gen(function* () {
    const server = yield* HttpServer.HttpServer
    const workspaces = yield* Workspaces
    const workspace = yield* workspaces.create("bench")
    const { key } = yield* (yield* ApiKeys).create(workspace.id, "bench", Permission.literals)
    const made = yield* (yield* Processes).create(workspace.id, { name: "bench", steps: [] })
    const origin = HttpServer.formatAddress(server.address)
    console.log(JSON.stringify({ origin, key, workspaceId: workspace.id, processId: made?.view.id }))
  })
)

announce.pipe(
  Layer.provide(Server.layer({ rateLimit: null })),
  Layer.provide(StorageLayers.layerStorage({ data: folder })),
  Layer.provide(NodeHttpServer.layer(NodeServer.create, { port: 0, host: "127.0.0.1" })),
  Layer.launch,
  NodeRuntime.runMain
)
