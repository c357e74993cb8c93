/**
 * The ends of executions, for callers that wait for them.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import { FlowDefect } from "../../FlowDefect.ts"
import { DeadlineExceeded, FlowCancelled, FlowHalted } from "../../FlowErrors.ts"
import type { Ended } from "../body/ChildExecutions.ts"
import { codeIn } from "../interpreter/Halts.ts"
import { type Codec, decodeRecorded } from "../model/Values.ts"
import { isLate } from "../model/When.ts"

/** Returns the result of an ended execution, or fails with its error, from the record. */
export const outcomeOf = Effect.fnUntraced(function* <S extends Codec, E extends Codec>(
  flow: { readonly name: string; readonly success: S; readonly error: E },
  execution: Ended
) {
  const { deadlineAt, error, failure, id, result, state, version } = execution
  const what = `the execution ${id} of ${flow.name}, version ${version},`
  if (state === "completed") return yield* decodeRecorded(flow.success, result, `the result of ${what}`)
  if (state === "cancelled") return yield* new FlowCancelled({ execution: id })
  if (state === "halted") {
    return yield* new FlowHalted({
      execution: id,
      tag: failure?.tag ?? null,
      message: `${what} is halted: ${failure?.message ?? "unknown"}`,
      ...defined({ code: failure === null ? undefined : codeIn(failure) })
    })
  }
  if (deadlineAt !== null && isLate(execution)) return yield* new DeadlineExceeded({ execution: id, deadlineAt })
  if (failure?.kind === "failed") {
    return yield* Effect.fail(yield* decodeRecorded(flow.error, error, `the error of ${what}`))
  }
  return yield* Effect.die(new FlowDefect({ message: `${what} died: ${failure?.message ?? "unknown"}` }))
})
