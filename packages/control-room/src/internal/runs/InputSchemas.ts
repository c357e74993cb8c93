/**
 * Checks payloads of work items against the JSON Schema that their process keeps.
 */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as JsonSchema from "effect/JsonSchema"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import { Refused } from "../Refused.ts"
import type { StoredProcess } from "../store/Processes.ts"

/** The part of a process, or of a definition about to be stored, that says how payloads are checked. */
export type Checked = Pick<StoredProcess, "inputSchema" | "checkPayloads">

/** Returns where a payload does not fit and what was expected there; null: it fits. */
type Check = (payload: Schema.Json) => { readonly path: string; readonly message: string } | null

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Checks that are cached; building one takes up to a millisecond. */
const capacity = 500

/**
 * Patterns are not applied: a pattern can be written so that some text takes it exponential time, which would block the event loop.
 * Without patterns alternatives may overlap, so that `oneOf` is checked as `anyOf`.
 */
const onEnter = ({ oneOf, ...schema }: JsonSchema.JsonSchema): JsonSchema.JsonSchema =>
  oneOf === undefined ? schema : schema["anyOf"] === undefined ? { ...schema, anyOf: oneOf } : schema

/** What is imported from a JSON Schema is made of built-in schemas, which need no services; its type does not tell. */
const withoutServices = (schema: Schema.Top) => schema as Schema.Top & Schema.ConstraintCodec<unknown, unknown>

const build = (text: string) =>
  Effect.try({
    try: (): Check => {
      const document = JsonSchema.fromSchemaDraft2020_12(JSON.parse(text))
      const imported = SchemaRepresentation.fromJsonSchemaDocument(document, { patterns: "ignore", onEnter })
      const validate = Schema.decodeUnknownResult(withoutServices(imported), { errors: "first", reportInput: false })
      return (payload) => {
        const result = validate(payload)
        if (Result.isSuccess(result)) return null
        const [first] = format(result.failure.issue).issues
        const keys = (first?.path ?? []).map((part) => `.${String(typeof part === "object" ? part.key : part)}`)
        return { path: keys.join(""), message: first?.message ?? "Expected another payload" }
      }
    },
    catch: (cause) =>
      new Refused({
        code: "INVALID_REQUEST",
        message: `input_schema: payloads cannot be checked against it: ${
          cause instanceof Error ? cause.message.replaceAll(/\s+/g, " ") : "not a JSON Schema"
        }; write it otherwise, or leave check_payloads out`
      })
  })

export class InputSchemas extends Context.Service<
  InputSchemas,
  {
    /** Refuses a schema against which payloads cannot be checked, if the process checks them. */
    readonly checkSchema: (process: Checked) => Effect.Effect<void, Refused>
    /** Refuses a payload that does not fit the schema, if the process checks payloads; `field`: where it stands in the request. */
    readonly checkPayload: (process: Checked, payload: Schema.Json, field: string) => Effect.Effect<void, Refused>
  }
>()("@signalbox/control-room/runs/InputSchemas") {
  static readonly layer = Layer.effect(
    InputSchemas,
    Effect.gen(function* () {
      const checks = yield* Cache.make({ capacity, lookup: build })
      const checkOf = ({ checkPayloads, inputSchema }: Checked) =>
        checkPayloads && inputSchema !== null ? Cache.get(checks, inputSchema) : Effect.succeed<Check>(() => null)
      return InputSchemas.of({
        checkSchema: (process) => Effect.asVoid(checkOf(process)),
        checkPayload: (process, payload, field) =>
          Effect.flatMap(checkOf(process), (check) => {
            const problem = check(payload)
            if (problem === null) return Effect.void
            return Effect.fail(
              new Refused({
                code: "INVALID_REQUEST",
                message: `${field}${problem.path}: ${problem.message}; the process takes payloads of its input_schema only`
              })
            )
          })
      })
    })
  )
}
