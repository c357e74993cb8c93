/**
 * Work items in local files: a list in JSON, `[{"payload": ..., "files": {"name": "path"}}]`, the files beside it, and
 * the outputs in the same form. Existing robots use the same format.
 */
import { FileId, WorkItemId } from "@signalbox/api/contract/Ids"
import type { SizedBytes } from "@signalbox/api/Upload"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ItemFile, ItemSource, ReservedItem, SettledItem } from "./ItemSource.ts"
import { LocalFileError } from "../../RobotError.ts"
import type { LocalFiles } from "./LocalFiles.ts"

const Items = Schema.Array(
  Schema.Struct({
    payload: Schema.optionalKey(Schema.Json),
    files: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
  })
)

/** An item or output; files by name, with paths relative to the folder of the list. */
interface LocalItem {
  payload: Schema.Json
  readonly files: Map<string, string>
}

export interface Options {
  /** Absent: one empty item. */
  readonly input: string | null
  readonly output: string
  /** Where an absent input is written if the task changes the item. */
  readonly defaultInput: string
}

export const make = Effect.fnUntraced(function* (
  local: LocalFiles,
  { defaultInput, input, output }: Options
): Effect.fn.Return<ItemSource, LocalFileError> {
  const { path } = local
  const inputPath = path.resolve(input ?? defaultInput)
  const outputPath = path.resolve(output)
  if (inputPath === outputPath) {
    const message = `${inputPath}: input and output are the same file; choose another file for the outputs`
    return yield* new LocalFileError({ path: inputPath, message })
  }
  const read = input === null ? [{}] : yield* local.readJson(inputPath, Items, 'a list of {"payload", "files"}')
  if (read.length === 0) {
    return yield* new LocalFileError({ path: inputPath, message: `${inputPath}: expected at least one item` })
  }
  const items = read.map((item): LocalItem => ({
    payload: item.payload ?? null,
    files: new Map(Object.entries(item.files ?? {}))
  }))
  const finished: Array<LocalItem> = []
  /** Outputs of the reserved item: they count once it completes. */
  let made: Array<{ readonly folder: string; readonly item: LocalItem }> = []
  let written = { outputs: 0, at: 0 }
  let position = -1
  let outputs = 0

  const write = (file: string, list: ReadonlyArray<LocalItem>) =>
    Effect.suspend(() => {
      const json = list.map(({ files, payload }) => ({ payload, files: Object.fromEntries(files) }))
      return local.writeText(file, `${JSON.stringify(json, null, 2)}\n`)
    })
  const writeInputs = write(inputPath, items)

  /** Stores a file below the folder of a list, in a path that no other item uses. */
  const store = Effect.fnUntraced(function* (list: string, item: LocalItem, folder: string, file: SizedBytes) {
    const place = `${folder}/${yield* local.fileName(file.name)}`
    yield* local.write(path.join(path.dirname(list), place), file)
    item.files.set(file.name, place)
  })

  const reserved = (id: WorkItemId) =>
    Effect.suspend(() => {
      const item = String(position) === id ? items[position] : undefined
      return item === undefined ? Effect.die(new Error(`the work item ${id} is not reserved`)) : Effect.succeed(item)
    })
  const placeOf = (file: string) => path.resolve(path.dirname(inputPath), file)
  const filesOf = Effect.fnUntraced(function* (id: WorkItemId) {
    const item = yield* reserved(id)
    return yield* Effect.forEach(
      item.files,
      Effect.fnUntraced(function* ([name, file]) {
        const listed: ItemFile = { id: FileId.make(file), name, size: yield* local.size(placeOf(file)) }
        return listed
      })
    )
  })

  const settle = Effect.fnUntraced(function* ({ id, release }: SettledItem) {
    const kept = made
    made = []
    const dropped = release.state === "FAILED" && release.dropOutputs === true
    if (!dropped) finished.push(...kept.map(({ item }) => item))
    if (release.state === "COMPLETED") return
    if (dropped) yield* Effect.forEach(kept, ({ folder }) => local.remove(path.join(path.dirname(outputPath), folder)))
    // No service stores the exception, so it is logged.
    const { code, message, type } = release.exception
    yield* Effect.logWarning(`item ${Number(id) + 1} of ${items.length} failed: ${type} ${code}: ${message}`)
  })

  /** The list is written as a whole: at the end, and before that once a second, for observers. */
  const writeOutputs = Effect.fnUntraced(function* (ended: boolean) {
    const now = yield* Clock.currentTimeMillis
    if (written.outputs === finished.length || (!ended && now - written.at < 1000)) return
    written = { outputs: finished.length, at: now }
    yield* write(outputPath, finished)
  })

  yield* write(outputPath, [])
  return {
    advance: Effect.fnUntraced(function* (settled, more) {
      if (settled !== null) yield* settle(settled)
      const ended = !more || position + 1 >= items.length
      yield* writeOutputs(ended)
      if (ended) return null
      const item = items[++position]
      if (item === undefined) return null
      const id = WorkItemId.make(String(position))
      const reserved: ReservedItem = {
        id,
        open: Effect.map(filesOf(id), (files) => ({ payload: item.payload, files }))
      }
      return reserved
    }),
    createOutput: Effect.fnUntraced(function* (_, payload, files) {
      const folder = String(++outputs)
      const item: LocalItem = { payload, files: new Map() }
      made.push({ folder, item })
      for (const file of files) yield* store(outputPath, item, folder, file)
    }),
    setPayload: Effect.fnUntraced(function* (id, payload) {
      const item = yield* reserved(id)
      item.payload = payload
      yield* writeInputs
    }),
    files: filesOf,
    download: (_, file) => local.stream(placeOf(file.id)),
    attachFile: Effect.fnUntraced(function* (id, file) {
      yield* store(inputPath, yield* reserved(id), id, file)
      yield* writeInputs
    }),
    removeFile: Effect.fnUntraced(function* (id, file) {
      const item = yield* reserved(id)
      // The file itself is not deleted: it may be used elsewhere.
      item.files.delete(file.name)
      yield* writeInputs
    })
  }
})
