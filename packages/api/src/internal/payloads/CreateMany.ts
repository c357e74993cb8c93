/** Payloads for new work items: all checked, then in parts for a request each. */
import { Conflict, InvalidRequest } from "../../ControlRoomError.ts"
import { jsonOf, Unfit } from "@signalbox/transport/JsonValue"
import { describe, parseOptions } from "@signalbox/transport/SchemaProblem"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Reference } from "../../contract/Order.ts"
import { maxCreated, maxPayload } from "../endpoints/WorkItems.ts"

/** Of one request, in characters of JSON: the service takes 8 MB. */
const maxCharacters = 2_000_000

/** One request. */
export interface Part {
  /** The index of its first payload among all. */
  readonly start: number
  readonly payloads: ReadonlyArray<Schema.Json>
  readonly references: ReadonlyArray<string | null> | undefined
}

const referenceProblem = (() => {
  const decode = Schema.decodeUnknownResult(Schema.NullOr(Reference), parseOptions)
  return (reference: unknown): string | null => {
    const result = decode(reference)
    return Result.isSuccess(result) ? null : describe(result.failure)
  }
})()

/** Bytes of UTF-8, which are at most three for each unit of a text. */
const isTooLarge = (json: string) => json.length * 3 > maxPayload && new TextEncoder().encode(json).length > maxPayload

/** Returns the requests for payloads, or the first problem of any of them, at its index. */
export const partsOf = (
  payloads: ReadonlyArray<unknown>,
  references: ReadonlyArray<string | null> | undefined
): ReadonlyArray<Part> | string => {
  if (references !== undefined && references.length !== payloads.length) {
    return `references: has ${references.length} entries for ${payloads.length} payloads; give one for each, null for none`
  }
  const parts: Array<{ start: number; payloads: Array<Schema.Json> }> = []
  let characters = Infinity
  for (const [index, payload] of payloads.entries()) {
    const json = jsonOf(payload, `payloads.${index}`)
    if (json instanceof Unfit) return json.message
    const problem = references === undefined ? null : referenceProblem(references[index])
    if (problem !== null) return `references.${index}: ${problem}`
    const text = JSON.stringify(json)
    if (isTooLarge(text)) {
      return `payloads.${index}: more than the ${maxPayload} bytes of JSON that a work item takes; attach the data as a file instead`
    }
    const part = parts.at(-1)
    if (part === undefined || part.payloads.length === maxCreated || characters + text.length > maxCharacters) {
      parts.push({ start: index, payloads: [json] })
      characters = text.length
    } else {
      part.payloads.push(json)
      characters += text.length
    }
  }
  return parts.map(({ payloads, start }) => ({
    start,
    payloads,
    references: references?.slice(start, start + payloads.length)
  }))
}

/** The refusal of a part under the index that the payload has among all. */
export const atIndex = <E>(error: E, start: number): E | Conflict | InvalidRequest => {
  if (!(error instanceof InvalidRequest || error instanceof Conflict) || start === 0) return error
  const message = error.message.replace(
    /^(payloads|references)\.(\d+)/,
    (_, field: string, index: string) => `${field}.${Number(index) + start}`
  )
  return error instanceof Conflict
    ? new Conflict({ code: error.code, message, request: error.request })
    : new InvalidRequest({ code: error.code, message, request: error.request })
}
