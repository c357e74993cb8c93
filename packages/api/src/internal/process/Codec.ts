/**
 * The schemas of a process as plain functions over JSON. They belong to the copy of `effect` that made the schemas, so that a
 * program with another copy, such as the bundled command, can deploy a process of a module that it has loaded.
 */
import { defined } from "@signalbox/transport/Defined"
import { describe, parseOptions } from "@signalbox/transport/SchemaProblem"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { PayloadSchema } from "./Chain.ts"

/** A value, or why there is none: a path and what was expected there, with nothing of what was found. */
export type Converted<A> = { readonly value: A } | { readonly problem: string }

export interface Codec {
  /** The JSON Schema (draft 2020-12) of the payloads. */
  readonly inputSchema: () => Readonly<Record<string, Schema.Json>>
  readonly encodeInput: (payload: unknown) => Converted<Schema.Json>
  readonly decodeInput: (json: Schema.Json) => Converted<unknown>
  readonly decodeOutput: (json: Schema.Json) => Converted<unknown>
}

const jsonSchemaOf = (schema: PayloadSchema) => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema)
  // A JSON Schema is JSON; its type is that of any object.
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...root,
    ...defined({ $defs: Object.keys(definitions).length === 0 ? undefined : definitions })
  } as Readonly<Record<string, Schema.Json>>
}

const converted = <A>(result: Result.Result<A, Schema.SchemaError>): Converted<A> =>
  Result.isSuccess(result) ? { value: result.success } : { problem: describe(result.failure) }

const decoder = (schema: PayloadSchema) => {
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(schema), parseOptions)
  return (json: Schema.Json) => converted(decode(json))
}

export const make = (input: PayloadSchema, output: PayloadSchema): Codec => {
  const encode = Schema.encodeUnknownResult(Schema.toCodecJson(input), parseOptions)
  return {
    inputSchema: () => jsonSchemaOf(input),
    encodeInput: (payload) => converted(encode(payload)),
    decodeInput: decoder(input),
    decodeOutput: decoder(output)
  }
}
