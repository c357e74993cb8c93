/**
 * Schemas of other libraries, through the interface that they share (`~standard`).
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import type { StandardSchemaV1 } from "effect/StandardSchema"

/** A schema of effect without services of its own. */
type Codec = Schema.ConstraintCodec<unknown, unknown, never, never>

/** A schema of effect, or one of a library that implements Standard Schema, such as Zod, Valibot or ArkType. */
export type AnySchema = Codec | StandardSchemaV1

/** The type of the values of a schema. */
export type TypeOf<S> = S extends Codec ? S["Type"] : S extends StandardSchemaV1<unknown, infer Output> ? Output : never

const segmentOf = (part: unknown): string =>
  String(Predicate.hasProperty(part, "key") && Predicate.isPropertyKey(part.key) ? part.key : part)

const messageOf = (issues: ReadonlyArray<StandardSchemaV1.Issue>): string =>
  issues
    .map(({ message, path = [] }) => (path.length === 0 ? message : `${path.map(segmentOf).join(".")}: ${message}`))
    .join("; ")

const issueOf = (message: string) => new SchemaIssue.InvalidValue({ message })

/** At the path of the first one; its message has the others, with their paths. */
const issueOfAll = ([first, ...others]: ReadonlyArray<StandardSchemaV1.Issue>): SchemaIssue.Issue => {
  if (first === undefined) return issueOf("Expected another value")
  const issue = issueOf(messageOf([{ message: first.message }, ...others]))
  const path = (first.path ?? []).map(segmentOf)
  return path.length === 0 ? issue : new SchemaIssue.Pointer(path, issue)
}

/** The JSON is what stands before validation; code gets what the library makes of it. */
const bridged = ({ "~standard": standard }: StandardSchemaV1) => {
  const validated = (json: unknown) => {
    const result = standard.validate(json)
    if (result instanceof Promise) {
      return Effect.fail(
        issueOf(`the schema (${standard.vendor}) validates asynchronously: move such checks into the code`)
      )
    }
    return result.issues === undefined ? Effect.succeed(result.value) : Effect.fail(issueOfAll(result.issues))
  }
  return Schema.Json.pipe(
    Schema.decodeTo(Schema.Unknown, {
      decode: SchemaGetter.transformEffect(validated),
      encode: SchemaGetter.transformEffect((value: unknown) =>
        Schema.is(Schema.Json)(value)
          ? Effect.as(validated(value), value)
          : Effect.fail(issueOf("the value is not JSON: return the input of the schema, before its transformations"))
      )
    })
  )
}

const isCodec = (schema: AnySchema): schema is Codec => Schema.isSchema(schema)

/** Converts any schema to one of effect. Values that a schema of another library takes are JSON, and so are those it makes. */
export const codecOf = <S extends AnySchema>(schema: S): Schema.Codec<TypeOf<S>, unknown> =>
  // The type of the output is the one that the other library declares.
  (isCodec(schema) ? schema : bridged(schema)) as unknown as Schema.Codec<TypeOf<S>, unknown>
