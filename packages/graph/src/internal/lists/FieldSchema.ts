/**
 * Fields of items by the schema that a caller gives.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import { first, parseOptions } from "@signalbox/transport/SchemaProblem"
import { type AnySchema, codecOf, type TypeOf } from "@signalbox/api/StandardSchema"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { ListItem } from "../../model/List.ts"

/**
 * The fields of an item do not fit the `schema` of the call. `id` is that of the item, `path` where its fields do not fit, such as
 * `Page_x0020_Count`; empty: as a whole. The message of a schema of effect has nothing of the values.
 */
export class UnexpectedFields extends TaggedError<UnexpectedFields>()("UnexpectedFields", {
  id: Schema.String,
  path: Schema.String,
  /** What was expected there. */
  expected: Schema.String
}) {
  override get message(): string {
    const at = this.path === "" ? "" : `${this.path}: `
    return `the fields of item ${this.id} do not fit the schema: ${at}${this.expected}`
  }
}

/**
 * The `schema` of the fields that a call reads, by internal names of columns: one of effect, or of a library that implements Standard
 * Schema, such as Zod, Valibot or ArkType. A column without a value is absent in the fields.
 *
 * ```ts
 * import * as Lists from "@signalbox/graph/Lists"
 * import type { SiteId } from "@signalbox/graph/model/Common"
 * import * as Schema from "effect/Schema"
 * import * as Stream from "effect/Stream"
 *
 * const schema = Schema.Struct({
 *   Title: Schema.String,
 *   Due: Schema.optionalKey(Schema.DateFromString)
 * })
 *
 * export const due = (site: SiteId) =>
 *   Lists.items(site, "Orders", { schema }).pipe(
 *     Stream.map(({ fields }) => [fields.Title, fields.Due] as const)
 *   )
 * ```
 */
export interface WithSchema<S extends AnySchema> {
  readonly schema: S
}

/** An item whose fields have the type of a schema. */
export type TypedItem<S extends AnySchema> = Omit<ListItem, "fields"> & { readonly fields: TypeOf<S> }

/**
 * Returns a function that decodes the fields of an item; without a schema, one that returns the item as it is. That the fields then
 * have the type of the schema is said by the signatures of its callers.
 */
export const reader = (
  schema: AnySchema | undefined
): ((item: ListItem) => Effect.Effect<ListItem, UnexpectedFields>) => {
  if (schema === undefined) return Effect.succeed
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(codecOf(schema)), parseOptions)
  return (item) => {
    const decoded = decode(item.fields ?? {})
    if (Result.isSuccess(decoded)) {
      // They have the type of the schema, whatever that is.
      const fields = decoded.success as Exclude<ListItem["fields"], undefined>
      return Effect.succeed({ ...item, fields })
    }
    const { field, message } = first(decoded.failure)
    return Effect.fail(new UnexpectedFields({ id: item.id, path: field, expected: message }))
  }
}
