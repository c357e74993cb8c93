/**
 * The size of payloads of work items.
 */
import type { PayloadTooLargeResponse } from "@signalbox/api/contract/Responses"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { limits } from "../settings/Limits.ts"
import { tooLarge } from "./Failures.ts"

/** Bytes from which on the event loop gets its turn after each. */
const largePayload = 20_000

/**
 * Returns the JSON text of a payload, or refuses one that is too large for a work item; `field` is its path in the
 * request.
 */
export const checkPayload = (
  payload: Schema.Json,
  field = "payload"
): Effect.Effect<string, PayloadTooLargeResponse> => {
  const json = JSON.stringify(payload)
  const size = Buffer.byteLength(json)
  return size <= limits.itemPayload
    ? // A request may have very many of them.
      size < largePayload
      ? Effect.succeed(json)
      : Effect.as(Effect.yieldNow, json)
    : Effect.fail(
        tooLarge(
          `${field}: ${size} bytes of JSON exceed the ${limits.itemPayload} allowed; attach the data as a file instead`
        )
      )
}
