/** Exported histories of executions, in files. */
import * as FlowHistory from "@signalbox/flows/FlowHistory"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { join } from "node:path"

/** A file cannot be read, or is no exported history. */
export class HistoryFileError extends TaggedError<HistoryFileError>()("HistoryFileError", {
  message: Schema.String
}) {
  readonly exitCode = 2
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A file has one history, or one in each line. */
const valuesOf = (text: string): ReadonlyArray<unknown> => {
  const whole = parsed(text)
  return whole === undefined
    ? text
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map(parsed)
    : [whole]
}

const read = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(
    fs.readFileString(path),
    () => new HistoryFileError({ message: `cannot read ${path}; check the path, and that you may read it` })
  )
  const values = valuesOf(text)
  if (values.length === 0) return yield* new HistoryFileError({ message: `${path} is empty: expected a history` })
  return yield* Effect.forEach(values, (value) =>
    Effect.mapError(
      FlowHistory.decode(value),
      ({ message }) => new HistoryFileError({ message: `${path}: ${message}` })
    )
  )
})

/** Returns the paths of the files of histories: the path itself, or all JSON files of the folder, by name. */
export const pathsOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const kind = yield* Effect.mapError(
    fs.stat(path),
    () => new HistoryFileError({ message: `cannot read ${path}: the file or folder does not exist` })
  )
  if (kind.type !== "Directory") return [path]
  const names = yield* Effect.orDie(fs.readDirectory(path))
  const files = names.filter((name) => /\.jsonl?$/.test(name)).sort()
  if (files.length > 0) return files.map((name) => join(path, name))
  return yield* new HistoryFileError({ message: `${path} has no JSON files: expected exported histories` })
})

/** Reads the histories of a file. Fails with `HistoryFileError`, which names the file. */
export const histories: (
  path: string
) => Effect.Effect<ReadonlyArray<FlowHistory.FlowHistory>, HistoryFileError, FileSystem.FileSystem> = read
