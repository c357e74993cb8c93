/** Describes values that do not match a schema. */
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

// The default formatter, which every program already contains: another one would add to the bundle.
const format = SchemaIssue.makeFormatterDefault()

/** Options for decoding and encoding under which errors contain nothing of the value. */
export const parseOptions = { errors: "first", reportInput: false } as const

/**
 * Returns where the value does not match and what was expected there, such as `items.0.id: Expected string`. Contains
 * nothing of the value if it was parsed with `parseOptions`: it may be secret.
 */
export const describe = ({ issue }: Schema.SchemaError): string => {
  const [message, at] = format(issue).split("\n")
  // `  at ["items"][0]["id"]`
  const path = at?.match(/^ +at \["?(.*?)"?\]$/)?.[1]?.replaceAll(/"?\]\["?/g, ".")
  return path === undefined ? `${message}` : `${path}: ${message}`
}
