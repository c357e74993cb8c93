/**
 * Describes values that do not fit a schema.
 */
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

// The formatter that errors have anyway: another one would be one more in every program.
const format = SchemaIssue.makeFormatterDefault()

/** Options for decoding and encoding under which errors hold nothing of the value. */
export const parseOptions = { errors: "first", reportInput: false } as const

/**
 * Returns where the value does not fit and what was expected there, such as `items.0.id: Expected string`. Contains nothing
 * of the value when it was parsed with `parseOptions`: it may be secret.
 */
export const describe = ({ issue }: Schema.SchemaError): string => {
  const [message, at] = format(issue).split("\n")
  // `  at ["items"][0]["id"]`
  const path = at?.match(/^ +at \["?(.*?)"?\]$/)?.[1]?.replaceAll(/"?\]\["?/g, ".")
  return path === undefined ? `${message}` : `${path}: ${message}`
}
