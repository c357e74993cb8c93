/**
 * What executions say of themselves, and requests to them, over HTTP, as a part of the management.
 */
import * as Schema from "effect/Schema"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { ConflictResponse, NotFoundResponse } from "@signalbox/api/contract/Responses"
import { Authorization, Edge, strict } from "./Middleware.ts"
import { longestWait, Time } from "./Wire.ts"

/** An item of a feed, or a value of a state. */
export const Item = Schema.Struct({
  cursor: Schema.Finite,
  name: Schema.String,
  kind: Schema.Literals(["state", "feed"]),
  value: Schema.Json,
  at: Time
})

/** The states of an execution, and the names of its feeds that have items. */
export const States = Schema.Struct({ states: Schema.Array(Item), feeds: Schema.Array(Schema.String) })

const Cursor = Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(0))
const page = {
  after: Schema.optionalKey(Cursor),
  limit: Schema.optionalKey(Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThan(0)))
}

const Wait = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThanOrEqualTo(longestWait))

/** What has become of a request. */
export const Answered = Schema.Struct({
  id: Schema.String,
  state: Schema.Literals(["answered", "refused", "abandoned", "pending"]),
  value: Schema.Json
})

const params = { id: Schema.String }
const one = "/flow-executions/:id"
const error = NotFoundResponse

const group = HttpApiGroup.make("states").add(
  HttpApiEndpoint.get("list", `${one}/states`, {
    params,
    success: States,
    error
  }),
  HttpApiEndpoint.get("feed", `${one}/feeds/:name`, {
    params: { ...params, name: Schema.String },
    query: page,
    success: Schema.Struct({ items: Schema.Array(Item) }),
    error
  }),
  HttpApiEndpoint.get("watch", `${one}/watch`, {
    params,
    /** `wait` is in seconds. */
    query: { ...page, wait: Schema.optionalKey(Schema.FiniteFromString.pipe(Schema.decodeTo(Wait))) },
    success: Schema.Struct({ items: Schema.Array(Item), cursor: Schema.Finite, ended: Schema.Boolean }),
    error
  }),
  HttpApiEndpoint.post("request", `${one}/requests`, {
    params,
    payload: Schema.Struct({
      request: Schema.String,
      input: Schema.Json,
      id: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(200))),
      /** In seconds. */
      wait: Schema.optionalKey(Wait)
    }),
    success: Answered,
    error: [error, ConflictResponse]
  })
)

export const Api = HttpApi.make("flowStates")
  .add(group.middleware(Authorization).middleware(Edge))
  .annotate(HttpApi.QueryParseOptions, strict)
  .annotate(HttpApi.PayloadParseOptions, strict)
