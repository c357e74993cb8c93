/**
 * What the programs of this folder share: a work item of an arrival, once; and looks, once or again and again.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type { ProcessId, WorkItemId } from "@signalbox/api/contract/Ids"
import { withIdempotencyScope } from "@signalbox/api/Idempotency"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import type { UploadSource } from "@signalbox/api/Upload"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Arrivals from "@signalbox/graph/Arrivals"
import { ArrivalStore } from "@signalbox/graph/ArrivalStore"
import {
  type Notification,
  readNotifications
} from "@signalbox/graph/Notifications"
import * as Subscriptions from "@signalbox/graph/Subscriptions"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createServer } from "node:http"
import { join } from "node:path"
import * as Connection from "../graph/connection.ts"

/** The process with the name of `SIGNALBOX_INTAKE_PROCESS`; made with one step when there is none. */
export const processFor = Effect.fnUntraced(function* (fallback: string) {
  const name = yield* Config.String("SIGNALBOX_INTAKE_PROCESS").pipe(
    Config.withDefault(fallback)
  )
  const { data } = yield* Processes.list({ name, limit: 1 })
  if (data[0] !== undefined) return data[0].id
  const steps = [{ name: "read", task: { name: "read" } }]
  return (yield* Processes.put({ name, steps })).id
})

/** The longest that the room stores an idempotency key, in seconds. */
const ttlSeconds = 7 * 86_400

/** What becomes a work item, with its files: paths, or bytes with a name. */
export interface Intake {
  readonly payload: { readonly [name: string]: string | number | null }
  readonly files: ReadonlyArray<UploadSource>
}

/**
 * Makes a work item of an arrival, with its files, and starts a run with it. It may be called again after a kill at any place: the
 * item is found by its reference, even when it is done; a file that is attached twice replaces itself; and two calls at the same
 * time have the same idempotency keys. The run starts last, so that no task gets an item without its files.
 */
export const take = Effect.fnUntraced(function* <E, R>(
  process: ProcessId,
  key: string,
  /** Gets a folder for files; null: there is nothing any more. */
  prepare: (folder: string) => Effect.Effect<Intake | null, E, R>
) {
  const once = <A, E2, R2>(part: string, call: Effect.Effect<A, E2, R2>) =>
    withIdempotencyScope(`intake/${process}/${key}/${part}`, call, {
      ttlSeconds
    })
  const reference = key
  const { data } = yield* WorkItems.list({ process, reference, limit: 1 })
  const known = data[0]
  if (known !== undefined && known.state !== "new") return known.id
  const fs = yield* FileSystem.FileSystem
  const intake = yield* prepare(yield* fs.makeTempDirectoryScoped())
  if (intake === null) return null
  const { id } =
    known ??
    (yield* once(
      "item",
      WorkItems.create({
        process,
        payload: intake.payload,
        reference,
        whenReferenceExists: "join"
      })
    ))
  for (const file of intake.files) yield* WorkItems.attachFile(id, file)
  yield* once("run", ProcessRuns.start(process, { workItems: [id] }))
  return id
}, Effect.scoped)

const say = (name: string, workItem: WorkItemId | null) =>
  Console.log(
    workItem === null
      ? `${name} has gone`
      : `${name} is the work item ${workItem}`
  )

/** What the receiver of notifications reads, on a port of this machine: a proxy in front of it has the address for the service. */
const listen = Effect.fnUntraced(function* (clientState: string) {
  const port = yield* Config.Port("SIGNALBOX_INTAKE_PORT").pipe(
    Config.withDefault(4720)
  )
  const received = yield* Queue.sliding<Notification>(100)
  const server = yield* NodeHttpServer.make(createServer, {
    port,
    host: "127.0.0.1"
  })
  yield* server.serve(
    Effect.gen(function* () {
      const { text, url } = yield* HttpServerRequest.HttpServerRequest
      const { body, headers, notifications, status } = readNotifications(
        { url, body: yield* text },
        { clientState }
      )
      yield* Queue.offerAll(received, notifications)
      return HttpServerResponse.text(body, { status, headers })
    })
  )
  return Stream.fromQueue(received)
})

/** Hints of a subscription; without an address for it, or when it cannot be made, there are none, and the pauses do. */
const hintsOf = Effect.fnUntraced(function* (
  watched: Pick<Subscriptions.NewSubscription, "resource" | "changeTypes">
) {
  const notificationUrl = yield* Config.option(
    Config.Redacted("SIGNALBOX_INTAKE_NOTIFICATION_URL")
  )
  if (Option.isNone(notificationUrl)) return Stream.never
  // A new one each time, since the subscription is.
  const clientState = crypto.randomUUID()
  const kept = Subscriptions.keep(
    { ...watched, notificationUrl: notificationUrl.value, clientState },
    yield* listen(clientState)
  )
  return yield* Effect.catch(
    Effect.map(kept, ({ hints }) => hints),
    (error) =>
      Effect.as(
        Console.error(`no subscription, only pauses: ${error.message}`),
        Stream.never
      )
  )
})

/** What arrives, how it is watched, and what becomes of it. */
export interface Watched<A, E, R> {
  readonly source: Arrivals.Source<A>
  readonly watched: Parameters<typeof hintsOf>[0]
  readonly nameOf: (item: A) => string
  readonly handle: (
    arrival: Arrivals.Arrival<A>
  ) => Effect.Effect<WorkItemId | null, E, R>
}

/** With `--once` one look, which fails if something could not be taken; else looks until the program is ended. */
export const run = Effect.fnUntraced(function* <A, E extends Error, R>({
  handle,
  nameOf,
  source,
  watched
}: Watched<A, E, R>) {
  const take = (arrival: Arrivals.Arrival<A>) =>
    Effect.tap(handle(arrival), (workItem) =>
      say(nameOf(arrival.item), workItem)
    )
  if (process.argv.includes("--once")) {
    const { failed } = yield* Arrivals.look(source, take)
    for (const { arrival, error } of failed)
      yield* Console.error(`${nameOf(arrival.item)}: ${error.message}`)
    if (failed.length > 0) process.exitCode = 1
    return
  }
  const seconds = yield* Config.Finite("SIGNALBOX_INTAKE_SECONDS").pipe(
    Config.withDefault(30)
  )
  const hints = yield* hintsOf(watched)
  yield* Console.log(`Looking every ${seconds} s; stop with Ctrl-C`)
  return yield* Arrivals.follow(source, take, { every: seconds * 1000, hints })
}, Effect.scoped)

/** Where it is stored how far the looks have come: a file for each of the programs. */
export const state = (name: string) =>
  Layer.unwrap(
    Effect.map(Connection.data, (folder) =>
      ArrivalStore.layerFile(join(folder, `${name}.json`))
    )
  )
