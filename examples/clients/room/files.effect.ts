/** Attaches a file to a work item, and downloads all of its files into a folder. */
import type { ProcessId } from "@signalbox/api/contract/Ids"
import { downloadTo } from "@signalbox/api/node"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"

export const main = Effect.fnUntraced(function* (
  process: ProcessId,
  path: string,
  folder: string
) {
  const { id } = yield* WorkItems.create({ process })
  yield* WorkItems.attachFile(id, path)
  const { files } = yield* WorkItems.get(id)
  const written = yield* Effect.forEach(files, (file) =>
    downloadTo(file, folder)
  )
  yield* Console.log(written.join("\n"))
  return written
})
