/** The HTTP client over `fetch`, with uploads that browsers send too. */
import { runtimeOf } from "@signalbox/transport/UserAgent"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"

/** Browsers refuse a body that is a stream, or send one over HTTP/2 only; a blob they may have on disk. */
export const withWholeBodies = HttpClient.mapRequestEffect((request: HttpClientRequest.HttpClientRequest) => {
  const { body, headers } = request
  if (body._tag !== "Stream") return Effect.succeed(request)
  return Stream.runCollect(body.stream).pipe(
    Effect.mapBoth({
      onSuccess: (chunks) => {
        // A cast, since no source of an upload is shared memory, which a blob refuses.
        const blob = new Blob(chunks as Array<Uint8Array<ArrayBuffer>>)
        return HttpClientRequest.setBody(request, HttpBody.raw(blob, { contentType: headers["content-type"] }))
      },
      onFailure: (cause) =>
        new HttpClientError.HttpClientError({ reason: new HttpClientError.EncodeError({ request, cause }) })
    })
  )
})

/** Over `fetch`; runtimes that have a name send streams. */
export const layer: Layer.Layer<HttpClient.HttpClient> =
  runtimeOf(globalThis) === null
    ? Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, withWholeBodies)).pipe(
        Layer.provide(FetchHttpClient.layer)
      )
    : FetchHttpClient.layer
