/** Payloads through the schema that a caller gives. */
import { Unfit } from "@signalbox/transport/JsonValue"
import { first, parseOptions } from "@signalbox/transport/SchemaProblem"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Page } from "../../contract/Common.ts"
import { UnexpectedData } from "../../Payload.ts"
import { type AnySchema, codecOf } from "../../StandardSchema.ts"

interface Item {
  readonly id: string
  readonly payload?: Schema.Json | null
}

/**
 * Returns a function that decodes the payload of an item; without a schema, one that returns the item as it is. That the payload then
 * has the type of the schema is said by the signatures of its callers.
 */
export const reader = (
  schema: AnySchema | undefined
): (<I extends Item>(item: I) => Effect.Effect<I, UnexpectedData>) => {
  if (schema === undefined) return Effect.succeed
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(codecOf(schema)), parseOptions)
  return (item) => {
    const decoded = decode(item.payload ?? null)
    if (Result.isSuccess(decoded)) return Effect.succeed({ ...item, payload: decoded.success })
    const { field, message } = first(decoded.failure)
    return Effect.fail(new UnexpectedData({ id: item.id, path: field, expected: message }))
  }
}

/** Like `reader`, for a page. */
export const pageReader = (schema: AnySchema | undefined) => {
  const read = reader(schema)
  return <I extends Item>(page: Page<I>): Effect.Effect<Page<I>, UnexpectedData> =>
    schema === undefined
      ? Effect.succeed(page)
      : Effect.map(
          Effect.forEach(page.data, (item) => read(item)),
          (data) => ({ ...page, data })
        )
}

/** Returns a function that encodes a payload, as what is then checked to be JSON. */
export const writer = (schema: AnySchema) => {
  const encode = Schema.encodeUnknownResult(Schema.toCodecJson(codecOf(schema)), parseOptions)
  return (payload: unknown, path: string): Schema.Json | Unfit => {
    const encoded = encode(payload)
    if (Result.isSuccess(encoded)) return encoded.success
    const { field, message } = first(encoded.failure)
    return new Unfit(field === "" ? path : `${path}.${field}`, message)
  }
}
