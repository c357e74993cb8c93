/** What an example is, and values of several. */
import type * as Schema from "effect/Schema"

export interface Example {
  readonly name: string
  readonly schema: Schema.Codec<unknown, unknown>
  readonly json: Readonly<Record<string, unknown>>
  /** The schema of the OpenAPI document that the JSON must satisfy; null for an inline one. */
  readonly component: string | null
}

export const at = "2026-11-20T08:15:30.000Z"
export const later = "2026-11-20T08:16:30.500Z"
export const paused = { by: { type: "api_key", id: "k1", name: "ci" }, note: "maintenance", since: at }

export const of = (
  name: string,
  schema: Schema.Codec<unknown, unknown>,
  json: Readonly<Record<string, unknown>>,
  component: string | null = name
): Example => ({ name, schema, json, component })
