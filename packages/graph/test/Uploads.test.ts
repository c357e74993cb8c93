/**
 * Uploads against the sandbox, whatever goes wrong on the way (B10).
 */
import { assert, describe, it } from "@effect/vitest"
import type { Rule } from "@signalbox/graph-sandbox/Faults"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Downloads from "../src/Downloads.ts"
import * as Drive from "../src/Drive.ts"
import * as Drives from "../src/Drives.ts"
import { Graph } from "../src/Graph.ts"
import * as Uploads from "../src/Uploads.ts"
import * as QuickXorHash from "../src/QuickXorHash.ts"
import { connect, json, make } from "./support/Server.ts"
import { asked, askedOfFiles, faults, GraphSandbox, impatient, inSandbox, someBytes } from "./support/Sandbox.ts"

const unit = 327_680
const MiB = 1024 * 1024
const target = { path: "/Up/file #1%.bin" }
const upload = (bytes: Uploads.UploadSource, options: Uploads.UploadOptions = {}) =>
  Uploads.upload(Drive.me, target, bytes, { fragmentBytes: unit, ...options })

/** Fragments of one unit, so that few bytes are many of them. */
const large = someBytes(4 * MiB + 1)

const stored = Effect.map(Downloads.bytes(Drive.me, target), QuickXorHash.of)

const fragments = Effect.map(askedOfFiles, (all) => all.filter(({ method }) => method === "PUT"))
const ranges = Effect.map(fragments, (all) => all.map(({ headers }) => headers["content-range"]))

/** No request to the host of contents carried a token. */
const noTokenSent = Effect.map(askedOfFiles, (all) => {
  assert.isAbove(all.length, 0)
  for (const { authorization, method } of all) assert.isFalse(authorization, method)
})

describe("small and large", () => {
  const sizes: ReadonlyArray<readonly [name: string, size: number, fragments: number]> = [
    ["0 bytes", 0, 0],
    ["1 byte", 1, 0],
    ["4 MiB", 4 * MiB, 0],
    ["4 MiB and 1 byte", 4 * MiB + 1, 13],
    ["a multiple of the fragment", 20 * unit, 20]
  ]
  for (const [name, size, count] of sizes) {
    it.live(`${name}: ${count === 0 ? "one request" : `${count} fragments`}`, () =>
      inSandbox(
        Effect.gen(function* () {
          const bytes = someBytes(size)
          const item = yield* upload(bytes)
          assert.strictEqual(item.size, size)
          assert.strictEqual(item.name, "file #1%.bin")
          assert.strictEqual(yield* stored, QuickXorHash.of(bytes))
          assert.lengthOf(yield* fragments, count)
          if (count > 0) yield* noTokenSent
        })
      )
    )
  }

  it.live("a stream of known size is read once, and progress is told", () =>
    inSandbox(
      Effect.gen(function* () {
        let runs = 0
        const told: Array<number> = []
        const stream = Stream.suspend(() => {
          runs++
          return Stream.fromIterable(
            Array.from({ length: 17 }, (_, i) => large.subarray(i * 250_000, (i + 1) * 250_000))
          )
        })
        yield* upload(
          { size: large.length, stream },
          { onProgress: ({ sent, total }) => Effect.sync(() => told.push(sent / total)) }
        )
        assert.strictEqual(runs, 1)
        assert.strictEqual(yield* stored, QuickXorHash.of(large))
        assert.lengthOf(told, 13)
        assert.strictEqual(told.at(-1), 1)
        assert.deepStrictEqual(told, told.toSorted())
      })
    )
  )

  const full = () => {
    throw new RangeError("full")
  }
  for (const [how, onProgress] of [
    ["throws", full],
    ["dies", () => Effect.die(new RangeError("full"))]
  ] as ReadonlyArray<readonly [string, () => Effect.Effect<void>]>) {
    it.live(`it ends with what onProgress ${how}: nothing is sent again, and the session is cancelled`, () =>
      inSandbox(
        Effect.gen(function* () {
          const exit = yield* Effect.exit(upload(large, { onProgress }))
          assert.instanceOf(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, RangeError)
          assert.deepStrictEqual(
            (yield* askedOfFiles).map(({ method }) => method),
            ["PUT", "DELETE"]
          )
        })
      )
    )
  }

  it.live("of a small file it is called once, when it is stored", () =>
    inSandbox(
      Effect.gen(function* () {
        const told: Array<Uploads.Progress> = []
        yield* upload(someBytes(10), { onProgress: (progress) => Effect.sync(() => told.push(progress)) })
        assert.deepStrictEqual(told, [{ sent: 10, total: 10 }])
      })
    )
  )

  for (const [what, size] of [
    ["shorter", large.length + 1],
    ["longer", large.length]
  ] as const) {
    it.live(`a source that is ${what} than it says stores nothing`, () =>
      inSandbox(
        Effect.gen(function* () {
          const bytes = [large, new Uint8Array(size > large.length ? 0 : 1)]
          const error = yield* Effect.flip(upload({ size, stream: Stream.fromIterable(bytes) }))
          assert.strictEqual(error.reason._tag, "SourceFailed")
          assert.strictEqual((yield* Effect.flip(Drives.item(Drive.me, target))).reason._tag, "NotFound")
          // The session does not stay behind.
          assert.strictEqual((yield* askedOfFiles).at(-1)?.method, "DELETE")
        })
      )
    )
  }

  it.live("a source that fails says why", () =>
    inSandbox(
      Effect.gen(function* () {
        const error = yield* Effect.flip(upload({ size: 10, stream: Stream.fail(new Error("the disk is gone")) }))
        assert.include(error.message, "the disk is gone")
      })
    )
  )

  it.live("a fragment size that the service does not take is refused by name", () =>
    inSandbox(
      Effect.gen(function* () {
        for (const fragmentBytes of [0, 1000, 60 * MiB, Number.NaN]) {
          const error = yield* Effect.flip(upload(large, { fragmentBytes }))
          assert.include(error.message, "fragmentBytes")
        }
        assert.lengthOf(yield* asked, 0)
      })
    )
  )
})

