/** References of JSON Schemas to other parts of their document. */
import type * as Schema from "effect/Schema"
import * as JsonPointer from "../../engine/JsonPointer.ts"
import { isObject } from "./Place.ts"

/** The tokens of a pointer such as `#/$defs/Order`; null: the reference is to something else. */
export const tokensOf = (ref: string): ReadonlyArray<string> | null =>
  ref === "#"
    ? []
    : ref.startsWith("#/") && !/%(?![0-9a-f]{2})/i.test(ref)
      ? ref
          .slice(2)
          .split("/")
          .map((token) => JsonPointer.unescaped(unescaped(token)))
      : null

/** As `decodeURIComponent`, which throws at bytes that are not UTF-8. */
const unescaped = (token: string) =>
  token.includes("%")
    ? (new URLSearchParams(`t=${token.replaceAll(/[+&]/g, encodeURIComponent)}`).get("t") ?? "")
    : token

/** What a token of a pointer leads to. */
export const memberOf = (json: Schema.Json | undefined, token: string): Schema.Json | undefined =>
  Array.isArray(json) ? json[Number(token)] : isObject(json) && Object.hasOwn(json, token) ? json[token] : undefined
