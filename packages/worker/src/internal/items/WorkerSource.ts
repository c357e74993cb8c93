/**
 * The items of a step run of this worker: one call settles items with their outputs, and reserves further ones with their
 * payloads and files. The service knows of an item that is ahead before anything else is asked about it.
 */
import { maxOutputsAtOnce } from "@signalbox/api/contract/WorkerProtocol"
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { StepRunItems } from "@signalbox/api/robot/StepRunSession"
import type { Lease } from "@signalbox/api/robot/WorkerProtocol"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ItemSource, Release, ReservedItem } from "./ItemSource.ts"
import type { LeaseLost } from "../outcome/LeaseLost.ts"
import type { Next } from "./Batching.ts"
import * as Outbox from "./Outbox.ts"
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

/** The items of a step run, and what sends its last results when its task was stopped. */
export interface WorkerSource extends ItemSource<CallError | LeaseLost> {
  readonly close: Outbox.Outbox["close"]
}

export const make = (lease: Lease, next: Next, session: StepRunItems): WorkerSource =>
  of(Outbox.make(lease, next), session)

export const of = (outbox: Outbox.Outbox, session: StepRunItems): WorkerSource => {
  const calls = SessionSource.make(session, null)
  let attempt = 0
  let outputs: Array<Schema.Json> = []
  let size = 0

  const taken = () => {
    const waiting = outputs
    outputs = []
    size = 0
    return waiting
  }

  /** Creates the outputs of the item in progress. */
  const flush = Effect.fnUntraced(function* (item: ReservedItem["id"]) {
    yield* outbox.sync
    for (const payload of taken()) yield* calls.createOutput(item, payload, [])
  })

  return {
    ...calls,
    advance: Effect.fnUntraced(function* (settled, more) {
      const characters = size
      const made = taken()
      const item = yield* outbox.advance(
        settled === null ? null : { work_item_id: settled.id, attempt, ...resultOf(settled.release, made) },
        more,
        characters
      )
      if (item === null) return null
      attempt = item.attempt
      const { files, payload, rounded = [] } = item
      return { id: item.work_item_id, open: Effect.succeed({ payload, files, rounded }) }
    }),
    createOutput: Effect.fnUntraced(function* (item, payload, files) {
      const length = JSON.stringify(payload).length
      if (outbox.size() + size + length > maxSize) yield* outbox.sync
      if (files.length > 0 || size + length > maxSize || outputs.length === maxOutputsAtOnce) yield* flush(item)
      if (files.length > 0 || length > maxSize) return yield* calls.createOutput(item, payload, files)
      outputs.push(payload)
      size += length
    }),
    setPayload: (item, payload) => Effect.andThen(outbox.sync, calls.setPayload(item, payload)),
    files: (item) => Effect.andThen(outbox.sync, calls.files(item)),
    download: (item, file) => Stream.unwrap(Effect.as(outbox.sync, calls.download(item, file))),
    attachFile: (item, file) => Effect.andThen(outbox.sync, calls.attachFile(item, file)),
    removeFile: (item, file) => Effect.andThen(outbox.sync, calls.removeFile(item, file)),
    close: outbox.close
  }
}