describe("what is there already", () => {
  for (const bytes of [someBytes(10), large]) {
    it.live(`fail, rename and replace, ${bytes.length} bytes`, () =>
      inSandbox(
        Effect.gen(function* () {
          const first = yield* upload(someBytes(5))
          const error = yield* Effect.flip(upload(bytes, { conflict: "fail" }))
          assert.strictEqual(error.reason._tag, "NameAlreadyExists")
          const renamed = yield* upload(bytes, { conflict: "rename" })
          assert.notStrictEqual(renamed.name, first.name)
          const replaced = yield* upload(bytes)
          assert.strictEqual(replaced.id, first.id)
          const stale = yield* Effect.flip(upload(someBytes(6), { ifMatch: first.eTag ?? "" }))
          assert.strictEqual(stale.reason._tag, "PreconditionFailed")
        })
      )
    )
  }

  it.live("times are kept, also those of an empty file", () =>
    inSandbox(
      Effect.gen(function* () {
        const fileSystemInfo = { lastModifiedDateTime: "2020-02-02T02:02:02Z" }
        for (const size of [0, 10]) {
          const item = yield* upload(someBytes(size), { fileSystemInfo })
          assert.strictEqual(item.fileSystemInfo?.lastModifiedDateTime, "2020-02-02T02:02:02Z")
        }
      })
    )
  )

  it.live("a name that is taken while the bytes are on their way", () =>
    inSandbox(
      Effect.gen(function* () {
        const graph = yield* Graph
        const other = Effect.provideService(Uploads.upload(Drive.me, target, someBytes(3)), Graph, graph)
        const onProgress = ({ sent }: Uploads.Progress) => (sent === unit ? Effect.ignore(other) : Effect.void)
        const error = yield* Effect.flip(upload(large, { conflict: "fail", onProgress }))
        assert.strictEqual(error.reason._tag, "NameAlreadyExists")
        assert.strictEqual((yield* Drives.item(Drive.me, target)).size, 3)
      })
    )
  )
})

