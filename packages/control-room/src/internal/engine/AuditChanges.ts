/** What an entry of the audit says of a change: its fields before and after, and no payload, file or secret. */
import type { AuditChange } from "@signalbox/api/contract/Audit"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"

/** Fields with content of work items and files, messages about them, tokens, or addresses that are valid without a key. */
const content: ReadonlySet<string> = new Set([
  "data",
  "default_work_item",
  "download",
  "exception",
  "files",
  "inputs",
  "link_token",
  "package",
  "payload",
  "payloads",
  "previous_payload",
  "upload",
  "upload_url"
])

/** Fields that say when something was written, or what follows from others. */
const derived: ReadonlySet<string> = new Set(["created_at", "id", "last_seen_at", "revision", "updated_at"])

/** Bytes of JSON from which a value is stored as its digest. */
const longest = 2000

/** A digest that says nothing about its value without the key of the room. */
export type Digest = (value: string | Uint8Array) => string

/** The fields of a resource, of a request or of a response, as the program has them. */
export type Fields = Readonly<Record<string, unknown>>

const sized = (value: string | Uint8Array, digest: Digest): Schema.Json => ({
  bytes: Buffer.byteLength(value),
  digest: digest(value)
})

/** A value as JSON, in which secrets and content are their size and digest. */
const plain = (name: string, value: unknown, digest: Digest): Schema.Json => {
  if (value === undefined || value === null) return null
  if (Redacted.isRedacted(value)) {
    const secret = Redacted.value(value)
    return sized(typeof secret === "string" ? secret : (JSON.stringify(secret) ?? ""), digest)
  }
  if (value instanceof Uint8Array) return sized(value, digest)
  if (content.has(name)) return sized(JSON.stringify(value) ?? "", digest)
  if (Array.isArray(value)) return value.map((one) => plain(name, one, digest))
  if (!Predicate.isObject(value)) return typeof value === "boolean" || typeof value === "string" ? value : Number(value)
  // What is no JSON of its own, such as a date or a number that keeps its text.
  const prototype: unknown = Object.getPrototypeOf(value)
  if ("toJSON" in value || (prototype === null && Object.keys(value).length === 1 && "rawJSON" in value)) {
    return String(JSON.stringify(value))
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(key, member, digest)]))
}

const short = (value: Schema.Json, digest: Digest): Schema.Json => {
  const text = JSON.stringify(value)
  return text.length > longest ? sized(text, digest) : value
}

/** The fields that differ. `before`, `after`: null where there is nothing. */
export const changesOf = (
  before: Fields | null,
  after: Fields | null,
  digest: Digest
): ReadonlyArray<typeof AuditChange.Type> =>
  [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].flatMap((field) => {
    if (derived.has(field)) return []
    const old = plain(field, before?.[field], digest)
    const now = plain(field, after?.[field], digest)
    return JSON.stringify(old) === JSON.stringify(now)
      ? []
      : [{ field, before: short(old, digest), after: short(now, digest) }]
  })
