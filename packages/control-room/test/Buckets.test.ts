/** What only a bucket has: signatures, parts, and a network that fails. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { type S3Fault, type S3Request, type S3Server, signatureOf, startS3 } from "@signalbox/testkit/S3Server"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as HttpClient from "effect/http/HttpClient"
import { createHash, randomBytes } from "node:crypto"
import { BlobStore } from "../src/BlobStore.ts"
import * as S3BlobStore from "../src/internal/blobs/S3BlobStore.ts"
import { S3Policy } from "../src/internal/blobs/S3Client.ts"
import type { S3Options } from "../src/Options.ts"
import { optionsOf, s3Server } from "./support/Bucket.ts"

/** As that of the service, with pauses for a test. */
const quick = Layer.succeed(S3Policy, {
  attempts: 6,
  baseMillis: 1,
  capMillis: 5,
  maxRetryAfterMillis: 10,
  attemptTimeoutMillis: 5000,
  totalTimeoutMillis: 5000,
  idleTimeoutMillis: 150
})

const onServer = <A, E>(
  use: (server: S3Server) => Effect.Effect<A, E, BlobStore>,
  change: (options: S3Options) => S3Options = (options) => options
) =>
  Effect.gen(function* () {
    const server = yield* s3Server
    const store = S3BlobStore.layer(change(optionsOf(server)), Duration.hours(1))
    return yield* Effect.provide(use(server), store.pipe(Layer.provide(quick), Layer.provide(NodeServices.layer)))
  }).pipe(Effect.scoped)

const part = 5 * 1024 * 1024
const large = randomBytes(2 * part + 5)
const small = randomBytes(1000)
const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const write = (bytes: Uint8Array) =>
  Effect.scoped(
    Effect.gen(function* () {
      const staged = yield* (yield* BlobStore).stage(Stream.succeed(bytes))
      return yield* staged.commit
    })
  )

const readAll = Effect.fnUntraced(function* (blob: string) {
  return Buffer.concat(yield* Stream.runCollect(yield* (yield* BlobStore).read(blob)))
})

/** Each request that it is meant for fails this many times. */
const failing = (times: number, fault: S3Fault, of: (request: S3Request) => boolean = () => true) => {
  const seen = new Map<string, number>()
  return (request: S3Request) => {
    const what = `${request.method} ${request.key} ${request.query}`
    const before = seen.get(what) ?? 0
    seen.set(what, before + 1)
    return before < times && of(request) ? fault : null
  }
}

const until = (condition: () => boolean) => Effect.repeat(Effect.sleep("5 millis"), { until: () => condition() })

/** The error of the bucket in a failure, which requests turn into a response. */
const bucketErrorOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(Effect.sandbox(effect)), (cause) => {
    const error = Cause.squash(cause)
    return error instanceof Error && "kind" in error
      ? { kind: error.kind, message: error.message }
      : assert.fail(String(error))
  })

describe("the signatures that the test server checks", () => {
  const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
  const headers = {
    host: "examplebucket.s3.amazonaws.com",
    range: "bytes=0-9",
    "x-amz-content-sha256": emptyHash,
    "x-amz-date": "20130524T000000Z"
  }
  const known: ReadonlyArray<readonly [string, ReadonlyArray<string>, string]> = [
    [
      "/test.txt",
      ["host", "range", "x-amz-content-sha256", "x-amz-date"],
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    ],
    [
      "/?max-keys=2&prefix=J",
      ["host", "x-amz-content-sha256", "x-amz-date"],
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    ]
  ]

  it("are those of the examples of AWS", () => {
    for (const [path, signedHeaders, signature] of known) {
      const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
      const scope = "20130524/us-east-1/s3/aws4_request"
      assert.strictEqual(signatureOf({ method: "GET", path, headers, signedHeaders }, secret, scope), signature)
    }
  })
})