describe("B10: an upload comes to its end", () => {
  const put = { host: "files", method: "PUT" } as const
  const cases: Readonly<Record<string, ReadonlyArray<Rule>>> = {
    "when only a part of a fragment is taken": [{ fault: "partialRange", ...put, skip: 2, times: 1, accept: 100 }],
    "when holes are left": [{ fault: "partialRange", ...put, skip: 2, times: 2, accept: 1000, acceptEnd: 500 }],
    "when a connection drops before a fragment": [{ fault: "drop", ...put, every: 3 }],
    "when an answer is lost": [{ fault: "drop", ...put, when: "after", every: 3 }],
    "when the service stands still": [{ fault: "stall", ...put, every: 6 }],
    "when the last answer is lost": [{ fault: "drop", ...put, when: "after", skip: 12, times: 1 }],
    "when the service is down for a moment": [{ fault: "status", ...put, status: 503, every: 4 }],
    "when the service fails after all": [{ fault: "status", ...put, status: 500, every: 2 }],
    "when it is throttled": [{ fault: "throttle", ...put, every: 5, retryAfter: "decimal", seconds: 0.01 }],
    "when the session is lost": [{ fault: "loseSession", ...put, skip: 5, times: 1 }],
    "when the range is said to be there": [{ fault: "status", ...put, status: 416, skip: 4, times: 1 }],
    "when also the status is hard to get": [
      { fault: "drop", ...put, every: 4 },
      { fault: "status", host: "files", method: "GET", status: 502, every: 2 }
    ]
  }
  for (const [name, rules] of Object.entries(cases)) {
    it.live(name, () =>
      inSandbox(
        Effect.gen(function* () {
          yield* faults(...rules)
          // Who is impatient takes a busy machine for one that stands still.
          const isStill = rules.some(({ fault }) => fault === "stall")
          const item = yield* isStill ? impatient(upload(large)) : upload(large)
          assert.strictEqual(item.size, large.length)
          const met = (yield* askedOfFiles).flatMap((request) => request.faults)
          assert.isAbove(met.length, 0)
          yield* noTokenSent
          yield* faults()
          assert.strictEqual(yield* stored, QuickXorHash.of(large))
        })
      )
    )
  }

  it.live("a fragment is sent again only after the service was asked what it has", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* faults({ fault: "drop", when: "after", host: "files", method: "PUT", skip: 2, times: 1 })
        yield* upload(large)
        const sent = yield* ranges
        // It had arrived, so it is not sent twice.
        assert.strictEqual(new Set(sent).size, sent.length)
        assert.lengthOf(sent, 13)
      })
    )
  )

  it.live("when the last answer is lost, the bytes are not sent again", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* faults({ fault: "drop", when: "after", host: "files", method: "PUT", skip: 12, times: 1 })
        yield* upload(large, { conflict: "fail" })
        assert.lengthOf(yield* fragments, 13)
      })
    )
  )

  it.live("a small upload is sent again when the service stands still, and ends where that could store it twice", () =>
    inSandbox(
      Effect.gen(function* () {
        const put = { fault: "stall", host: "graph", method: "PUT" } as const
        yield* faults({ ...put, times: 1 })
        assert.strictEqual((yield* impatient(upload(someBytes(10)))).size, 10)
        assert.isAtLeast((yield* asked).filter(({ method }) => method === "PUT").length, 2)
        yield* faults(put)
        const error = yield* Effect.flip(impatient(upload(someBytes(11), { conflict: "fail" })))
        assert.strictEqual(error.reason._tag, "Timeout")
        assert.lengthOf(
          (yield* asked).filter(({ method }) => method === "PUT"),
          1
        )
      })
    )
  )

  it.live("the lost answer to a small upload is looked for, not repeated", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* faults({ fault: "drop", when: "after", host: "graph", method: "PUT", times: 1 })
        const item = yield* upload(someBytes(100), { conflict: "fail" })
        assert.strictEqual(item.size, 100)
        assert.lengthOf(
          (yield* asked).filter(({ method }) => method === "PUT"),
          1
        )
      })
    )
  )

  it.live("a service that loses every session ends it", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* faults({ fault: "loseSession", host: "files", method: "PUT" })
        const error = yield* Effect.flip(upload(large))
        assert.strictEqual(error.reason._tag, "UploadLost")
        assert.lengthOf(
          (yield* asked).filter(({ url }) => url.includes("createUploadSession")),
          3
        )
      })
    )
  )

  it.live("a service that is down for good ends it, and the session is cancelled", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* faults({ fault: "status", status: 500, host: "files", method: "PUT", skip: 3 })
        const error = yield* Effect.flip(upload(large))
        assert.strictEqual(error.reason._tag, "Unavailable")
        assert.strictEqual((yield* askedOfFiles).at(-1)?.method, "DELETE")
        assert.strictEqual((yield* askedOfFiles).at(-1)?.status, 204)
      })
    )
  )
})

