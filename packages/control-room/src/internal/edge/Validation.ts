/**
 * Input that does not decode becomes a 400 that names the field.
 */
import type { InvalidRequestResponse } from "@signalbox/api/contract/Responses"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { invalidRequest } from "./Failures.ts"

const unknownKey = "unknown key; remove it, or correct its name"

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => (issue._tag === "UnexpectedKey" ? unknownKey : SchemaIssue.defaultLeafHook(issue))
})

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === "object" ? segment.key : segment)

interface Found {
  readonly path: ReadonlyArray<string>
  readonly message: string
}

const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.LiteralValue> =>
  SchemaAST.isLiteral(ast) ? [ast.literal] : SchemaAST.isUnion(ast) ? ast.types.flatMap(literalsOf) : []

/** What `type` may be, by which the members of a union differ. */
const typesOf = ({ types }: SchemaAST.Union): ReadonlyArray<SchemaAST.LiteralValue> =>
  types.flatMap((member) =>
    SchemaAST.isObjects(member)
      ? member.propertySignatures.flatMap(({ name, type }) => (name === "type" ? literalsOf(type) : []))
      : []
  )

/** The issues of the members of a union that the input may be meant for. */
const ofUnion = (ast: SchemaAST.Union, issues: ReadonlyArray<Found>, path: ReadonlyArray<string>) => {
  const types = typesOf(ast)
  if (types.length > 1 && issues.every((issue) => issue.path[path.length] === "type")) {
    const expected = types.map((type) => JSON.stringify(type)).join(" | ")
    return [{ path: [...path, "type"], message: `Expected ${expected}` }]
  }
  // A member that does not have a key says less than one that has it and refuses its value.
  const known = issues.filter(({ message }) => message !== unknownKey)
  return known.length === 0 ? issues : known
}

const issuesIn = (issue: SchemaIssue.Issue, path: ReadonlyArray<string> = []): ReadonlyArray<Found> => {
  const below = (issues: ReadonlyArray<SchemaIssue.Issue>) => issues.flatMap((one) => issuesIn(one, path))
  switch (issue._tag) {
    case "Encoding":
      return issuesIn(issue.issue, path)
    case "Pointer":
      return issuesIn(issue.issue, [...path, ...issue.path.map(keyOf)])
    case "Composite":
      return below(issue.issues)
    case "AnyOf": {
      const found = ofUnion(issue.ast, below(issue.issues), path)
      if (found.length > 0) return found
    }
  }
  return format(issue).issues.map(({ message, path: rest = [] }) => ({ path: [...path, ...rest.map(keyOf)], message }))
}

export const refusal = (error: Schema.SchemaError): InvalidRequestResponse => {
  const [first] = issuesIn(error.issue)
  const path = (first?.path ?? []).join(".")
  const message = first?.message ?? "the input is not valid"
  return invalidRequest(path === "" ? message : `${path}: ${message}`)
}
