import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import { createServer } from "node:net"
import { expectTypeOf } from "vitest"
import * as Task from "../src/Task.ts"
import * as Worker from "../src/Worker.ts"

class A extends Context.Service<A, { readonly a: number }>()("test/A") {}
class B extends Context.Service<B, { readonly b: number }>()("test/B") {}

const json = { input: Schema.Json, output: Schema.Json }
const plain = Task.make("plain", { ...json, run: () => Effect.void })
const withA = Task.make("a", { ...json, run: () => Effect.map(A, ({ a }) => a) })
const withB = Task.make("b", { ...json, run: () => Effect.map(B, ({ b }) => b) })

/** An address at which nothing listens. */
const nowhere = Effect.callback<string>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(`http://127.0.0.1:${port}`)))
  })
})

const options = { origin: "http://127.0.0.1:1", linkToken: Redacted.make("token"), name: "w" }

describe("Worker", () => {
  it("requires the services of all its tasks", () => {
    const run = Worker.run({ ...options, tasks: [plain, withA, withB] })
    expectTypeOf<Effect.Services<typeof run>>().toEqualTypeOf<HttpClient.HttpClient | A | B>()
    const layer = Worker.layer({ ...options, tasks: [plain, withA] })
    expectTypeOf<Layer.Services<typeof layer>>().toEqualTypeOf<HttpClient.HttpClient | A>()
    assert.isTrue(Effect.isEffect(run) && Layer.isLayer(layer))
  })

  it.effect("refuses two tasks of one name", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Worker.run({ ...options, tasks: [plain, plain] }))
      assert.isTrue(Exit.hasDies(exit))
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "have the same name")
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )

  it.live("waits for a service that is not there yet, and ends when interrupted", () =>
    Effect.gen(function* () {
      const origin = yield* nowhere
      const fiber = yield* Effect.forkChild(Worker.run({ ...options, origin, tasks: [plain] }))
      yield* Effect.sleep("1 second")
      assert.isUndefined(fiber.pollUnsafe())
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )
})
