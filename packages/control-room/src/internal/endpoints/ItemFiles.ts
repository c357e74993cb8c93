/**
 * The form with which a file is attached to a work item, for both interfaces that have it.
 */
import type { NewFile } from "@signalbox/api/contract/Files"
import * as Effect from "effect/Effect"
import { conflict, tooLarge } from "../edge/Failures.ts"
import { limits, maxFilesPerItem, tooManyFiles } from "../settings/Limits.ts"
import { Files } from "../store/files/Files.ts"
import type { StoredItem } from "../store/items/StoredItem.ts"
import { FileLinks } from "../transfers/FileLinks.ts"

/** The refusal of a change to an item that a step run processes or has processed. */
export const inUse = (item: StoredItem) =>
  conflict(
    `the work item is ${item.state}: its payload and files change only while it is new, failed, or pending without a step run`
  )

const changeable = (item: StoredItem) =>
  item.state === "new" || item.state === "failed" || (item.state === "pending" && item.stepRun === null)

/** Returns the form for a file; `sizeField` is the name of its size in the request. */
export const formFor = Effect.gen(function* () {
  const files = yield* Files
  const links = yield* FileLinks
  return Effect.fnUntraced(function* (item: StoredItem, file: NewFile, sizeField: string) {
    if (!changeable(item)) return yield* inUse(item)
    if (file.file_size > limits.file) {
      return yield* tooLarge(`${sizeField}: ${file.file_size} bytes are more than the ${limits.file} allowed`)
    }
    if ((yield* files.countOthers(item.id, file.file_name)) >= maxFilesPerItem) return yield* conflict(tooManyFiles)
    return yield* links.uploadForm({ workspace: item.workspaceId, id: item.id, stepRun: null }, file)
  })
})
