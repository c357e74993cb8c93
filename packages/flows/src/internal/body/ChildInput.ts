/** The input of a flow that a body calls or starts. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidInput } from "../../FlowErrors.ts"
import { type Claimed, type Interpreter, once } from "./Position.ts"
import { type Codec, recordInput } from "../model/Values.ts"

/**
 * Returns the input as JSON, and decoded from that. One that does not fit is recorded as the failure of the call, so that a replay
 * under a schema that has changed since halts, and takes no other path.
 */
export const recordChildInput = Effect.fnUntraced(function* <I extends Codec>(
  flow: { readonly name: string; readonly input: I },
  input: I["Type"],
  claim: Claimed,
  interpreter: Interpreter
) {
  const given = yield* Effect.result(recordInput(flow, input))
  if (Result.isSuccess(given)) return given.success
  return yield* interpreter.step({
    ...claim,
    name: flow.name,
    input: null,
    inputSchema: Schema.Null,
    success: Schema.Never,
    error: InvalidInput,
    retry: once,
    transient: null,
    repeatable: true,
    execute: Effect.fail(given.failure)
  })
})
