/**
 * Follows a folder of a drive: each new file becomes a work item with the file attached. The folder is
 * `SIGNALBOX_GRAPH_FOLDER` (default `/Inbox`), looked at every `SIGNALBOX_GRAPH_SECONDS` (default 30; 0: once).
 *
 * No file becomes a work item twice, wherever this program was killed: each file is an execution of a durable flow, whose key
 * is the file; and the place in the list of changes moves on when all files before it are done.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ProcessId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as ControlRoom from "@signalbox/api/node"
import * as Processes from "@signalbox/api/Processes"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as GraphSteps from "@signalbox/flows/graph/GraphSteps"
import * as Delta from "@signalbox/graph/Delta"
import type { DriveItem } from "@signalbox/graph/Drives"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { dirname, join } from "node:path"
import * as Connection from "./connection.ts"

/** What was downloaded is not needed once it is attached. */
const forget = Flow.step("forget", {
  input: GraphSteps.LocalFile,
  success: Schema.Void,
  error: Schema.Never,
  run: Effect.fnUntraced(function* ({ path }) {
    const fs = yield* FileSystem.FileSystem
    yield* Effect.orDie(fs.remove(dirname(path), { recursive: true, force: true }))
  })
})

/** Gives the work item, or null when the file has gone again. */
const takeFile = Flow.make("take file", {
  version: 1,
  input: Schema.Struct({
    process: ProcessId,
    file: Schema.Struct({ id: Schema.String, drive: Schema.String }),
    to: Schema.String,
    webUrl: Schema.NullOr(Schema.String)
  }),
  success: Schema.NullOr(WorkItemId),
  error: Schema.Union([
    ...GraphSteps.downloadFile.error.members,
    ...Steps.createWorkItem.error.members,
    ...Steps.attachFiles.error.members
  ]),
  idempotencyKey: ({ file }) => `${file.drive} ${file.id}`,
  run: Effect.fnUntraced(function* ({ file, process, to, webUrl }) {
    // A folder for each file, since two files of the drive may have one name.
    const local = yield* GraphSteps.downloadFile({ item: file, to: join(to, file.id) }).pipe(
      Effect.catchReason("GraphError", "NotFound", () => Effect.succeed(null))
    )
    if (local === null) return null
    const workItem = yield* Steps.createWorkItem({ process, payload: { file: local.name, size: local.size, webUrl } })
    yield* Steps.attachFiles({ workItem, files: [local.path] })
    yield* forget(local)
    return workItem
  })
})

/** Begins the execution of a file, joins it, or runs it again when it has failed; and waits for its end. */
const take = Effect.fnUntraced(function* (process: ProcessId, item: DriveItem) {
  const to = join(yield* Connection.data, "files")
  const file = { id: item.id, drive: item.parentReference?.driveId ?? "" }
  const input = { process, file, to, webUrl: item.webUrl ?? null }
  const execution = yield* FlowExecutions.get(yield* Flow.submit(takeFile, input))
  if (execution.state === "failed") yield* FlowExecutions.retry(execution.id)
  const workItem = yield* Flow.execute(takeFile, input)
  yield* Console.log(workItem === null ? `${item.name} has gone again` : `${item.name} is the work item ${workItem}`)
})

/** The place in the list of changes, kept as a whole or not at all. */
const place = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* Connection.data
  const path = join(folder, "place.txt")
  yield* fs.makeDirectory(folder, { recursive: true })
  return {
    load: fs.readFileString(path).pipe(
      Effect.map((link) => ({ from: Delta.DeltaLink.make(link) })),
      Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed({}))
    ),
    save: (link: Delta.DeltaLink) =>
      Effect.andThen(fs.writeFileString(`${path}.new`, link, { mode: 0o600 }), fs.rename(`${path}.new`, path))
  }
})

/** One look at what has changed since the last one. */
const look = Effect.fnUntraced(function* (process: ProcessId) {
  const drive = yield* Connection.drive
  const path = yield* Config.String("SIGNALBOX_GRAPH_FOLDER").pipe(Config.withDefault("/Inbox"))
  const { load, save } = yield* place
  const { items, link } = yield* Delta.changes(drive, { folder: { path }, ...(yield* load) })
  const files = items.filter(({ deleted, file }) => file !== undefined && deleted === undefined)
  const done = yield* Effect.forEach(
    files,
    (item) =>
      take(process, item).pipe(
        Effect.as(true),
        Effect.catch((error) =>
          Effect.as(Console.error(`${item.name}: ${error.message}; the next look tries again`), false)
        )
      ),
    { concurrency: 4 }
  )
  if (link !== null && !done.includes(false)) yield* save(link)
})

const program = Effect.gen(function* () {
  yield* Connection.signIn
  const { id } = yield* Processes.put({ name: "incoming files", steps: [{ name: "read", task: { name: "read" } }] })
  const seconds = yield* Config.Finite("SIGNALBOX_GRAPH_SECONDS").pipe(Config.withDefault(30))
  if (seconds === 0) return yield* look(id)
  yield* Console.log(`Looking every ${seconds} s; stop it with Ctrl-C`)
  // What outlasts the retries of the clients, such as a night without a network, does not end the watch; a lost sign-in does.
  const lookOn = Effect.catchIf(
    look(id),
    (error) => !(error._tag === "GraphError" && error.reason._tag === "Unauthenticated"),
    (error) => Console.error(`${error.message}; the next look tries again`)
  )
  yield* Effect.repeat(lookOn, Schedule.spaced(seconds * 1000))
})

const engine = Layer.unwrap(
  Effect.map(Connection.data, (folder) => FlowEngine.layerSqlite({ file: join(folder, "flows.db") }))
)

program.pipe(
  Effect.provide(
    Flow.layer(takeFile).pipe(
      Layer.provideMerge(engine),
      Layer.provideMerge(Layer.merge(ControlRoom.layerConfig, Connection.layer))
    )
  ),
  NodeRuntime.runMain
)
