/** Runs the items of a source one after the other, each to its release. */
import type { Release } from "@signalbox/api/robot/StepRunSession"
import { open as openSource, Uploads } from "@signalbox/api/Upload"
import { defined } from "@signalbox/transport/Defined"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ItemFile, ItemSource, ReservedItem } from "./ItemSource.ts"
import { type RobotError, LocalFileError } from "../../RobotError.ts"
import { exceptionOf, isLeaseLost, placeOf } from "../outcome/Failures.ts"
import type { Input, OutputFile } from "./Item.ts"
import { LeaseLost } from "../outcome/LeaseLost.ts"
import * as Rounded from "./Rounded.ts"
import {
  ApplicationFailure,
  BusinessFailure,
  FileMissing,
  isApplicationFailure,
  isBusinessFailure,
  isInvalidOutput
} from "../outcome/TaskFailure.ts"

/** What a task has said about its item, besides its own end. */
interface Ended {
  failure: BusinessFailure | ApplicationFailure | null
  /** False once an output may be missing. */
  complete: boolean
}

const nothingSaid: Readonly<Ended> = { failure: null, complete: true }

/** Opens the reserved item, with all operations on it. */
const openItem = Effect.fnUntraced(function* (source: ItemSource<unknown>, { id, open }: ReservedItem) {
  const opened = yield* open
  const checkNumbers = Rounded.check(opened.payload, opened.rounded ?? [])
  /** The list that the task sees is updated in place. */
  const files: Array<ItemFile> = [...opened.files]
  const find = (name: string): Effect.Effect<ItemFile, FileMissing> => {
    const file = files.findLast((file) => file.name === name)
    if (file !== undefined) return Effect.succeed(file)
    const names = files.length === 0 ? "none" : files.map((file) => `"${file.name}"`).join(", ")
    return new FileMissing({ file: name, message: `the work item has no file "${name}"; its files: ${names}` })
  }
  const readFile = (name: string) => Stream.unwrap(Effect.map(find(name), (file) => source.download(id, file)))
  const sized = (file: OutputFile) => Effect.flatMap(Uploads, (uploads) => openSource(uploads, file))
  const relist = Effect.map(source.files(id), (now) => void files.splice(0, files.length, ...now))
  const ended: Ended = { failure: null, complete: true }
  const input: Input<Schema.Json> = {
    id,
    payload: opened.payload,
    files,
    readFile,
    readText: (name) => Stream.mkString(Stream.decodeText(readFile(name))),
    saveFile: Effect.fnUntraced(function* (name, path) {
      const fs = yield* FileSystem.FileSystem
      const failed = (error: { readonly message: string }) => new LocalFileError({ path, message: error.message })
      yield* find(name)
      const part = `${path}.part`
      yield* readFile(name).pipe(
        Stream.run(fs.sink(part)),
        Effect.andThen(fs.rename(part, path)),
        Effect.onError(() => Effect.ignore(fs.remove(part, { force: true }))),
        Effect.catchTag("PlatformError", (error) => Effect.fail(failed(error)))
      )
    }),
    attachFile: (file) =>
      sized(file).pipe(
        Effect.flatMap((bytes) => source.attachFile(id, bytes)),
        Effect.andThen(relist)
      ),
    removeFile: (name) =>
      find(name).pipe(
        Effect.flatMap((file) => source.removeFile(id, file)),
        Effect.andThen(relist)
      ),
    setPayload: (payload) => Effect.andThen(checkNumbers("payload", payload), source.setPayload(id, payload)),
    createOutput: Effect.fnUntraced(function* (payload, options) {
      yield* checkNumbers("output", payload)
      const created = source.createOutput(id, payload, yield* Effect.forEach(options?.files ?? [], sized))
      // The service may have it or not.
      yield* Effect.onError(created, () => Effect.sync(() => (ended.complete = false)))
    }),
    fail: (with_) =>
      Effect.sync(() => {
        ended.failure = with_
      })
  }
  return { input, ended }
})

type Opened = Effect.Success<ReturnType<typeof openItem>>

