import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import {
  adaptListeners,
  blobOf,
  bytesOfBlob,
  type Calling,
  execute,
  iterate,
  placeOf,
  standAt
} from "../src/Promised.ts"

const calling = (signal?: AbortSignal): Calling<never> => ({
  runtime: ManagedRuntime.make(Layer.empty),
  signal,
  rejection: (cause) => new Error("failed", { cause: Cause.squash(cause) })
})

const rejected = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail("it did not reject"),
    (error: unknown) => error
  )

const all = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = []
  for await (const item of items) found.push(item)
  return found
}

describe("a stack", () => {
  it("begins where the door was called", () => {
    const door = () => standAt(new RangeError("too much"), placeOf(door))
    const whereItIsCalled = () => door()
    const lines = whereItIsCalled().stack?.split("\n") ?? []
    assert.strictEqual(lines[0], "RangeError: too much")
    assert.include(lines[1], "whereItIsCalled")
  })
})

describe("a call", () => {
  it("rejects with what a failure becomes", async () => {
    const error = await rejected(execute(Effect.fail("no"), calling()))
    assert.strictEqual(error instanceof Error ? error.cause : undefined, "no")
  })

  it("is ended by its signal, with its reason", async () => {
    const controller = new AbortController()
    const call = execute(Effect.never, calling(controller.signal))
    controller.abort("enough")
    assert.strictEqual(await rejected(call), "enough")
    assert.strictEqual(await rejected(execute(Effect.succeed(1), calling(controller.signal))), "enough")
  })
})

describe("an iteration", () => {
  it("rejects with what a failure becomes", async () => {
    const stream = Stream.concat(Stream.succeed(1), Stream.fail("no"))
    assert.instanceOf(await rejected(all(iterate(stream, calling()))), Error)
  })

  it("that is left closes what is open", async () => {
    let closed = false
    const stream = Stream.ensuring(
      Stream.range(1, 1000),
      Effect.sync(() => void (closed = true))
    )
    for await (const item of iterate(stream, calling())) if (item === 2) break
    assert.isTrue(closed)
  })

  it("that waits is ended by its signal", async () => {
    const controller = new AbortController()
    const items = all(iterate(Stream.never, calling(controller.signal)))
    setTimeout(() => controller.abort("enough"), 1)
    assert.strictEqual(await rejected(items), "enough")
  })
})

describe("what programs give", () => {
  it("functions become effects, which die with what they throw", async () => {
    const thrown = new RangeError("full")
    const given = {
      onProgress: () => {
        throw thrown
      },
      other: 1
    }
    const { onProgress, other } = adaptListeners(given) as { onProgress: () => Effect.Effect<void>; other: number }
    assert.strictEqual(other, 1)
    assert.strictEqual(await rejected(Effect.runPromise(onProgress())), thrown)
  })

  it("blobs are read from any offset", async () => {
    const found = blobOf(new File(["hello"], "a.txt"))
    assert.strictEqual(found?.name, "a.txt")
    const bytes = await Effect.runPromise(Stream.mkUint8Array(bytesOfBlob(found?.blob ?? new Blob(), 2, String)))
    assert.strictEqual(new TextDecoder().decode(bytes), "llo")
    assert.isUndefined(blobOf(new Uint8Array()))
  })
})
