/**
 * Input that does not decode becomes a 400 that names the field.
 */
import type { InvalidRequestResponse } from "@signalbox/api/contract/Responses"
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { invalidRequest } from "./Failures.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "UnexpectedKey" ? "unknown key; remove it, or correct its name" : SchemaIssue.defaultLeafHook(issue)
})

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === "object" ? segment.key : segment)

export const refusal = (error: Schema.SchemaError): InvalidRequestResponse => {
  const [first] = format(error.issue).issues
  const path = (first?.path ?? []).map(keyOf).join(".")
  const message = first?.message ?? "the input is not valid"
  return invalidRequest(path === "" ? message : `${path}: ${message}`)
}