/** How an item is released after its run. Interruption, and a lost lease, do not fail the item. */
const releaseOf = Effect.fnUntraced(function* (
  id: ReservedItem["id"],
  exit: Exit.Exit<unknown, unknown>,
  { complete, failure }: Readonly<Ended>
): Effect.fn.Return<{ readonly release: Release; readonly unexpected: boolean }, LeaseLost> {
  if (exit._tag === "Success" && failure === null) return { release: { state: "COMPLETED" }, unexpected: false }
  if (exit._tag === "Failure" && Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.interrupt
  const error: unknown = exit._tag === "Failure" ? Cause.squash(exit.cause) : failure
  if (error instanceof LeaseLost || isLeaseLost(error)) return yield* new LeaseLost()
  const exception = exceptionOf(error)
  // Only a failure that the task declares says that its outputs are meant.
  const isTaskFailure = isBusinessFailure(error) || isApplicationFailure(error)
  const isDeclared = isTaskFailure && !isInvalidOutput(error)
  // Neither the message nor the cause is logged: both may contain data of the item.
  const log = exception.type === "BUSINESS" ? Effect.logInfo : Effect.logWarning
  yield* Effect.annotateLogs(log("work item failed"), {
    work_item_id: id,
    type: exception.type,
    code: exception.code,
    at: placeOf(error)
  })
  return {
    release: { state: "FAILED", exception, ...defined({ dropOutputs: isDeclared && complete ? undefined : true }) },
    unexpected: !isTaskFailure
  }
})

/** Runs one item and returns its release. Any failure is the item's failure. */
export const runItem = <R>(
  source: ItemSource<unknown>,
  reserved: ReservedItem,
  work: (input: Input<Schema.Json>) => Effect.Effect<unknown, unknown, R>
) =>
  Effect.gen(function* () {
    let ended = nothingSaid
    const exit = yield* openItem(source, reserved).pipe(
      Effect.tap((opened) =>
        Effect.sync(() => {
          ended = opened.ended
        })
      ),
      Effect.flatMap(({ input }) => work(input)),
      Effect.exit
    )
    return yield* releaseOf(reserved.id, exit, ended)
  })

/** How many items were processed. */
export interface Counts {
  readonly completed: number
  readonly failed: number
  /** Failed items whose error was neither a `BusinessFailure` nor an `ApplicationFailure`. */
  readonly unexpected: number
}

/** Runs all waiting items, while `mayReserve` allows it. */
export const runEach = Effect.fnUntraced(function* <E, R>(
  source: ItemSource<E>,
  mayReserve: Effect.Effect<boolean>,
  work: (input: Input<Schema.Json>) => Effect.Effect<unknown, unknown, R>
): Effect.fn.Return<Counts, E | LeaseLost, R> {
  const counts = { completed: 0, failed: 0, unexpected: 0 }
  let reserved = yield* source.advance(null, true)
  while (reserved !== null) {
    const { release, unexpected } = yield* runItem(source, reserved, work)
    if (release.state === "COMPLETED") counts.completed++
    else counts.failed++
    if (unexpected) counts.unexpected++
    reserved = yield* source.advance({ id: reserved.id, release }, yield* mayReserve)
  }
  return counts
})

/** Emits the items: each is released when the next is pulled, or when the stream ends. */
export const inputs = (source: ItemSource): Stream.Stream<Input<Schema.Json>, RobotError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      let current: { readonly id: ReservedItem["id"]; readonly ended: Opened["ended"] } | null = null
      const settle = Effect.fnUntraced(function* (exit: Exit.Exit<unknown, unknown>) {
        if (current === null) return null
        const { ended, id } = current
        current = null
        const { release } = yield* releaseOf(id, exit, ended)
        return { id, release }
      })
      const pull: Effect.Effect<Input<Schema.Json> | null, RobotError> = Effect.gen(function* () {
        let reserved = yield* source.advance(yield* settle(Exit.void), true)
        while (reserved !== null) {
          const { id } = reserved
          const opened = yield* Effect.exit(openItem(source, reserved))
          if (opened._tag === "Success") {
            current = { id, ended: opened.value.ended }
            return opened.value.input
          }
          const { release } = yield* releaseOf(id, opened, nothingSaid)
          reserved = yield* source.advance({ id, release }, true)
        }
        return null
      })
      yield* Effect.addFinalizer((exit) =>
        settle(exit).pipe(
          Effect.flatMap((settled) => (settled === null ? Effect.succeed(null) : source.advance(settled, false))),
          Effect.catch((error) => Effect.annotateLogs(Effect.logError("work item not released"), { error: error._tag }))
        )
      )
      return Stream.unfold(null, () =>
        Effect.map(pull, (input) => (input === null ? undefined : ([input, null] as const)))
      )
    })
  )