describe("interrupted", () => {
  /** Interrupts an upload once it has sent three fragments. */
  const interrupted = (options: Uploads.UploadOptions) =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const onProgress = ({ sent }: Uploads.Progress) =>
        sent >= 3 * unit ? Effect.andThen(Deferred.succeed(started, undefined), Effect.never) : Effect.void
      const fiber = yield* Effect.forkChild(upload(large, { ...options, onProgress }))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
    })

  it.live("it is cancelled", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* interrupted({})
        const last = (yield* askedOfFiles).at(-1)
        assert.strictEqual(last?.method, "DELETE")
        assert.strictEqual(last?.status, 204)
        yield* noTokenSent
      })
    )
  )

  it.live("what was kept is resumed, also by another process: only what is missing is sent", () =>
    inSandbox(
      Effect.gen(function* () {
        const kept: Array<string> = []
        const keep = (state: Uploads.UploadState) =>
          Effect.sync(() => kept.push(JSON.stringify(Schema.encodeSync(Uploads.UploadState)(state))))
        yield* interrupted({ keep })
        assert.lengthOf(kept, 1)
        assert.notStrictEqual((yield* askedOfFiles).at(-1)?.method, "DELETE")
        yield* faults()
        const resume = Schema.decodeUnknownSync(Schema.fromJsonString(Uploads.UploadState))(kept[0])
        const wrong = yield* Effect.flip(upload(large.subarray(1), { resume }))
        assert.strictEqual(wrong.reason._tag, "SourceFailed")
        yield* upload({ size: large.length, stream: Stream.succeed(large) }, { resume })
        assert.lengthOf(yield* fragments, 10)
        assert.strictEqual(yield* stored, QuickXorHash.of(large))
        // It is over: to resume it again is to upload it again.
        const again = yield* upload(large, { resume })
        assert.strictEqual(again.size, large.length)
        yield* noTokenSent
      })
    )
  )

  it.live("bytes that are not those of the beginning are found out", () =>
    inSandbox(
      Effect.gen(function* () {
        const kept: Array<Uploads.UploadState> = []
        yield* interrupted({ keep: (state) => Effect.sync(() => kept.push(state)) })
        const other = Uint8Array.from(large)
        other[5] = (other[5] ?? 0) ^ 1
        const [resume] = kept
        const error = yield* Effect.flip(upload(other, resume === undefined ? {} : { resume }))
        assert.strictEqual(error.reason._tag, "Mismatch")
        assert.strictEqual((yield* upload(other, { verify: false })).size, other.length)
      })
    )
  )

  it.live("what was kept can be cancelled, twice too", () =>
    inSandbox(
      Effect.gen(function* () {
        const kept: Array<Uploads.UploadState> = []
        yield* interrupted({ keep: (state) => Effect.sync(() => kept.push(state)) })
        for (const state of [...kept, ...kept]) yield* Uploads.cancel(state)
        assert.strictEqual((yield* askedOfFiles).at(-1)?.status, 404)
      })
    )
  )

  it.live("its state is a secret that shows nowhere by itself", () =>
    inSandbox(
      Effect.gen(function* () {
        const { filesOrigin } = yield* GraphSandbox
        const kept: Array<Uploads.UploadState> = []
        yield* interrupted({ keep: (state) => Effect.sync(() => kept.push(state)) })
        const [state] = kept
        assert.include(Redacted.value(state?.uploadUrl ?? Redacted.make("")), filesOrigin)
        assert.notInclude(JSON.stringify(kept) + String(state?.uploadUrl), filesOrigin)
      })
    )
  )
})

it.live("an upload address on the host of the API gets no token either, nor where it redirects to", () =>
  Effect.gen(function* () {
    const server = yield* make
    const stored = { id: "1", name: "a", size: large.length, file: {} }
    server.respond(({ method, url }) => {
      if (url.endsWith("/createUploadSession")) return json({ uploadUrl: `${server.origin}/v1.0/up?sig=1` })
      if (method !== "PUT") return json({ nextExpectedRanges: ["0-"] })
      return url.startsWith("/v1.0/up")
        ? { status: 307, headers: { location: `${server.origin}/v1.0/moved?sig=2` } }
        : json(stored, 201)
    })
    const item = yield* Effect.provide(upload(large, { fragmentBytes: 20 * unit }), connect(server))
    assert.strictEqual(item.id, "1")
    const seen = server.received().map(({ headers, url }) => [url.split("?")[0], headers.authorization !== undefined])
    assert.deepStrictEqual(seen, [
      ["/v1.0/me/drive/root:/Up/file%20%231%25.bin:/createUploadSession", true],
      ["/v1.0/up", false],
      ["/v1.0/moved", false]
    ])
  }).pipe(Effect.scoped)
)