describe("a bucket", () => {
  it.live("gets an upload in parts of bounded size, and what fits in one part as one object", () =>
    onServer((server) =>
      Effect.gen(function* () {
        yield* write(small)
        assert.deepStrictEqual(
          server.requests.map(({ method }) => method),
          ["PUT"]
        )
        server.requests.length = 0
        yield* write(large)
        const sizes = server.requests
          .filter(({ query }) => query.has("partNumber"))
          .map(({ headers }) => Number(headers["content-length"]))
        assert.deepStrictEqual(sizes.toSorted(), [5, part, part].toSorted())
      })
    )
  )

  const faults: ReadonlyArray<readonly [string, S3Fault]> = [
    ["asks for slower requests", { status: 503, code: "SlowDown" }],
    ["fails", { status: 500, code: "InternalError" }],
    ["cuts connections", "cut"],
    ["cuts connections after it did what was asked", "cut after effect"]
  ]
  for (const [what, fault] of faults) {
    it.live(`that ${what} twice each time still gets every byte once`, () =>
      onServer((server) =>
        Effect.gen(function* () {
          server.fault = failing(2, fault)
          for (const bytes of [small, large]) {
            const blob = yield* write(bytes)
            assert.strictEqual(digest(yield* readAll(blob)), digest(bytes))
          }
          assert.strictEqual(server.objects.size, 2)
        })
      )
    )
  }

  it.live("that stops responding does not hold an upload up for longer than its idle limit", () =>
    onServer((server) =>
      Effect.gen(function* () {
        server.fault = failing(1, "silence")
        assert.strictEqual(digest(yield* readAll(yield* write(small))), digest(small))
      })
    )
  )

  it.live("that cuts downloads off has them continued where they were", () =>
    onServer((server) =>
      Effect.gen(function* () {
        const blob = yield* write(large)
        server.fault = ({ method }) => (method === "GET" ? { cutAfterBytes: 4_000_000 } : null)
        const read = yield* readAll(blob)
        assert.strictEqual(digest(read), digest(large))
        const ranges = server.requests.filter(({ method }) => method === "GET").map(({ headers }) => headers["range"])
        assert.isUndefined(ranges[0])
        assert.lengthOf(ranges, 3)
        assert.isTrue(ranges.slice(1).every((range) => /^bytes=\d+-$/.test(range ?? "")))
      })
    )
  )

  it.live("that is away fails the upload with an error that may be retried, and has nothing of it afterwards", () =>
    onServer((server) =>
      Effect.gen(function* () {
        const { probe } = yield* BlobStore
        let away = false
        server.fault = ({ query }) => {
          away ||= query.get("partNumber") === "2"
          return away ? { status: 503, code: "ServiceUnavailable" } : null
        }
        assert.deepInclude(yield* bucketErrorOf(write(large)), { kind: "bucket" })
        assert.deepInclude(yield* bucketErrorOf(probe), { kind: "bucket" })
        yield* until(() => server.requests.filter(({ method }) => method === "DELETE").length === 2)
        server.fault = () => null
        yield* probe
        // What could not be aborted while it was away is left to the sweep.
        server.age(2 * 3_600_000)
        const { sweep } = yield* BlobStore
        assert.strictEqual(yield* sweep(() => Effect.succeed(new Set())), 1)
        assert.strictEqual(server.uploads.size, 0)
        assert.deepStrictEqual([...server.objects.keys()], ["probe"])
      })
    )
  )

  it.live("keeps no part of an upload that was cut off or refused", () =>
    onServer((server) =>
      Effect.gen(function* () {
        const { stage } = yield* BlobStore
        const cut = Stream.concat(Stream.succeed(large), Stream.fail("cut off" as const))
        assert.strictEqual(yield* Effect.flip(Effect.scoped(stage(cut))), "cut off")
        yield* until(() => server.uploads.size === 0)
        // The response to its completion is lost each time, so nobody knows that it is complete.
        server.fault = ({ method, query }) =>
          method !== "DELETE" && (method === "HEAD" || (method === "POST" && query.has("uploadId")))
            ? "cut after effect"
            : null
        assert.deepInclude(yield* bucketErrorOf(write(large)), { kind: "bucket" })
        yield* until(() => server.objects.size === 0 && server.uploads.size === 0)
      })
    )
  )

  it.live("sweeps unfinished uploads and blobs over many pages, and no object of others", () =>
    onServer(
      (server) =>
        Effect.gen(function* () {
          const { names, stage, sweep } = yield* BlobStore
          server.pageSize = 2
          const blobs = yield* Effect.forEach(Array.from({ length: 7 }), () => write(small))
          server.objects.set("other/object", { bytes: small, modified: 0 })
          server.objects.set(`room/${"x".repeat(36)}`, { bytes: small, modified: 0 })
          server.uploads.set("upload-x", { key: "other/upload", parts: new Map(), initiated: 0 })
          server.fault = ({ method, query }) =>
            method === "DELETE" && query.has("uploadId") ? { status: 503, code: "SlowDown" } : null
          yield* Effect.forEach(Array.from({ length: 3 }), () => Effect.scoped(stage(Stream.succeed(large))))
          const aborts = () => server.requests.filter(({ method }) => method === "DELETE").length
          yield* until(() => aborts() === 6)
          server.fault = () => null
          assert.deepStrictEqual((yield* Stream.runCollect(names)).flat().toSorted(), blobs.toSorted())
          const known = new Set(blobs.slice(0, 2))
          assert.strictEqual(yield* sweep(() => Effect.succeed(known)), 0)
          server.age(2 * 3_600_000)
          assert.strictEqual(yield* sweep(() => Effect.succeed(known)), 8)
          assert.strictEqual(server.objects.size, 4)
          assert.deepStrictEqual([...server.uploads.keys()], ["upload-x"])
        }),
      (options) => ({ ...options, prefix: "room/" })
    )
  )

  const refusals: ReadonlyArray<readonly [S3Fault, string]> = [
    [{ status: 403, code: "QuotaExceeded" }, "bucketFull"],
    [{ status: 507, code: "XMinioStorageFull" }, "bucketFull"],
    [{ status: 403, code: "AccessDenied" }, "bucketRefused"],
    [{ status: 301, code: "PermanentRedirect" }, "bucketRefused"],
    [{ status: 404, code: "NoSuchBucket" }, "bucketRefused"],
    [{ status: 503, code: "SlowDown" }, "bucket"]
  ]
  it.live("says whether it is full, refuses, or is away", () =>
    onServer((server) =>
      Effect.gen(function* () {
        const { read, sizeOf } = yield* BlobStore
        for (const [fault, kind] of refusals) {
          server.fault = () => fault
          assert.deepInclude(yield* bucketErrorOf(write(small)), { kind })
          // What is missing is something else: its owner would get a 404.
          assert.deepInclude(yield* bucketErrorOf(read(crypto.randomUUID())), { kind })
          if (kind !== "bucketFull" && kind !== "bucketRefused") {
            assert.deepInclude(yield* bucketErrorOf(sizeOf(crypto.randomUUID())), { kind })
          }
        }
      })
    )
  )

  it.live("gets temporary credentials, and tells none of them in errors and spans", () =>
    Effect.gen(function* () {
      const credentials = { accessKeyId: "ASIAKEY", secretAccessKey: "S3CR3T+/=", sessionToken: "T0KEN" }
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startS3({ credentials })),
        ({ close }) => Effect.promise(close)
      )
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const tried = (options: S3Options) =>
        bucketOutcome(options).pipe(
          Effect.provideService(Tracer.Tracer, tracer),
          Effect.provideService(HttpClient.TracerHeaderFilter, () => true),
          Effect.scoped
        )
      const bucketOutcome = (options: S3Options) =>
        Effect.provide(
          Effect.sandbox(write(small)),
          S3BlobStore.layer(options, Duration.zero).pipe(Layer.provide(quick), Layer.provide(NodeServices.layer))
        )
      const right = { ...optionsOf(server), sessionToken: Redacted.make("T0KEN") }
      yield* tried(right)
      const wrong = { ...right, secretAccessKey: Redacted.make("WR0NG") }
      const cause = yield* Effect.flip(tried(wrong))
      assert.match(Cause.pretty(cause), /403 SignatureDoesNotMatch/)
      const told = Cause.pretty(cause) + JSON.stringify(spans.map(({ attributes, name }) => [name, [...attributes]]))
      assert.include(told, "http.request.header.x-amz-date")
      for (const secret of ["S3CR3T", "WR0NG", "T0KEN", "ASIAKEY"]) assert.notInclude(told, secret)
    }).pipe(Effect.scoped)
  )
})
