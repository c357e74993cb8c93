/**
 * What every request passes: delays, lost connections and cut bodies, and the record of it.
 */
import * as NodeHttpServerRequest from "@signalbox/platform/NodeHttpServerRequest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { Host, Rule } from "../../Faults.ts"
import { masked, rememberedHeaders, Traffic } from "./Traffic.ts"

/** The rules that the request at hand has met. */
export const Met = Context.Reference<ReadonlyArray<Rule>>("@signalbox/graph-sandbox/internal/Met", {
  defaultValue: () => []
})

/** The connection ends here and now, without an answer; what is returned goes nowhere. */
const hangUp = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.sync(() => {
    NodeHttpServerRequest.toServerResponse(request).destroy()
    return HttpServerResponse.empty()
  })

/** The connection ends when what was written so far is on its way. The rest of the body never comes. */
const breakOff = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.andThen(
    Effect.sync(() => NodeHttpServerRequest.toIncomingMessage(request).socket.destroySoon()),
    Effect.never
  )

/** Nothing happens until the client ends the connection, which is noticed only where its bytes are read. */
const standStill = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.callback<never>((resume) => {
    NodeHttpServerRequest.toIncomingMessage(request).resume()
    NodeHttpServerRequest.toServerResponse(request).once("close", () => resume(Effect.interrupt))
  })

const bytesOf = (response: HttpServerResponse.HttpServerResponse) => {
  const { body } = response
  if (body._tag === "Uint8Array") return { stream: Stream.succeed(body.body), length: body.contentLength }
  return body._tag === "Stream" ? { stream: Stream.orDie(body.stream), length: body.contentLength } : null
}

/** The first bytes of the body, as if all were to come; then this happens. */
const cutAfter = (response: HttpServerResponse.HttpServerResponse, bytes: number, happens: Effect.Effect<never>) => {
  const whole = bytesOf(response)
  if (whole === null || whole.length === undefined) return response
  let left = bytes
  const cut = whole.stream.pipe(
    Stream.map((chunk) => {
      const part = chunk.subarray(0, left)
      left -= part.length
      return part
    }),
    Stream.takeUntil(() => left <= 0),
    Stream.concat(Stream.fromEffect(happens))
  )
  return HttpServerResponse.stream(cut, {
    status: response.status,
    headers: response.headers,
    contentLength: whole.length
  })
}

const find = <F extends Rule["fault"]>(rules: ReadonlyArray<Rule>, fault: F) =>
  rules.find((rule): rule is Extract<Rule, { readonly fault: F }> => rule.fault === fault)

/** Wraps an app; `hostOf` says which host an address belongs to, or that it is none of the wire's business. */
export const edge =
  (hostOf: (url: string) => Host | null) =>
  <E, R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const host = hostOf(request.url)
      if (host === null) return yield* app
      const traffic = yield* Traffic
      const { headers, method, url } = request
      const at = yield* Clock.currentTimeMillis
      const rules = traffic.meet({ host, method, url })
      const record = (status: number) =>
        traffic.record({
          host,
          method,
          url: masked(url),
          status,
          authorization: headers["authorization"] !== undefined,
          hostHeader: headers["host"] ?? "",
          headers: rememberedHeaders(headers),
          batched: false,
          faults: rules.map(({ fault }) => fault),
          at
        })
      const drop = find(rules, "drop")
      if (drop !== undefined && drop.when !== "after") {
        record(0)
        return yield* hangUp(request)
      }
      const stall = find(rules, "stall")
      if (stall !== undefined && stall.bytes === undefined) {
        record(0)
        return yield* standStill(request)
      }
      const delay = find(rules, "delay")
      if (delay !== undefined) yield* Effect.sleep(delay.millis)
      const response = yield* Effect.provideService(app, Met, rules).pipe(
        Effect.catchCause((cause) => {
          if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
          const error = Cause.squash(cause)
          // The address cannot even be decoded: every other one has a route.
          if (HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound") {
            return Effect.succeed(HttpServerResponse.empty({ status: 404 }))
          }
          return Effect.as(
            Effect.logError(`${method} ${masked(url)}`, cause),
            HttpServerResponse.empty({ status: 500 })
          )
        })
      )
      record(drop === undefined ? response.status : 0)
      if (drop !== undefined) return yield* hangUp(request)
      if (stall?.bytes !== undefined) return cutAfter(response, stall.bytes, standStill(request))
      const cut = find(rules, "truncate")
      return cut === undefined ? response : cutAfter(response, cut.bytes, breakOff(request))
    })
