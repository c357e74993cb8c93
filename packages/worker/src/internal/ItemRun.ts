/**
 * Runs a task over work items: one item to its release, and the items of a step run one after the other.
 */
import type { FileId, WorkItemId } from "@signalbox/api/contract/Ids"
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { Release, StepRunSession } from "@signalbox/api/robot/StepRunSession"
import { open as openSource, Uploads } from "@signalbox/api/Upload"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { FileMissing, type Item, type ItemFile, type Output, type PayloadSchema, type Task } from "../Task.ts"
import { exceptionOf, isLeaseLost, LeaseLost, patiently, placeOf } from "./Failures.ts"

type TaskOf<R> = Pick<Task<PayloadSchema, PayloadSchema, R>, "outputs">

/** Fetches what a task gets to see of an item. */
const openItem = Effect.fnUntraced(function* (session: StepRunSession, id: WorkItemId) {
  const payload = yield* patiently(session.payload(id))
  const listed = yield* patiently(session.files(id))
  const files = listed.map((file): ItemFile => ({ id: file.fileId, name: file.fileName, size: file.fileSize }))
  const find = (name: string): Effect.Effect<FileId, FileMissing> => {
    const file = files.findLast((file) => file.name === name)
    if (file !== undefined) return Effect.succeed(file.id)
    const names = files.length === 0 ? "none" : files.map((file) => `"${file.name}"`).join(", ")
    return new FileMissing({ file: name, message: `the work item has no file "${name}"; its files: ${names}` })
  }
  const readFile = (name: string): Stream.Stream<Uint8Array, FileMissing | CallError> =>
    Stream.unwrap(Effect.flatMap(find(name), (file) => session.download(id, file)))
  const item: Item<Schema.Json> = {
    id,
    payload,
    files,
    readFile,
    readText: (name) => Stream.mkString(Stream.decodeText(readFile(name)))
  }
  return item
})

const createOutput = Effect.fnUntraced(function* (
  session: StepRunSession,
  id: WorkItemId,
  output: Output<Schema.Json>
) {
  const uploads = yield* Uploads
  const created = yield* session.createOutput(id, output.payload)
  for (const file of output.files) {
    yield* session.attachFile(created, yield* openSource(uploads, file))
  }
})

/**
 * Runs the task for one item and says how to release it. Whatever goes wrong is the item's failure, except a lost
 * lease, which ends the step run, and an interruption, which is no failure of the item.
 */
export const runItem = <R>(
  task: TaskOf<R>,
  session: StepRunSession,
  id: WorkItemId
): Effect.Effect<Release, LeaseLost, R> =>
  openItem(session, id).pipe(
    Effect.flatMap((item) => Stream.runForEach(task.outputs(item), (output) => createOutput(session, id, output))),
    Effect.matchCauseEffect({
      onSuccess: (): Effect.Effect<Release, LeaseLost> => Effect.succeed({ state: "COMPLETED" }),
      onFailure: (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
        const error = Cause.squash(cause)
        if (error instanceof LeaseLost || isLeaseLost(error)) return new LeaseLost()
        const exception = exceptionOf(error)
        // Neither the message nor the cause is logged: both may hold data of the item.
        const log = exception.type === "BUSINESS" ? Effect.logInfo : Effect.logWarning
        return log("work item failed").pipe(
          Effect.annotateLogs({ work_item_id: id, type: exception.type, code: exception.code, at: placeOf(error) }),
          Effect.as({ state: "FAILED", exception })
        )
      }
    })
  )

export interface Counts {
  readonly completed: number
  readonly failed: number
}

/** Runs the task for the first item and for all that the step has waiting, while `mayReserve` says so. */
export const runItems = Effect.fnUntraced(function* <R>(
  task: TaskOf<R>,
  session: StepRunSession,
  first: WorkItemId,
  mayReserve: Effect.Effect<boolean>
): Effect.fn.Return<Counts, LeaseLost | CallError, R> {
  let completed = 0
  let failed = 0
  for (let item: WorkItemId | null = first; item !== null;) {
    const release: Release = yield* runItem(task, session, item)
    yield* patiently(session.release(item, release))
    if (release.state === "COMPLETED") completed++
    else failed++
    item = (yield* mayReserve) ? yield* patiently(session.reserveNext) : null
  }
  return { completed, failed }
})
