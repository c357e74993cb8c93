/**
 * Input that does not decode becomes a 400 that names the field.
 */
import { Validation } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as SchemaIssue from "effect/SchemaIssue"
import { invalidRequest } from "./Failures.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === "object" ? segment.key : segment)

export const layer = HttpApiMiddleware.layerSchemaErrorTransform(Validation, (error) => {
  // What does not encode is our own bug: a 500.
  if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.die(error)
  const [first] = format(error.cause.issue).issues
  const path = (first?.path ?? []).map(keyOf).join(".")
  const message = first?.message ?? "the input is not valid"
  return Effect.fail(invalidRequest(path === "" ? message : `${path}: ${message}`))
})
