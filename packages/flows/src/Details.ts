/**
 * Details: what an attempt of a step records for the next one.
 */
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import { Reporter } from "./internal/body/Reporter.ts"
import { type Codec, readIfFits, recordDetails } from "./internal/model/Values.ts"

/** What the attempts of a step record while they run. */
export interface Details<A> {
  /** What earlier attempts recorded last; none: nothing, or what does not fit the schema. */
  readonly last: Option.Option<A>
  /** Records a value, which replaces the one before. A loop may call it for each row. */
  readonly record: (value: A) => Effect.Effect<void>
}

/**
 * Returns the details of a step, in its `run`: what earlier attempts recorded last, and a function that records how far this one is. The
 * next attempt reads that, after a failure, a timeout, the end of the process or the loss of its lease. They are deleted when the step
 * ends. A value is JSON by the schema, at most 1 MB, without secrets; one that does not fit any more is logged, and absent.
 *
 * The last value is written with the next write of the execution, at most a second later, and before the failure of the attempt; a
 * process that is killed loses what was recorded after that. In `Flow.run` only retries in the same process read it. Outside of steps
 * nothing is recorded.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Option from "effect/Option"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * declare const store: (row: string) => Effect.Effect<void>
 *
 * export const importRows = Flow.step("import", {
 *   input: Schema.Array(Schema.String),
 *   success: Schema.Void,
 *   error: Schema.Never,
 *   run: Effect.fnUntraced(function* (rows) {
 *     const details = yield* Flow.details(Schema.Int)
 *     const first = Option.getOrElse(details.last, () => 0)
 *     for (const [n, row] of rows.entries()) {
 *       if (n < first) continue
 *       yield* store(row)
 *       yield* details.record(n + 1)
 *     }
 *   })
 * })
 * ```
 */
export const details = <S extends Codec>(schema: S): Effect.Effect<Details<S["Type"]>> =>
  Effect.flatMap(Reporter, ({ details, record, what }) =>
    Effect.map(readIfFits(schema, details, what), (last) => ({
      last,
      record: (value) => Effect.map(recordDetails(schema, value, what), ({ json }) => record(json))
    }))
  )
