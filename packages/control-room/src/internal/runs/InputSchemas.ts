/**
 * Checks payloads of work items against the JSON Schema that their process keeps.
 */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import * as ExactJson from "@signalbox/transport/ExactJson"
import { Refused } from "../engine/Refused.ts"
import type { StoredProcess } from "../store/processes/Processes.ts"
import { type Budget, budget as makeBudget, type Compiled, compile } from "./schemas/Check.ts"

/** The part of a process, or of a definition about to be stored, that says how payloads are checked. */
export type Checked = Pick<StoredProcess, "inputSchema" | "checkPayloads">

/** Checks that are cached; building one takes up to a millisecond, and about 20 with large patterns. */
const capacity = 500
/** Steps of checks after which others get the event loop: one more check may take 40 ms. */
const slice = 100_000

const unchecked: Compiled = { problem: null, check: () => null }

export class InputSchemas extends Context.Service<
  InputSchemas,
  {
    /** Refuses a schema against which payloads cannot be checked, if the process checks them. */
    readonly checkSchema: (process: Checked) => Effect.Effect<void, Refused>
    /** Refuses a payload that does not fit the schema, if the process checks payloads; `field`: where it stands in the request. */
    readonly checkPayload: (
      process: Checked,
      payload: Schema.Json,
      field: string,
      /** Of all payloads of the request, if it has several. */
      budget?: Budget
    ) => Effect.Effect<void, Refused>
  }
>()("@signalbox/control-room/runs/InputSchemas") {
  static readonly layer = Layer.effect(
    InputSchemas,
    Effect.gen(function* () {
      const checks = yield* Cache.make({
        capacity,
        // The text is JSON: the service has made it from JSON.
        lookup: (text: string) =>
          Effect.andThen(
            Effect.yieldNow,
            Effect.tap(
              Effect.sync(() => compile(ExactJson.parse(text))),
              Effect.yieldNow
            )
          )
      })
      /** Steps since the event loop was last given the time for anything else. */
      let unyielded = 0
      const checkOf = ({ checkPayloads, inputSchema }: Checked) =>
        checkPayloads && inputSchema !== null ? Cache.get(checks, inputSchema) : Effect.succeed(unchecked)
      return InputSchemas.of({
        checkSchema: (process) =>
          Effect.flatMap(checkOf(process), ({ problem }) =>
            problem === null
              ? Effect.void
              : Effect.fail(
                  new Refused({
                    code: "INVALID_REQUEST",
                    message: `input_schema${problem}; change it, or remove check_payloads`
                  })
                )
          ),
        checkPayload: (process, payload: Schema.Json, field, budget = makeBudget()) =>
          Effect.flatMap(checkOf(process), ({ check }) => {
            const { left } = budget
            const problem = check(payload, budget)
            unyielded += left - budget.left
            if (problem === null) {
              if (unyielded < slice) return Effect.void
              unyielded = 0
              return Effect.yieldNow
            }
            return Effect.fail(
              new Refused({
                code: "INVALID_REQUEST",
                message: `${field}${problem.path}: ${problem.message}; the process accepts only payloads that match its input_schema`
              })
            )
          })
      })
    })
  )
}
