/**
 * The items of a step run of this worker: one call settles an item with its outputs, and reserves the next with its
 * payload and files.
 */
import { maxOutputsAtOnce } from "@signalbox/api/contract/WorkerProtocol"
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { StepRunItems } from "@signalbox/api/robot/StepRunSession"
import type { Lease } from "@signalbox/api/robot/WorkerProtocol"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { ItemSource, Release, ReservedItem } from "./ItemSource.ts"
import type { LeaseLost } from "../outcome/LeaseLost.ts"
import type { Next } from "./Batching.ts"
import * as SessionSource from "./SessionSource.ts"

/**
 * The limit for outputs that are sent with a settled item, in UTF-16 units of JSON: the limit of a call is shared by
 * all step runs.
 */
const maxSize = 20_000

/** A release with the outputs that were not created yet. */
const resultOf = (release: Release, outputs: ReadonlyArray<Schema.Json>) => {
  const made = outputs.length > 0 ? { outputs } : {}
  if (release.state === "COMPLETED") return { ...release, ...made }
  const { dropOutputs, ...failed } = release
  return dropOutputs === true ? { ...failed, drop_outputs: true } : { ...failed, ...made }
}

export const make = (lease: Lease, next: Next, session: StepRunItems): ItemSource<CallError | LeaseLost> => {
  const calls = SessionSource.make(session, null)
  let attempt = 0
  let outputs: Array<Schema.Json> = []
  let size = 0

  /** Creates buffered outputs first, to preserve the order. */
  const flush = Effect.fnUntraced(function* (item: ReservedItem["id"]) {
    const waiting = outputs
    outputs = []
    size = 0
    for (const payload of waiting) yield* calls.createOutput(item, payload, [])
  })

  return {
    ...calls,
    advance: Effect.fnUntraced(function* (settled, more) {
      const made = outputs
      outputs = []
      size = 0
      const item = yield* next({
        lease,
        reserve: more,
        settled: settled === null ? null : { work_item_id: settled.id, attempt, ...resultOf(settled.release, made) }
      })
      if (item === null) return null
      attempt = item.attempt
      const { files, payload, rounded = [] } = item
      return { id: item.work_item_id, open: Effect.succeed({ payload, files, rounded }) }
    }),
    createOutput: Effect.fnUntraced(function* (item, payload, files) {
      const length = JSON.stringify(payload).length
      if (files.length > 0 || size + length > maxSize || outputs.length === maxOutputsAtOnce) yield* flush(item)
      if (files.length > 0 || length > maxSize) return yield* calls.createOutput(item, payload, files)
      outputs.push(payload)
      size += length
    })
  }
}
