/** Headers that are known before the response exists. The edge sets them on whatever the response becomes. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

export const ResponseHeaders = Context.Reference<Record<string, string>>(
  "@signalbox/control-room/edge/ResponseHeaders",
  {
    // Outside a request they are not read.
    defaultValue: () => ({})
  }
)

/** Completes a response that nothing else has yet: its headers are changed in place, where the edge would copy them. */
export const complete = (
  response: HttpServerResponse.HttpServerResponse,
  headers: Record<string, string>
): HttpServerResponse.HttpServerResponse => {
  Object.assign(response.headers, headers)
  return response
}

/** The response of an endpoint whose result is JSON text already. */
export const sendJson = (text: string): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(ResponseHeaders, (headers) =>
    complete(HttpServerResponse.text(text, { contentType: "application/json" }), headers)
  )
