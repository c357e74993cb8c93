/** Work items that are made on the command line. */
import { TaggedError } from "@signalbox/transport/Printed"
import type { ProcessId } from "@signalbox/api/contract/Ids"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Flag from "effect/cli/Flag"

/** The payload given on the command line is no JSON. */
export class BadPayload extends TaggedError<BadPayload>()("BadPayload", { message: Schema.String }) {}

export const itemFlags = {
  payload: Flag.String("payload").pipe(Flag.withDescription("The payload of the work item, as JSON"), Flag.optional),
  file: Flag.String("file").pipe(
    Flag.withDescription("A file to attach to the work item; may be repeated"),
    Flag.atLeast(0)
  )
}

const decodePayload = Schema.decodeEffect(Schema.fromJsonString(Schema.Json))

/** A file that was to be attached cannot be read; no item was made. */
export class BadFile extends TaggedError<BadFile>()("BadFile", { message: Schema.String }) {}

const checkReadable = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(
    fs.access(path, { readable: true }),
    () => new BadFile({ message: `--file: cannot read ${path}; check the path, and that you may read it` })
  )
})

/** Makes a work item in a process, with its files. */
export const createItem = Effect.fnUntraced(function* (
  process: ProcessId,
  { file, payload }: { readonly payload: Option.Option<string>; readonly file: ReadonlyArray<string> },
  order: WorkItems.Order & { readonly reference?: string } = {}
) {
  const given = Option.isNone(payload)
    ? null
    : yield* Effect.mapError(
        decodePayload(payload.value),
        () => new BadPayload({ message: "--payload: Expected JSON; a text is JSON in quotes" })
      )
  yield* Effect.forEach(file, checkReadable, { discard: true })
  const item = yield* WorkItems.create({ process, payload: given, ...order })
  for (const path of file) yield* WorkItems.attachFile(item.id, path)
  return item
})
