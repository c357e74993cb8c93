/** What a request to the address of a trigger says, as pure functions: whether it is genuine, and what of it is used. */
import type { TriggerEventId, TriggerPayload } from "@signalbox/api/contract/Triggers"
import { standardContent, standardKey, webhookHeaders } from "@signalbox/api/contract/WebhookSigning"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { createHmac, timingSafeEqual } from "node:crypto"
import * as ExactJson from "@signalbox/transport/ExactJson"
import { valueAt } from "../engine/JsonPointer.ts"
import type { Signature } from "../store/starts/StoredTrigger.ts"

type Headers = Readonly<Record<string, string | undefined>>

/** How far the time of a signed request may be from now, in seconds. */
export const tolerance = 300
/** Characters of an event id at most. */
const longestEventId = 255

const hmac = (key: string | Uint8Array, content: Uint8Array) => createHmac("sha256", key).update(content).digest()

/** Comparisons take the same time wherever the first difference is. */
const same = (given: Buffer, expected: Buffer) => given.length === expected.length && timingSafeEqual(given, expected)

const mismatch = "the signature does not match this body and the secret of the trigger"

/** What is wrong with the time of a signed request; null: nothing. */
const lateness = (header: string, time: string, now: number): string | null =>
  !/^\d{1,12}$/.test(time)
    ? `${header}: Expected a time in seconds since 1970`
    : Math.abs(now / 1000 - Number(time)) > tolerance
      ? `${header}: the time differs by more than ${tolerance} seconds; send the request again, and check the clock`
      : null

/** What is wrong with a header of hexadecimal digits after a prefix, compared with the HMAC of the content. */
const hexMismatch = (header: string, given: string, prefix: string, secret: string, content: Uint8Array) => {
  const hex = given.startsWith(prefix) ? given.slice(prefix.length) : ""
  if (!/^[0-9a-fA-F]{64}$/.test(hex)) {
    return `${header}: Expected ${prefix === "" ? "" : `${prefix} and `}64 hexadecimal digits`
  }
  return same(Buffer.from(hex, "hex"), hmac(secret, content)) ? null : mismatch
}

const slackHeaders = { signature: "X-Slack-Signature", timestamp: "X-Slack-Request-Timestamp" } as const

const slack = (secret: string, headers: Headers, body: Uint8Array, now: number): string | null => {
  const [time, given] = [slackHeaders.timestamp, slackHeaders.signature].map((name) => headers[name.toLowerCase()])
  if (time === undefined || given === undefined) {
    return `the headers ${slackHeaders.timestamp} and ${slackHeaders.signature} are needed`
  }
  const late = lateness(slackHeaders.timestamp, time, now)
  if (late !== null) return late
  const content = Buffer.concat([Buffer.from(`v0:${time}:`), body])
  return hexMismatch(slackHeaders.signature, given, "v0=", secret, content)
}

const standard = (secret: string, headers: Headers, body: Uint8Array, now: number): string | null => {
  const [id, time, signatures] = [webhookHeaders.id, webhookHeaders.timestamp, webhookHeaders.signature].map(
    (name) => headers[name]
  )
  if (id === undefined || time === undefined || signatures === undefined) {
    return `the headers ${webhookHeaders.id}, ${webhookHeaders.timestamp} and ${webhookHeaders.signature} are needed`
  }
  const late = lateness(webhookHeaders.timestamp, time, now)
  if (late !== null) return late
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
  return given === undefined ? `the header ${header} is missing` : hexMismatch(header, given, prefix, secret, body)
}

/** Why a request is not genuine; null: it is. */
export const refusalOf = (
  signature: Signature,
  secret: string,
  headers: Headers,
  body: Uint8Array,
  now: number
): string | null => {
  switch (signature.type) {
    case "hmac":
      return named(signature, secret, headers, body)
    case "slack":
      return slack(secret, headers, body, now)
    case "standard_webhooks":
      return standard(secret, headers, body, now)
  }
}

/** Where senders have the ids of their events, unless the trigger says otherwise. */
const usualEventIds: Readonly<Record<Signature["type"], TriggerEventId | null>> = {
  hmac: null,
  slack: { pointer: "/event_id" },
  standard_webhooks: { header: webhookHeaders.id }
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
  const from = where ?? (signature === null ? null : usualEventIds[signature.type])
  if (from === null) return Result.succeed(null)
  const found = "header" in from ? headers[from.header.toLowerCase()] : valueAt(body, from.pointer)
  const place = "header" in from ? `the header ${from.header}` : `the body at ${from.pointer}`
  const id = typeof found === "number" ? String(found) : ExactJson.isRaw(found) ? found.rawJSON : found
  return typeof id === "string" && id !== "" && id.length <= longestEventId && !/[\0\p{Cs}]/u.test(id)
    ? Result.succeed(id)
    : Result.fail(`event_id: Expected a text of 1 to ${longestEventId} characters, or a number, in ${place}`)
}
