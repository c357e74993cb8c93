/**
 * Lists a drive, folder by folder, as the pages arrive: `node examples/graph/list-drive.ts [FOLDER]`.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import type { DriveAddress, ItemAddress } from "@signalbox/graph/Drive"
import type { Graph } from "@signalbox/graph/Graph"
import type { GraphError } from "@signalbox/graph/GraphError"
import * as Drives from "@signalbox/graph/Drives"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Connection from "./connection.ts"

/** Emits each item with its path; a folder is followed by its contents. */
const below = (
  drive: DriveAddress,
  folder: ItemAddress,
  path: string
): Stream.Stream<string, GraphError, Graph> =>
  Stream.flatMap(Drives.children(drive, folder), (item) => {
    const isFolder = item.folder !== undefined
    const size = isFolder ? "" : String(item.size ?? "")
    const line = `${size.padStart(12)}  ${(item.lastModifiedDateTime ?? "").slice(0, 10)}  ${path}${item.name}`
    if (!isFolder) return Stream.succeed(line)
    return Stream.concat(
      Stream.succeed(`${line}/`),
      below(drive, item, `${path}${item.name}/`)
    )
  })

const program = Effect.gen(function* () {
  yield* Connection.signIn
  const drive = yield* Connection.drive
  const { driveType, name, quota, webUrl } = yield* Drives.get(drive)
  const used = quota?.used ?? null
  yield* Console.log(
    `${name} (${driveType}${used === null ? "" : `, ${used} bytes used`}), ${webUrl}`
  )
  yield* Stream.runForEach(
    below(drive, { path: process.argv[2] ?? "/" }, ""),
    (line) => Console.log(line)
  )
})

program.pipe(Effect.provide(Connection.layer), NodeRuntime.runMain)
