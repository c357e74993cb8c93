/** Uploads over the `fetch` of browsers. That a browser sends them is seen by `test:consumer`. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"
import { withWholeBodies } from "../src/internal/calls/FetchClient.ts"

/** Sends a stream, and returns what `fetch` was called with. */
const sent = (stream: Stream.Stream<Uint8Array, string>, contentType?: string) =>
  Effect.gen(function* () {
    const calls: Array<RequestInit> = []
    const fetch: typeof globalThis.fetch = async (_, init = {}) => {
      calls.push(init)
      return new Response()
    }
    const request = HttpClientRequest.post("http://room.test/form").pipe(
      HttpClientRequest.bodyStream(stream, { contentType, contentLength: 5 }),
      contentType === undefined ? HttpClientRequest.removeHeader("content-type") : (same) => same
    )
    const client = withWholeBodies(yield* HttpClient.HttpClient)
    const exit = yield* client
      .execute(request)
      .pipe(Effect.provideService(FetchHttpClient.Fetch, fetch), Effect.scoped, Effect.exit)
    return { calls, exit }
  }).pipe(Effect.provide(FetchHttpClient.layer))

const textOf = ({ body }: RequestInit) =>
  Effect.promise(async () => (body instanceof Blob ? body.text() : assert.fail("it is no blob")))
const bytes = (text: string) => new TextEncoder().encode(text)

describe("a stream in a browser", () => {
  it.effect("is sent as a blob, of the type of its request", () =>
    Effect.gen(function* () {
      const { calls } = yield* sent(Stream.make(bytes("he"), bytes("llo")), "multipart/form-data; boundary=b")
      assert.lengthOf(calls, 1)
      assert.strictEqual(yield* textOf(calls[0] ?? {}), "hello")
      assert.strictEqual(new Headers(calls[0]?.headers).get("content-type"), "multipart/form-data; boundary=b")
    })
  )

  it.effect("gets no type where its address was signed without one", () =>
    Effect.gen(function* () {
      const { calls } = yield* sent(Stream.make(bytes("hello")))
      assert.isFalse(new Headers(calls[0]?.headers).has("content-type"))
      assert.isTrue(calls[0]?.body instanceof Blob && calls[0].body.type === "")
    })
  )

  it.effect("is not sent when it fails", () =>
    Effect.gen(function* () {
      const { calls, exit } = yield* sent(Stream.concat(Stream.make(bytes("he")), Stream.fail("gone")), "text/plain")
      assert.lengthOf(calls, 0)
      assert.isTrue(exit._tag === "Failure")
    })
  )
})
