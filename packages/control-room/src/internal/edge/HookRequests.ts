/** What a request to the address of a trigger says, as pure functions: whether it is genuine, and what of it is used. */
import type { TriggerEventId, TriggerPayload } from "@signalbox/api/contract/Triggers"
import { standardContent, standardKey, webhookHeaders } from "@signalbox/api/contract/WebhookEvents"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { createHmac, timingSafeEqual } from "node:crypto"
import type { Signature } from "../store/StoredTrigger.ts"

type Headers = Readonly<Record<string, string | undefined>>

/** How far the time of a signed request may be from now, in seconds. */
export const tolerance = 300
/** Characters of an event id at most. */
const longestEventId = 255

const hmac = (key: string | Uint8Array, content: Uint8Array) => createHmac("sha256", key).update(content).digest()

/** Comparisons take the same time wherever the first difference is. */
const same = (given: Buffer, expected: Buffer) => given.length === expected.length && timingSafeEqual(given, expected)

const mismatch = "the signature does not match this body and the secret of the trigger"

const standard = (secret: string, headers: Headers, body: Uint8Array, now: number): string | null => {
  const [id, time, signatures] = [webhookHeaders.id, webhookHeaders.timestamp, webhookHeaders.signature].map(
    (name) => headers[name]
  )
  if (id === undefined || time === undefined || signatures === undefined) {
    return `the headers ${webhookHeaders.id}, ${webhookHeaders.timestamp} and ${webhookHeaders.signature} are needed`
  }
  if (!/^\d{1,12}$/.test(time)) return `${webhookHeaders.timestamp}: Expected a time in seconds since 1970`
  if (Math.abs(now / 1000 - Number(time)) > tolerance) {
    return `${webhookHeaders.timestamp}: the request is not from within ${tolerance} seconds of now; send it anew, and check the clock`
  }
  const expected = hmac(standardKey(secret), standardContent(id, time, body))
  // Versions other than v1 are ignored.
  const given = signatures.split(" ").filter((one) => one.startsWith("v1,"))
  return given.some((one) => same(Buffer.from(one.slice(3), "base64"), expected)) ? null : mismatch
}

const named = (
  { header, prefix }: Signature & { readonly type: "hmac" },
  secret: string,
  headers: Headers,
  body: Uint8Array
) => {
  const given = headers[header.toLowerCase()]
  if (given === undefined) return `the header ${header} is missing`
  const hex = given.startsWith(prefix) ? given.slice(prefix.length) : ""
  if (!/^[0-9a-fA-F]{64}$/.test(hex)) {
    return `${header}: Expected ${prefix === "" ? "" : `${prefix} and `}64 hexadecimal digits`
  }
  return same(Buffer.from(hex, "hex"), hmac(secret, body)) ? null : mismatch
}

/** Why a request is not genuine; null: it is. */
export const refusalOf = (
  signature: Signature,
  secret: string,
  headers: Headers,
  body: Uint8Array,
  now: number
): string | null =>
  signature.type === "hmac" ? named(signature, secret, headers, body) : standard(secret, headers, body, now)

const isRecord = (value: Schema.Json | undefined): value is { readonly [key: string]: Schema.Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value at a JSON pointer; undefined when there is nothing. */
export const valueAt = (body: Schema.Json, pointer: string): Schema.Json | undefined => {
  let value: Schema.Json | undefined = body
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~")
    if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined
    else value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  return value
}

const nothingAt = (field: string, pointer: string) => `${field}: the body has nothing at ${pointer}`

/** The payload of the item, or what is missing. */
export const payloadOf = (body: Schema.Json, payload: TriggerPayload): Result.Result<Schema.Json, string> => {
  if (typeof payload === "string") {
    const found = valueAt(body, payload)
    return found === undefined ? Result.fail(nothingAt("payload", payload)) : Result.succeed(found)
  }
  const entries: Array<readonly [string, Schema.Json]> = []
  for (const [name, pointer] of Object.entries(payload)) {
    const found = valueAt(body, pointer)
    if (found === undefined) return Result.fail(nothingAt(`payload.${name}`, pointer))
    entries.push([name, found])
  }
  return Result.succeed(Object.fromEntries(entries))
}

/** The id of the event, null when the trigger looks for none, or what is wrong with it. */
export const eventIdOf = (
  where: TriggerEventId | null,
  signature: Signature | null,
  headers: Headers,
  body: Schema.Json
): Result.Result<string | null, string> => {
  const from = where ?? (signature?.type === "standard_webhooks" ? { header: webhookHeaders.id } : null)
  if (from === null) return Result.succeed(null)
  const found = "header" in from ? headers[from.header.toLowerCase()] : valueAt(body, from.pointer)
  const place = "header" in from ? `the header ${from.header}` : `the body at ${from.pointer}`
  const id = typeof found === "number" ? String(found) : found
  return typeof id === "string" && id !== "" && id.length <= longestEventId && !/[\0\p{Cs}]/u.test(id)
    ? Result.succeed(id)
    : Result.fail(`event_id: Expected a text of 1 to ${longestEventId} characters, or a number, in ${place}`)
}
