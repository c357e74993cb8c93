/** A text that a flag gives as it is, in a file, or on standard input. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { readStandardInput } from "./StandardInput.ts"

/** The file of a flag cannot be read. */
export class UnreadableFile extends TaggedError<UnreadableFile>()("UnreadableFile", { message: Schema.String }) {}

/** Returns the text: what is given, the file after `@`, or standard input for `-`. */
export const givenText = Effect.fnUntraced(function* (flag: string, given: string) {
  if (given === "-") return yield* readStandardInput
  if (!given.startsWith("@")) return given
  const fs = yield* FileSystem.FileSystem
  const path = given.slice(1)
  const message = `${flag}: cannot read ${path}; check the path, and that you may read it`
  return yield* Effect.mapError(fs.readFileString(path), () => new UnreadableFile({ message }))
})
