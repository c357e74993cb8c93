/**
 * Follows a folder of a drive: each new file becomes a work item of a process with the file attached, and a run with it starts.
 * The folder is `SIGNALBOX_GRAPH_FOLDER` (default `/Inbox`), polled every `SIGNALBOX_GRAPH_SECONDS` (default 30; 0: once).
 *
 * No file becomes a work item twice, even if this program is killed: each file is an execution of a durable flow, whose key is
 * the file, and the position in the list of changes advances only when all files before it are done.
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

/** Deletes the downloaded file, which is not needed once it is attached. */
const deleteLocal = Flow.step("deleteLocal", {
  input: GraphSteps.LocalFile,
  success: Schema.Void,
  error: Schema.Never,
  run: Effect.fnUntraced(function* ({ path }) {
    const fs = yield* FileSystem.FileSystem
    yield* Effect.orDie(
      fs.remove(dirname(path), { recursive: true, force: true })
    )
  })
})

/** Returns the work item, or null when the file was deleted. */
const takeFile = Flow.make("take file", {
  version: 2,
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
    ...Steps.attachFiles.error.members,
    ...Steps.startRun.error.members
  ]),
  idempotencyKey: ({ file }) => `${file.drive} ${file.id}`,
  run: Effect.fnUntraced(function* ({ file, process, to, webUrl }) {
    // A folder for each file, since two files of the drive may have the same name.
    const local = yield* GraphSteps.downloadFile({
      item: file,
      to: join(to, file.id)
    }).pipe(
      Effect.catchReason("GraphError", "NotFound", () => Effect.succeed(null))
    )
    if (local === null) return null
    const workItem = yield* Steps.createWorkItem({
      process,
      payload: { file: local.name, size: local.size, webUrl }
    })
    yield* Steps.attachFiles({ workItem, files: [local.path] })
    yield* deleteLocal(local)
    // Not a trigger on waiting items, which could start a run before the file is attached.
    yield* Steps.startRun({ process, workItems: [workItem] })
    return workItem
  })
})

/** Starts the execution of a file, joins it, or retries it when it has failed; and waits for its end. */
const take = Effect.fnUntraced(function* (process: ProcessId, item: DriveItem) {
  const to = join(yield* Connection.data, "files")
  const file = { id: item.id, drive: item.parentReference?.driveId ?? "" }
  const input = { process, file, to, webUrl: item.webUrl ?? null }
  const execution = yield* FlowExecutions.get(
    yield* Flow.submit(takeFile, input)
  )
  if (execution.state === "failed") yield* FlowExecutions.retry(execution.id)
  const workItem = yield* Flow.execute(takeFile, input)
  yield* Console.log(
    workItem === null
      ? `${item.name} was deleted`
      : `${item.name} is the work item ${workItem}`
  )
})

/** The position in the list of changes, written atomically. */
const position = Effect.gen(function* () {
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
      Effect.andThen(
        fs.writeFileString(`${path}.new`, link, { mode: 0o600 }),
        fs.rename(`${path}.new`, path)
      )
  }
})

/** Processes the changes since the last poll. */
const poll = Effect.fnUntraced(function* (process: ProcessId) {
  const drive = yield* Connection.drive
  const path = yield* Config.String("SIGNALBOX_GRAPH_FOLDER").pipe(
    Config.withDefault("/Inbox")
  )
  const { load, save } = yield* position
  const { items, link } = yield* Delta.changes(drive, {
    folder: { path },
    ...(yield* load)
  })
  const files = items.filter(
    ({ deleted, file }) => file !== undefined && deleted === undefined
  )
  const done = yield* Effect.forEach(
    files,
    (item) =>
      take(process, item).pipe(
        Effect.as(true),
        Effect.catch((error) =>
          Effect.as(
            Console.error(
              `${item.name}: ${error.message}; retried at the next poll`
            ),
            false
          )
        )
      ),
    { concurrency: 4 }
  )
  if (link !== null && !done.includes(false)) yield* save(link)
})

const program = Effect.gen(function* () {
  yield* Connection.signIn
  const { id } = yield* Processes.put({
    name: "incoming files",
    steps: [{ name: "read", task: { name: "read" } }]
  })
  const seconds = yield* Config.Finite("SIGNALBOX_GRAPH_SECONDS").pipe(
    Config.withDefault(30)
  )
  if (seconds === 0) return yield* poll(id)
  yield* Console.log(`Polling every ${seconds} s; stop with Ctrl-C`)
  // Errors that outlast the retries of the clients, such as a night without a network, do not end the program; a lost sign-in does.
  const pollSafely = Effect.catchIf(
    poll(id),
    (error) =>
      !(error._tag === "GraphError" && error.reason._tag === "Unauthenticated"),
    (error) => Console.error(`${error.message}; retried at the next poll`)
  )
  yield* Effect.repeat(pollSafely, Schedule.spaced(seconds * 1000))
})

const engine = Layer.unwrap(
  Effect.map(Connection.data, (folder) =>
    FlowEngine.layerSqlite({ file: join(folder, "flows.db") })
  )
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
