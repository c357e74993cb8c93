/**
 * A file arrives in a folder of a drive or of a team site's library: it becomes a work item with the file attached, and a run with
 * it starts. Each file once, over restarts.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ControlRoom from "@signalbox/api/node"
import * as Arrivals from "@signalbox/graph/Arrivals"
import type { DriveItem } from "@signalbox/graph/Drives"
import * as Files from "@signalbox/graph/Files"
import * as Subscriptions from "@signalbox/graph/Subscriptions"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Connection from "../graph/connection.ts"
import * as Intake from "./intake.ts"

const program = Effect.gen(function* () {
  yield* Connection.signIn
  const drive = yield* Connection.drive
  const path = yield* Config.String("SIGNALBOX_INTAKE_FOLDER").pipe(
    Config.withDefault("/Inbox")
  )
  const process = yield* Intake.processFor("incoming files")
  yield* Intake.run({
    source: Arrivals.files(drive, { folder: { path } }),
    watched: { resource: Subscriptions.drive(drive) },
    nameOf: ({ name }: DriveItem) => name ?? "",
    handle: ({ item, key }) =>
      Intake.take(process, key, (to) =>
        Files.download(drive, item, { to }).pipe(
          Effect.map(({ path }) => ({
            payload: {
              file: item.name ?? "",
              size: item.size ?? null,
              webUrl: item.webUrl ?? null
            },
            files: [path]
          })),
          // Deleted, or moved away, before it was taken.
          Effect.catchReason("GraphError", "NotFound", () =>
            Effect.succeed(null)
          )
        )
      )
  })
})

program.pipe(
  Effect.provide(
    Layer.mergeAll(
      ControlRoom.layerConfig,
      Connection.layer,
      Layer.provideMerge(Intake.state("files"), NodeServices.layer)
    )
  ),
  NodeRuntime.runMain
)
