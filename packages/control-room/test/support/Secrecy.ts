/** What of a request or a response is a secret or content by its schema: no list of names could forget one. */
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/** Values that the service knows nothing about, or that it must not show. */
const opaque: ReadonlySet<unknown> = new Set(["effect/schema/Redacted", "effect/schema/Json"])

const isOpaque = (ast: SchemaAST.AST): boolean => {
  const representation = ast.annotations?.["representation"]
  return (
    typeof representation === "object" &&
    representation !== null &&
    "id" in representation &&
    opaque.has(representation.id)
  )
}

/** JSON schemas describe payloads and have none. */
const open = new Set(["input_schema"])

/** The texts and numbers of a value that are long enough to be found by chance nowhere else. */
const leavesOf = (value: Schema.Json | undefined): ReadonlyArray<string> => {
  if (typeof value === "string") return value.length > 5 ? [value] : []
  if (typeof value === "number") return Math.abs(value) > 999 ? [String(value)] : []
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

const memberOf = (value: Schema.Json, name: PropertyKey): Schema.Json | undefined =>
  typeof value === "object" && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined

/** Whether a value is of this member of a union, by the texts that tell them apart. */
const isOf = (ast: SchemaAST.AST, value: Schema.Json): boolean =>
  ast._tag !== "Objects" ||
  ast.propertySignatures.every(({ name, type }) => type._tag !== "Literal" || type.literal === memberOf(value, name))

/** The secrets and the content of a value of this schema. */
export const secretsOf = (ast: SchemaAST.AST, value: Schema.Json | undefined): ReadonlyArray<string> => {
  if (value === undefined || value === null) return []
  if (isOpaque(ast)) return leavesOf(value)
  switch (ast._tag) {
    case "Objects":
      return ast.propertySignatures.flatMap(({ name, type }) =>
        open.has(String(name)) ? [] : secretsOf(type, memberOf(value, name))
      )
    case "Arrays":
      return Array.isArray(value)
        ? value.flatMap((one: Schema.Json) => [...ast.elements, ...ast.rest].flatMap((type) => secretsOf(type, one)))
        : []
    case "Union":
      return ast.types.filter((type) => isOf(type, value)).flatMap((type) => secretsOf(type, value))
    case "Suspend":
      return secretsOf(ast.thunk(), value)
    default:
      // An address that needs no key.
      return typeof value === "string" && value.includes("signature=") ? [value] : []
  }
}

/** Whether a text has a value, and not only as a part of a longer one. */
export const shows = (text: string, secret: string): boolean => {
  const escaped = JSON.stringify(secret).slice(1, -1)
  if (!/^[\w.-]+$/.test(secret)) return text.includes(escaped)
  return new RegExp(`(?<![\\w.-])${escaped.replaceAll(".", "\\.")}(?![\\w.-])`).test(text)
}
