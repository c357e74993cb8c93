/**
 * Collecting a stream into the result of a step.
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { FlowDefect } from "../../FlowDefect.ts"
import { jsonBytes, maxResultBytes } from "./Values.ts"

/**
 * Returns all elements. More than `maxResultBytes` in all are a defect, as soon as that is clear; `what` and `instead` are in its
 * message.
 */
export const collect = Effect.fnUntraced(function* <A extends Schema.Json, E, R>(
  stream: Stream.Stream<A, E, R>,
  texts: { readonly what: string; readonly instead: string }
) {
  const collected: Array<A> = []
  let bytes = 0
  yield* Stream.runForEach(stream, (element) => {
    bytes += jsonBytes(element)
    collected.push(element)
    if (bytes <= maxResultBytes) return Effect.void
    const message =
      `${texts.what} are more than ${maxResultBytes} bytes of JSON: ${texts.instead} in a step of your own, and return what ` +
      "the flow needs of them"
    return Effect.die(new FlowDefect({ message }))
  })
  return collected
})
