/**
 * A run of a process from its payloads to its outputs.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ProcessRunId, type WorkItemId } from "../../contract/Ids.ts"
import * as Outputs from "../../Outputs.ts"
import * as ProcessRuns from "../../ProcessRuns.ts"
import type { UploadSource } from "../../Upload.ts"
import * as WorkItems from "../../WorkItems.ts"
import { names, refuseUnknown } from "../calls/Known.ts"
import {
  decoderOf,
  encodePayloads,
  type FailedItem,
  failedOf,
  idOf,
  InvalidPayload,
  type Output,
  type Payload,
  type Target,
  type TypedOutput
} from "./Items.ts"

/** Items of the run failed, and `failures` does not say that they are settled. The run stays `unresolved`. */
export class RunUnresolved extends TaggedError<RunUnresolved>()("RunUnresolved", {
  run: ProcessRunId,
  failed: Schema.Finite,
  /** Code and message of the exception of one of them. */
  example: Schema.NullOr(Schema.String)
}) {
  /** The error for these failed items of a run. */
  static of(run: ProcessRunId, failed: ReadonlyArray<Pick<FailedItem<Target>, "exception">>): RunUnresolved {
    const exception = failed[0]?.exception ?? null
    const example = exception === null ? null : `${exception.code}: ${exception.message}`
    return new RunUnresolved({ run, failed: failed.length, example })
  }
  override get message(): string {
    const example = this.example === null ? "" : `, such as ${this.example}`
    return `the run ${this.run} has ${this.failed} failed work items${example}`
  }
}

/** What happens to a failed item: it is retried, it is marked as done, or the call fails with `RunUnresolved`. */
export type Decision = "retry" | "settle" | "fail"

export interface RunOptions<T extends Target, E, R> {
  /**
   * What happens to failed items: `"fail"` (default) fails with `RunUnresolved`, `"settle"` marks all as done; a function
   * decides for each, and again in each round after a retry (`round` counts from 1).
   */
  readonly failures?: "fail" | "settle" | ((item: FailedItem<T>, round: number) => Effect.Effect<Decision, E, R>)
  /** The files of an item; default: none. */
  readonly files?: (payload: Payload<T>, index: number) => ReadonlyArray<UploadSource>
  /** Fails with `ControlRoomError` (`Timeout`) after this time in a round; the run continues. Default: no limit. */
  readonly timeout?: Duration.Input
}

const runOptions = names<RunOptions<Target, never, never>>("option", { failures: 1, files: 1, timeout: 1 })

export interface Ran<T extends Target> {
  readonly run: ProcessRunId
  /** Oldest first. */
  readonly outputs: ReadonlyArray<TypedOutput<Output<T>>>
  /** Failed items that were marked as done. */
  readonly settled: ReadonlyArray<WorkItemId>
}

/** The most work items of one `retry` or `markAsDone`. */
const mostInBatch = 10_000

const inBatches = <E, R>(
  items: ReadonlyArray<WorkItemId>,
  use: (some: ReadonlyArray<WorkItemId>) => Effect.Effect<void, E, R>
) =>
  Effect.forEach(
    Array.from({ length: Math.ceil(items.length / mostInBatch) }, (_, n) => n * mostInBatch),
    (start) => use(items.slice(start, start + mostInBatch)),
    { discard: true }
  )

/** Handles the failed items of one round; true when some are retried. */
const settle = Effect.fnUntraced(function* <T extends Target, E, R>(
  target: T,
  run: ProcessRunId,
  round: number,
  { failures = "fail" }: RunOptions<T, E, R>,
  settled: Array<WorkItemId>
) {
  const failed = yield* failedOf(target, run)
  const decisions: Record<Decision, Array<WorkItemId>> = { retry: [], settle: [], fail: [] }
  for (const item of failed) {
    decisions[typeof failures === "string" ? failures : yield* failures(item, round)].push(item.id)
  }
  if (decisions.fail.length > 0) return yield* RunUnresolved.of(run, failed)
  yield* inBatches(decisions.settle, WorkItems.markAsDone)
  settled.push(...decisions.settle)
  yield* inBatches(decisions.retry, WorkItems.retry)
  return decisions.retry.length > 0
})

export const run = Effect.fnUntraced(function* <T extends Target, E, R>(
  target: T,
  payloads: ReadonlyArray<Payload<T>>,
  options: RunOptions<T, E, R>
) {
  yield* refuseUnknown("Process.run", runOptions, options)
  if (payloads.length === 0) return yield* new InvalidPayload({ message: "payloads: a run takes one at least" })
  const encoded = yield* encodePayloads(target, payloads)
  const id = yield* idOf(target)
  const items = yield* WorkItems.createMany({ process: id, payloads: encoded })
  const { files } = options
  if (files !== undefined) {
    for (const [index, item] of items.entries()) {
      const payload = payloads[index]
      if (payload === undefined) continue
      yield* Effect.forEach(files(payload, index), (file) => WorkItems.attachFile(item, file), { discard: true })
    }
  }
  const started = yield* ProcessRuns.start(id, { workItems: items })
  if (!started.started) return yield* Effect.die(new Error(`the run of ${id} was not started with items that it has`))
  const settled: Array<WorkItemId> = []
  for (let round = 1; ; round++) {
    const ended = yield* ProcessRuns.awaitEnd(
      started.id,
      options.timeout === undefined ? {} : { timeout: options.timeout }
    )
    if (ended.state !== "unresolved" || !(yield* settle(target, started.id, round, options, settled))) break
  }
  const outputs = yield* Stream.runCollect(Stream.mapEffect(Outputs.stream(started.id), decoderOf(target)))
  const ran: Ran<T> = { run: started.id, outputs, settled }
  return ran
})
