/** Structs that declarations say by the name of a class. */
import * as Schema from "effect/Schema"

/** What a class of `Struct` is: `Schema.Opaque` of the struct, whose own type says all fields twice. */
export interface Struct<Self, Fields extends Schema.Struct.Fields>
  extends Schema.Opaque<Self, Schema.Struct<Fields>, {}>, Pick<Schema.Struct<Fields>, "fields" | "mapFields"> {}

/**
 * The struct with these fields, to be extended by the class that names it, with its identifier in the OpenAPI document if it has one. In the
 * place of a constant, because the type of what has the struct would repeat all its fields in declarations. What is decoded are plain objects,
 * of the type of the class.
 *
 * @example
 *
 * ```ts
 * export class Workspace extends Struct<Workspace>("Workspace")({ id: WorkspaceId, name: Schema.String }) {}
 * ```
 */
export const Struct =
  <Self>(identifier?: string) =>
  <const Fields extends Schema.Struct.Fields>(fields: Fields): Struct<Self, Fields> => {
    const struct = Schema.Struct(fields)
    return Schema.Opaque<Self>()(identifier === undefined ? struct : struct.annotate({ identifier }))
  }
