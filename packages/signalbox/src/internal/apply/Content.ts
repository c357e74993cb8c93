/** Content that the file refers to on this machine: files, environment variables. Paths are relative to the file. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { isAbsolute, join } from "node:path"
import { digestOf } from "../package/Delivery.ts"
import { ApplyFileError } from "./Document.ts"

export const resolve = (folder: string, path: string) => (isAbsolute(path) ? path : join(folder, path))

const unreadable = (field: string, path: string) => () =>
  new ApplyFileError({ message: `${field}: cannot read ${path}; paths are relative to the file that is applied` })

export const fileDigest = Effect.fnUntraced(function* (field: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(digestOf(fs.stream(path)), unreadable(field, path))
})

/** The text of a file, without the line break at its end. */
export const fileText = Effect.fnUntraced(function* (field: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(fs.readFileString(path), unreadable(field, path))
  return text.replace(/\r?\n$/, "")
})

export const variable = (field: string, name: string) =>
  Effect.mapError(
    Config.String(name),
    () => new ApplyFileError({ message: `${field}: the environment variable ${name} is not set` })
  )
