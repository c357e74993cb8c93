/**
 * Describes values that do not fit a schema.
 */
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Options for decoding and encoding under which errors hold nothing of the value. */
export const parseOptions = { errors: "first", reportInput: false } as const

/**
 * Returns where the value does not fit and what was expected there, such as `items.0.id: Expected string`. Contains nothing
 * of the value when it was parsed with `parseOptions`: it may be secret.
 */
export const describe = ({ issue }: Schema.SchemaError): string => {
  const [first] = format(issue).issues
  const path = (first?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
  return `${path === "" ? "" : `${path}: `}${first?.message ?? "not valid"}`
}
