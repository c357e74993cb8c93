/** Payloads as the JSON that is sent. */
import { jsonOf, Unfit } from "@signalbox/transport/JsonValue"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { InvalidRequest } from "../../ControlRoomError.ts"
import { refused } from "../calls/Known.ts"

/**
 * Returns a value as JSON, or fails with the path at which it has none. `of` is the function that got it; `write` makes the JSON if its
 * caller has given a schema.
 */
export const json = (
  of: string,
  value: unknown,
  path: string,
  write = jsonOf
): Effect.Effect<Schema.Json, InvalidRequest> => {
  const made = write(value, path)
  return made instanceof Unfit ? Effect.fail(refused(of, made.message)) : Effect.succeed(made)
}
