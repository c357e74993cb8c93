/**
 * The schedules of flows over HTTP, as a part of the management.
 */
import * as Schema from "effect/Schema"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { NotFoundResponse } from "@signalbox/api/contract/Responses"
import { Definition } from "@signalbox/schedule/Definition"
import { states } from "../model/Execution.ts"
import * as Row from "../schedules/Row.ts"
import { Authorization, Edge, strict } from "./Middleware.ts"
import { Time } from "./Wire.ts"

/** A schedule with its progress. */
export const Schedule = Schema.Struct({
  name: Schema.String,
  flow: Schema.String,
  version: Schema.Finite,
  definition: Definition,
  setAt: Time,
  local: Schema.Boolean,
  paused: Schema.NullOr(Schema.Struct({ at: Time, by: Schema.String, note: Schema.String })),
  next: Schema.NullOr(Time),
  running: Schema.Array(Schema.Struct({ at: Time, execution: Schema.String, state: Schema.Literals(states) })),
  waiting: Schema.Array(Time),
  backfill: Schema.Array(Time),
  problem: Schema.NullOr(Schema.Struct({ since: Time, message: Schema.String })),
  recent: Schema.Array(Schema.Struct({ ...Row.Outcome.fields, at: Time }))
}).pipe(Schema.encodeKeys({ setAt: "set_at" }))

export const RunNow = Schema.Struct({
  at: Time,
  outcome: Schema.Literals(["begins", "waits", "skipped"]),
  why: Schema.NullOr(Schema.String)
})

const params = { name: Schema.String }
const one = "/flow-schedules/:name"
/** The schedule of the request. */
const success = Schema.Struct({ name: Schema.String })
const error = NotFoundResponse

const group = HttpApiGroup.make("schedules").add(
  HttpApiEndpoint.get("list", "/flow-schedules", { success: Schema.Struct({ schedules: Schema.Array(Schedule) }) }),
  HttpApiEndpoint.get("get", one, { params, success: Schedule, error }),
  HttpApiEndpoint.post("pause", `${one}/pause`, {
    params,
    payload: Schema.Struct({ note: Schema.String, by: Schema.optionalKey(Schema.String) }),
    success,
    error
  }),
  HttpApiEndpoint.post("resume", `${one}/resume`, { params, success, error }),
  HttpApiEndpoint.post("runNow", `${one}/run-now`, { params, success: RunNow, error }),
  HttpApiEndpoint.post("backfill", `${one}/backfill`, {
    params,
    payload: Schema.Struct({ from: Time, to: Time }),
    success: Schema.Struct({ asked: Schema.Finite }),
    error
  }),
  HttpApiEndpoint.delete("remove", one, { params, success, error })
)

export const Api = HttpApi.make("flowSchedules")
  .add(group.middleware(Authorization).middleware(Edge))
  .annotate(HttpApi.QueryParseOptions, strict)
  .annotate(HttpApi.PayloadParseOptions, strict)
