/** Work items that are made on the command line. */
import { TaggedError } from "@signalbox/transport/Printed"
import type { ProcessId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Flag from "effect/cli/Flag"
import { parse } from "./PayloadEdit.ts"

/** The payload given on the command line is no JSON. */
export class BadPayload extends TaggedError<BadPayload>()("BadPayload", { message: Schema.String }) {}

export const itemFlags = {
  payload: Flag.String("payload").pipe(Flag.withDescription("The payload of the work item, as JSON"), Flag.optional),
  file: Flag.String("file").pipe(
    Flag.withDescription("A file to attach to the work item; may be repeated"),
    Flag.atLeast(0)
  )
}

/** A file that was to be attached cannot be read; nothing was changed. */
export class BadFile extends TaggedError<BadFile>()("BadFile", { message: Schema.String }) {}

/** Fails before anything is changed when a file cannot be read. */
export const checkReadable = Effect.fnUntraced(function* (field: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(
    fs.access(path, { readable: true }),
    () => new BadFile({ message: `${field}: cannot read ${path}; check the path and its permissions` })
  )
})

/** Attaches files to a work item, in place of those of the same name. */
export const attachFiles = (item: WorkItemId, paths: ReadonlyArray<string>) =>
  Effect.forEach(paths, (path) => WorkItems.attachFile(item, path), { discard: true })

/** Makes a work item in a process, with its files. */
export const createItem = Effect.fnUntraced(function* (
  process: ProcessId,
  { file, payload }: { readonly payload: Option.Option<string>; readonly file: ReadonlyArray<string> },
  order: WorkItems.Order & { readonly reference?: string | undefined } = {}
) {
  const given = Option.isNone(payload) ? { value: null } : parse(payload.value)
  if (given === null) return yield* new BadPayload({ message: "--payload: Expected JSON; put text in quotes" })
  yield* Effect.forEach(file, (path) => checkReadable("--file", path), { discard: true })
  const item = yield* WorkItems.create({ process, payload: given.value, ...order })
  yield* attachFiles(item.id, file)
  return item
})
