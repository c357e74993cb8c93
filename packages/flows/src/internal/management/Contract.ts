/**
 * The management of flows over HTTP: one value from which the routes and the client are made.
 */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import { Timestamp } from "@signalbox/api/contract/Common"
import {
  ConflictResponse,
  InvalidRequestResponse,
  NotFoundResponse,
  UnauthenticatedResponse
} from "@signalbox/api/contract/Responses"
import { Failure } from "../../FlowEvents.ts"
import { stepKinds } from "../FlowPayload.ts"
import { executionStates } from "../FlowStore.ts"
import { jsonBytes, maxResultBytes } from "../Values.ts"

/** The last moment that a date can hold. */
const lastMillis = 8.64e15

/** Milliseconds here, ISO 8601 on the wire. */
const Time = Timestamp.pipe(
  Schema.decodeTo(
    Schema.Finite,
    SchemaTransformation.transform({
      decode: (text) => Date.parse(text),
      encode: (millis) => new Date(Math.min(millis, lastMillis)).toISOString()
    })
  )
)

const times = { startedAt: "started_at", endedAt: "ended_at" } as const

const executionFields = {
  id: Schema.String,
  flow: Schema.String,
  version: Schema.Finite,
  key: Schema.String,
  generation: Schema.Finite,
  resumes: Schema.NullOr(Schema.Struct({ execution: Schema.String, before: Schema.String })),
  state: Schema.Literals(executionStates),
  failure: Schema.NullOr(Failure),
  startedAt: Time,
  endedAt: Schema.NullOr(Time)
}

/** An execution in a list. */
export const Listed = Schema.Struct({ ...executionFields, registered: Schema.Boolean }).pipe(Schema.encodeKeys(times))

const Execution = Schema.Struct({
  ...executionFields,
  input: Schema.Json,
  result: Schema.Json,
  error: Schema.Json
}).pipe(Schema.encodeKeys(times))

const Step = Schema.Struct({
  path: Schema.String,
  attempt: Schema.Finite,
  name: Schema.String,
  kind: Schema.Literals(stepKinds),
  input: Schema.Json,
  state: Schema.Literals(["succeeded", "failed"]),
  value: Schema.Json,
  failure: Schema.NullOr(Failure),
  startedAt: Time,
  endedAt: Time
}).pipe(Schema.encodeKeys(times))

const Wait = Schema.Struct({
  path: Schema.String,
  kind: Schema.Literals(["signal", "run", "timer"]),
  run: Schema.NullOr(Schema.String),
  due: Schema.NullOr(Time)
})

/** An execution with its steps, what it waits for, and a diagram. */
export const Inspection = Schema.Struct({
  execution: Execution,
  registered: Schema.Boolean,
  steps: Schema.Array(Step),
  waits: Schema.Array(Wait),
  diagram: Schema.String
})

/** A page of executions. */
export const Page = Schema.Struct({ executions: Schema.Array(Listed), next: Schema.NullOr(Schema.String) })

/** The execution that goes on. */
const Continued = Schema.Struct({ id: Schema.String })

const SignalValue = Schema.Json.check(
  Schema.makeFilter((value) =>
    jsonBytes(value) <= maxResultBytes ? undefined : `Expected at most ${maxResultBytes} bytes of JSON`
  )
)

/** The token of the program. */
export class Authorization extends HttpApiMiddleware.Service<Authorization>()(
  "@signalbox/flows/management/Authorization",
  { security: { bearer: HttpApiSecurity.bearer }, error: UnauthenticatedResponse }
) {}

/** Turns input that does not decode into a 400 that names the field, and a bug into a 500 that says no more. */
export class Edge extends HttpApiMiddleware.Service<Edge>()("@signalbox/flows/management/Edge", {
  error: InvalidRequestResponse
}) {}

const params = { id: Schema.String }

const group = HttpApiGroup.make("executions")
  .add(
    HttpApiEndpoint.get("list", "/flow-executions", {
      query: {
        flow: Schema.optionalKey(Schema.String),
        version: Schema.optionalKey(Schema.FiniteFromString),
        state: Schema.optionalKey(Schema.Literals(executionStates)),
        limit: Schema.optionalKey(Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThan(0))),
        before: Schema.optionalKey(Schema.String)
      },
      success: Page,
      error: NotFoundResponse
    }),
    HttpApiEndpoint.get("inspect", "/flow-executions/:id", { params, success: Inspection, error: NotFoundResponse }),
    HttpApiEndpoint.post("cancel", "/flow-executions/:id/cancel", {
      params,
      success: Continued,
      error: NotFoundResponse
    }),
    HttpApiEndpoint.post("resume", "/flow-executions/:id/resume", {
      params,
      success: Continued,
      error: [NotFoundResponse, ConflictResponse]
    }),
    HttpApiEndpoint.post("retry", "/flow-executions/:id/retry", {
      params,
      payload: Schema.Struct({
        from: Schema.optionalKey(Schema.String),
        version: Schema.optionalKey(Schema.Finite)
      }),
      success: Continued,
      error: [NotFoundResponse, ConflictResponse]
    }),
    HttpApiEndpoint.post("signal", "/flow-executions/:id/signals", {
      params,
      payload: Schema.Struct({ path: Schema.String, value: SignalValue }),
      success: Continued,
      error: [NotFoundResponse, ConflictResponse]
    })
  )
  .middleware(Authorization)
  .middleware(Edge)

export const Api = HttpApi.make("flowManagement").add(group)
