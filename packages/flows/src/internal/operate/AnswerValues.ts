/**
 * What requests come to, decoded by their schemas.
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { RequestAbandoned, RequestUnanswered } from "../../FlowErrors.ts"
import type { Requestable } from "../../Requests.ts"
import { type Codec, decodeRecorded } from "../model/Values.ts"

interface Answered {
  readonly id: string
  readonly state: "answered" | "refused" | "abandoned" | "pending"
  readonly value: Schema.Json
}

/** Returns the answer, or fails with the error of a refusal, or when there is none. */
export const answerOf = Effect.fnUntraced(function* <S extends Codec, E extends Codec>(
  { request }: Pick<Requestable<Codec, S, E>, "request">,
  sent: { readonly execution: string; readonly address: string; readonly withinMillis: number },
  { id, state, value }: Answered
): Effect.fn.Return<S["Type"], E["Type"] | RequestAbandoned | RequestUnanswered> {
  const { address, execution, withinMillis } = sent
  const what = `the answer to the request ${address}`
  const where = { execution, request: address, id }
  switch (state) {
    case "answered":
      return yield* decodeRecorded(request.success, value, what)
    case "refused":
      return yield* Effect.fail(yield* decodeRecorded(request.error, value, what))
    case "abandoned":
      return yield* new RequestAbandoned(where)
    case "pending":
      return yield* new RequestUnanswered({ ...where, afterMillis: withinMillis })
  }
})
