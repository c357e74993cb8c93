/**
 * Which executions compute outside of a step, for the inspection by other processes: a value of the journal for each, which counts as
 * long as its process has the claim.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Execution } from "../model/Execution.ts"
import type { Journal } from "../journal/Journal.ts"

const prefix = "computing "
const nameOf = (id: string) => `${prefix}${id}`

const Value = Schema.Struct({ since: Schema.Finite, epoch: Schema.Finite })
const decode = Schema.decodeUnknownOption(Value)

type Claimed = Pick<Execution, "id" | "epoch">

/** Stores since when the body of an execution computes; null: not any more. */
export const store = Effect.fnUntraced(function* (
  journal: Journal["Service"],
  { epoch, id }: Claimed,
  since: number | null
) {
  const known = yield* journal.read(nameOf(id))
  const isMine = Option.exists(decode(known), (value) => value.epoch === epoch)
  if (since === null && !isMine) return
  yield* journal.swap(nameOf(id), known, since === null ? null : { since, epoch })
})

/** Returns since when the body of an execution computes; null when it does not, or not for a minute yet. */
export const sinceOf = Effect.fnUntraced(function* (journal: Journal["Service"], execution: Execution) {
  if (execution.owner === null) return null
  const value = decode(yield* journal.read(nameOf(execution.id)))
  return Option.isSome(value) && value.value.epoch === execution.epoch ? value.value.since : null
})

/** Deletes the values of processes that died. */
export const forget = Effect.fnUntraced(function* (journal: Journal["Service"]) {
  for (const name of yield* journal.names(prefix)) {
    const known = yield* journal.read(name)
    const execution = yield* journal.find(name.slice(prefix.length))
    const isCurrent =
      execution !== null &&
      execution.owner !== null &&
      Option.exists(decode(known), (value) => value.epoch === execution.epoch)
    if (!isCurrent) yield* journal.swap(name, known, null)
  }
})
