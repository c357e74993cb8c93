/**
 * The items of a step run of a service.
 */
import type { WorkItemId } from "@signalbox/api/contract/Ids"
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { StepRunItems } from "@signalbox/api/robot/StepRunSession"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ItemFile, ItemSource, ReservedItem } from "./ItemSource.ts"
import { retryUntilAvailable } from "../outcome/Failures.ts"
import type { LeaseLost } from "../outcome/LeaseLost.ts"

/** `first`: the item that the step run was started with, null if it is unknown. */
export const make = (session: StepRunItems, first: WorkItemId | null): ItemSource<CallError | LeaseLost> => {
  const files = (item: WorkItemId) =>
    Effect.map(retryUntilAvailable(session.files(item)), (listed) =>
      listed.map((file): ItemFile => ({ id: file.fileId, name: file.fileName, size: file.fileSize }))
    )
  const reserved = (id: WorkItemId | null): ReservedItem | null =>
    id === null
      ? null
      : {
          id,
          open: Effect.gen(function* () {
            return { ...(yield* retryUntilAvailable(session.readPayload(id))), files: yield* files(id) }
          })
        }
  return {
    advance: Effect.fnUntraced(function* (settled, more) {
      if (settled === null && first !== null) return reserved(first)
      if (settled !== null) yield* retryUntilAvailable(session.release(settled.id, settled.release))
      return more ? reserved(yield* retryUntilAvailable(session.reserveNext)) : null
    }),
    createOutput: Effect.fnUntraced(function* (item, payload, files) {
      const created = yield* session.createOutput(item, payload)
      for (const file of files) yield* session.attachFile(created, file)
    }),
    setPayload: session.setPayload,
    files,
    download: (item, file) => Stream.unwrap(session.download(item, file.id)),
    attachFile: session.attachFile,
    removeFile: (item, file) => session.removeFile(item, file.id)
  }
}
