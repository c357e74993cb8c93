/**
 * The size of payloads of work items.
 */
import type { PayloadTooLargeResponse } from "@signalbox/api/contract/Responses"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { limits } from "../Limits.ts"
import { tooLarge } from "./Failures.ts"

/** Refuses a payload that is too large for a work item; `field` is its path in the request. */
export const checkPayload = (payload: Schema.Json, field = "payload"): Effect.Effect<void, PayloadTooLargeResponse> => {
  const size = Buffer.byteLength(JSON.stringify(payload))
  return size <= limits.itemPayload
    ? Effect.void
    : Effect.fail(
        tooLarge(
          `${field}: ${size} bytes of JSON exceed the ${limits.itemPayload} allowed; attach the data as a file instead`
        )
      )
}
