/**
 * The source of a schema that has a given JSON Schema.
 */
import type { ProcessDefinition } from "@signalbox/api/contract/Processes"
import * as JsonSchema from "effect/JsonSchema"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import { isDeepStrictEqual } from "node:util"

type InputSchema = NonNullable<ProcessDefinition["input_schema"]>

/** What a schema says by itself, and a source need not: what is expected, further members of an object, the range of an integer. */
const implied: ReadonlyArray<readonly [text: string | RegExp, by: string]> = [
  [/\.annotate\(\{ "expected": "(?:[^"\\]|\\.)*" \}\)/g, ""],
  ["Schema.StructWithRest(Schema.Struct(", "Schema.Struct("],
  [", [Schema.Record(Schema.String, Schema.Json)])", ""],
  [
    `Schema.Int.check(Schema.isGreaterThanOrEqualTo(${Number.MIN_SAFE_INTEGER})).check(Schema.isLessThanOrEqualTo(${Number.MAX_SAFE_INTEGER}))`,
    "Schema.Int"
  ]
]

/** Objects with further members are said in two ways; this makes one of them. */
const normalised = (schema: JsonSchema.JsonSchema): unknown =>
  JSON.parse(
    JSON.stringify(schema).replaceAll(
      '"allOf":[{"type":"object","additionalProperties":{}}]',
      '"additionalProperties":true'
    )
  )

/** Null where no source has exactly this JSON Schema, or it would need definitions of its own. */
export const sourceOf = (stored: InputSchema): string | null =>
  Result.getOrElse(
    Result.try(() => {
      // In source, both ways to mark a secret are this one.
      const { $schema: _, ...schema }: InputSchema = JSON.parse(
        JSON.stringify(stored).replaceAll('"x-secret":true', '"writeOnly":true')
      )
      // Names that look like source would be taken for it.
      if (JSON.stringify(schema).includes("Schema.")) return null
      const imported = SchemaRepresentation.fromJsonSchemaDocument(JsonSchema.fromSchemaDraft2020_12(schema))
      const document = Schema.toJsonSchemaDocument(imported)
      if (!isDeepStrictEqual(normalised(document.schema), schema) || Object.keys(document.definitions).length > 0)
        return null
      const { artifacts, codes } = SchemaRepresentation.toCodeDocument(
        SchemaRepresentation.toMultiDocument(SchemaRepresentation.toRepresentation(imported.ast))
      )
      const [code] = codes
      if (code === undefined || artifacts.length > 0) return null
      return implied.reduce((source, [text, by]) => source.replaceAll(text, by), code.runtime)
    }),
    () => null
  )

/** Secret fields: those that the schema marks, too, where the source has another one. */
export const sensitiveSource = (
  { input_schema, sensitive = [] }: Pick<ProcessDefinition, "input_schema" | "sensitive">,
  isSchemaKnown: boolean
) =>
  !isSchemaKnown && /"(?:x-secret|writeOnly)":true/.test(JSON.stringify(input_schema ?? null))
    ? [
        '  // The input schema marks secret fields, and this source does not: all is secret until you name them here.\n  sensitive: [""]'
      ]
    : sensitive.length === 0
      ? []
      : [`  sensitive: ${JSON.stringify(sensitive)}`]
