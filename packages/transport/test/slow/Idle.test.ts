/** Transfers without progress, against real servers. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { IncomingMessage, ServerResponse } from "node:http"
import { IdleLimit } from "../../src/IdleLimit.ts"
import type { NoResponse } from "../../src/NoResponse.ts"
import { client, meaning, serve, serveHttp2 } from "../support/Servers.ts"

const MiB = 1024 * 1024
/** More than the buffers between two sockets hold. */
const large = new Uint8Array(32 * MiB)

/** Sends a request under an idle limit and returns the response text, or why it has none. */
const ask = (idleMillis: number, request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(HttpClient.execute(request), (response) => response.text).pipe(
    Effect.mapError(meaning(idleMillis)),
    Effect.provideService(IdleLimit, idleMillis),
    Effect.provide(Layer.orDie(client()))
  )

const put = (url: string, body: HttpBody.HttpBody) => HttpClientRequest.put(url, { body })

const streamed = (bytes: Uint8Array) =>
  HttpBody.stream(Stream.rechunk(Stream.succeed(bytes), 1), undefined, bytes.length)

/** What servers of both versions of HTTP hand to a listener. */
type Listener = (
  request: { readonly pause: () => unknown; readonly resume: () => unknown },
  response: {
    readonly writeHead: (status: number, headers: Readonly<Record<string, string>>) => unknown
    readonly write: (text: string) => unknown
  }
) => void

const half: Listener = (_, response) => {
  response.writeHead(200, { "content-length": "100" })
  response.write("half")
}
const readsNothing: Listener = (request) => void request.pause()
const readsAll: Listener = (request) => void request.resume()

const stalls: ReadonlyArray<readonly [string, Listener, HttpBody.HttpBody | null]> = [
  ["in the middle of the body that comes", half, null],
  ["before it answers", readsAll, null],
  ["in the middle of bytes that are sent", readsNothing, HttpBody.uint8Array(large)],
  ["in the middle of a stream that is sent", readsNothing, streamed(large)],
  ["after it has got a whole body", readsAll, HttpBody.uint8Array(new Uint8Array(MiB))]
]

describe("a server that stalls", () => {
  for (const [when, listener, body] of stalls) {
    const request = (url: string) => (body === null ? HttpClientRequest.get(url) : put(url, body))
    const expected: NoResponse = {
      _tag: "Timeout",
      acted: "maybe",
      afterMillis: 300,
      message: "no byte in either direction within 300 ms"
    }

    it.live(`${when}: the request fails when its idle limit is over`, () =>
      Effect.gen(function* () {
        const port = yield* serve((request, response) => listener(request, response))
        assert.deepStrictEqual(yield* Effect.flip(ask(300, request(`http://127.0.0.1:${port}`))), expected)
      }).pipe(Effect.scoped)
    )

    it.live(`${when}, over HTTP/2: so it does`, () =>
      Effect.gen(function* () {
        const port = yield* serveHttp2((request, response) => listener(request, response))
        assert.deepStrictEqual(yield* Effect.flip(ask(300, request(`https://localhost:${port}`))), expected)
      }).pipe(Effect.scoped)
    )
  }
})

/** Reads a body piece by piece, with a pause after each. */
const readsSlowly = (pauseMillis: number) => (request: IncomingMessage, response: ServerResponse) => {
  let size = 0
  request.on("data", (chunk: Buffer) => {
    size += chunk.length
    request.pause()
    setTimeout(() => request.resume(), pauseMillis)
  })
  request.on("end", () => response.end(String(size)))
}

describe("the limit does not count", () => {
  it.live("while a server takes bytes in memory slowly, however long all of them take", () =>
    Effect.gen(function* () {
      const port = yield* serve(readsSlowly(8))
      const size = yield* ask(2000, put(`http://127.0.0.1:${port}`, HttpBody.uint8Array(large)))
      assert.strictEqual(size, String(large.length))
    }).pipe(Effect.scoped)
  )

  it.live("while the source of a body is slow", () =>
    Effect.gen(function* () {
      const port = yield* serve(readsSlowly(0))
      const slow = Stream.make(new Uint8Array(5), new Uint8Array(5)).pipe(
        Stream.rechunk(1),
        Stream.tap(() => Effect.sleep("700 millis"))
      )
      assert.strictEqual(yield* ask(300, put(`http://127.0.0.1:${port}`, HttpBody.stream(slow, undefined, 10))), "10")
    }).pipe(Effect.scoped)
  )

  it.live("while the consumer of a body is slow", () =>
    Effect.gen(function* () {
      const port = yield* serve((_, response) => {
        response.end(Buffer.alloc(8 * MiB))
      })
      const received = yield* HttpClient.get(`http://127.0.0.1:${port}`).pipe(
        Effect.flatMap((response) => {
          let slept = false
          return Stream.runFoldEffect(
            response.stream,
            () => 0,
            (sum, chunk) => {
              const pause = slept ? Effect.void : Effect.sleep("1 second")
              slept = true
              return Effect.as(pause, sum + chunk.length)
            }
          )
        }),
        Effect.provideService(IdleLimit, 300),
        Effect.provide(Layer.orDie(client()))
      )
      assert.strictEqual(received, 8 * MiB)
    }).pipe(Effect.scoped)
  )
})

it.live("without a limit, a request waits", () =>
  Effect.gen(function* () {
    const port = yield* serve((_, response) => {
      setTimeout(() => response.end("late"), 1500)
    })
    const got = yield* HttpClient.get(`http://127.0.0.1:${port}`).pipe(
      Effect.flatMap((response) => response.text),
      Effect.provide(Layer.orDie(client()))
    )
    assert.strictEqual(got, "late")
  }).pipe(Effect.scoped)
)
