/** JSON pointers (RFC 6901). */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as ExactJson from "@signalbox/transport/ExactJson"

const isRecord = (value: Schema.Json | undefined): value is { readonly [key: string]: Schema.Json } =>
  Predicate.isObject(value) && !ExactJson.isRaw(value)

/** The key that a token of a pointer stands for. */
export const unescaped = (token: string): string => token.replaceAll("~1", "/").replaceAll("~0", "~")

/** The token of a pointer that stands for a key. */
export const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1")

/** The value at a JSON pointer; undefined when there is nothing. */
export const valueAt = (body: Schema.Json, pointer: string): Schema.Json | undefined => {
  let value: Schema.Json | undefined = body
  for (const part of pointer.split("/").slice(1)) {
    const key = unescaped(part)
    if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined
    else value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  return value
}
