/** Describes values that do not match a schema. */
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Options for decoding and encoding under which errors contain nothing of the value. */
export const parseOptions = { errors: "first", reportInput: false } as const

/** What is wrong in one place of a value. Contains nothing of the value if it was parsed with `parseOptions`. */
export interface SchemaProblem {
  readonly keys: ReadonlyArray<PropertyKey>
  /** The keys as text, such as `items.0.id`; empty for the value as a whole. */
  readonly field: string
  /** What was expected there. */
  readonly message: string
}

/** Returns everything that does not match, of a value that was parsed with `errors: "all"`. */
export const all = ({ issue }: Pick<Schema.SchemaError, "issue">): ReadonlyArray<SchemaProblem> =>
  format(issue).issues.map(({ message, path = [] }) => {
    const keys = path.map((segment) => (typeof segment === "object" ? segment.key : segment))
    return { keys, field: keys.map(String).join("."), message }
  })

/** Returns the first thing that does not match. */
export const first = (error: Pick<Schema.SchemaError, "issue">): SchemaProblem =>
  all(error)[0] ?? { keys: [], field: "", message: "Expected another value" }

/**
 * Returns where the value does not match and what was expected there, such as `items.0.id: Expected string`. Contains
 * nothing of the value if it was parsed with `parseOptions`: it may be secret.
 */
export const describe = (error: Pick<Schema.SchemaError, "issue">): string => {
  const { field, message } = first(error)
  return field === "" ? message : `${field}: ${message}`
}
