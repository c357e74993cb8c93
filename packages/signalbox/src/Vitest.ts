/**
 * A control room for tests without Effect: what `signalbox/Testing` is, with promises, as a fixture of vitest or by hand.
 */
import { type Client, connect } from "@signalbox/api/promise"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import type { Robot } from "@signalbox/worker/Robot"
import type * as Task from "@signalbox/worker/Task"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as TestClock from "effect/testing/TestClock"
import { layer, type Options as TestingOptions, type ReceivedWebhook, Testing } from "./Testing.ts"

export type { ReceivedWebhook } from "./Testing.ts"

export interface Options extends TestingOptions<Task.Task<Task.PayloadSchema, Task.PayloadSchema, Robot>> {
  /** Whether time starts at 1970 and passes only when the test advances it; default true. False: the system clock. */
  readonly virtualTime?: boolean
}

/** A control room in memory, with workers for its tasks. */
export interface TestRoom extends AsyncDisposable {
  /** The client of the room: see `@signalbox/api/promise`. */
  readonly client: Client
  /** The connection of `client`, for flows whose steps use it: `openFlows({ memory: true, flows, layer: room.layer })`. */
  readonly layer: Layer.Layer<ControlRoom>
  /** Returns the time of the room. */
  readonly now: () => Date
  /** Waits until everything that can happen without time passing has happened. */
  readonly settle: () => Promise<void>
  /** Advances time, with everything that happens in it, and settles. */
  readonly advance: (duration: Duration.Input) => Promise<void>
  /** Advances time to an instant; rejects when it is in the past. */
  readonly advanceTo: (instant: DateTime.DateTime.Input) => Promise<void>
  /**
   * Calls a function that waits for time to pass, such as `client.processRuns.awaitEnd(run)`, and advances time until its
   * promise settles; rejects when it has not after `limit`, by default 1 day.
   */
  readonly elapse: <A>(wait: () => PromiseLike<A>, options?: { readonly limit?: Duration.Input }) => Promise<A>
  /** Returns the deliveries to webhooks and callbacks so far, including repeated attempts. */
  readonly webhooks: () => Promise<ReadonlyArray<ReceivedWebhook>>
  readonly dispose: () => Promise<void>
}

/**
 * Starts a control room for a test. The caller disposes of it, such as by `await using`.
 *
 * ```ts
 * import { makeRoom } from "signalbox/vitest"
 *
 * await using room = await makeRoom({ tasks: [] })
 * await room.advance("10 days")
 * ```
 */
export const makeRoom = async (options: Options = {}): Promise<TestRoom> => {
  const { virtualTime = true, ...testing } = options
  const time = virtualTime ? TestClock.layer() : Layer.empty
  const runtime = ManagedRuntime.make(
    Layer.provideMerge(layer(testing), [time, Layer.succeed(References.MinimumLogLevel, "Warn")])
  )
  const context = await runtime.context()
  const room = await runtime.runPromise(
    Effect.gen(function* () {
      return { ...(yield* Testing), connection: yield* ControlRoom }
    })
  )
  const client = connect({
    baseUrl: room.origin,
    apiKey: Redacted.value(room.apiKey),
    workspaceId: room.workspaceId,
    // The client sleeps on the clock of the room, so that `elapse` knows what it waits for.
    connect: () => Layer.merge(Layer.succeed(ControlRoom, room.connection), Layer.succeedContext(room.clocks))
  })
  const run = Effect.runPromiseWith(context)
  const clock = Context.get(room.clocks, Clock.Clock)
  const dispose = async () => {
    await client.close()
    await runtime.dispose()
  }
  return {
    client,
    layer: Layer.succeed(ControlRoom, room.connection),
    now: () => new Date(clock.currentTimeMillisUnsafe()),
    settle: () => run(room.settle),
    advance: (duration) => run(room.advance(duration)),
    advanceTo: (instant) => run(room.advanceTo(instant)),
    elapse: (wait, { limit = "1 day" } = {}) =>
      run(
        room.elapse(
          Effect.promise(async () => wait()),
          limit
        )
      ),
    webhooks: () => run(room.webhooks),
    dispose,
    [Symbol.asyncDispose]: dispose
  }
}

/**
 * Creates a fixture for `test.extend` of vitest: each test that uses it has a separate control room.
 *
 * ```ts
 * import { defineTask } from "@signalbox/worker/Promises"
 * import { fixture } from "signalbox/vitest"
 * import { expect, test as base } from "vitest"
 *
 * const greet = defineTask({
 *   name: "greet",
 *   run: ({ payload }) => ({ greeting: `Hello, ${String(payload)}` })
 * })
 * const test = base.extend({ room: fixture({ tasks: [greet] }) })
 *
 * test("greets", async ({ room: { client, settle } }) => {
 *   const process = await client.processes.put({
 *     name: "greet",
 *     steps: [{ name: "greet", task: { name: "greet" } }]
 *   })
 *   const run = await client.processRuns.start(process.id, { payloads: ["Ada"] })
 *   await settle()
 *   expect(run.started && (await client.processRuns.get(run.id)).state).toBe(
 *     "completed"
 *   )
 * })
 * ```
 */
export const fixture =
  (options: Options = {}) =>
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern which other fixtures it asks for: none
  async ({}: object, use: (room: TestRoom) => Promise<void>): Promise<void> => {
    await using room = await makeRoom(options)
    await use(room)
  }
