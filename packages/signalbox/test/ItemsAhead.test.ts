/**
 * Steps with a retry, whose items are begun while the results of those before are sent: with a whole control room and a real worker.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import { tasksOf } from "@signalbox/worker/ProcessTasks"
import * as Task from "@signalbox/worker/Task"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Embedded from "../src/Embedded.ts"
import * as Process from "../src/Process.ts"

const Number = Schema.Struct({ by: Schema.String, n: Schema.Finite })
type Input = Task.Item<typeof Number.Type>

/** What the task does with an item, by who sends it; each runs it as often as `ran` says. */
const does = new Map<string, (item: Input) => Effect.Effect<void, Task.ApplicationFailure>>()
const ran: Array<string> = []
const quick = Task.make("quick", {
  input: Number,
  output: Number,
  run: Effect.fnUntraced(function* (item) {
    ran.push(`${item.payload.by} ${item.payload.n}`)
    yield* does.get(item.payload.by)?.(item) ?? Effect.void
    return item.payload
  })
})
const numbers = Process.make("numbers", {
  steps: [Process.step(quick, { retry: { max_attempts: 3, delay_seconds: 0 } })]
})

const layer = Layer.unwrap(
  Effect.gen(function* () {
    const data = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    return Embedded.layer({ data, port: 0, tasks: tasksOf(numbers), processes: [numbers], rateLimit: null })
  })
).pipe(Layer.provideMerge(NodeServices.layer), Layer.provide(Logger.layer([])))

const payloads = (by: string, last: number) => Arr.range(1, last).map((n) => ({ by, n }))
const ranBy = (by: string) => ran.filter((one) => one.startsWith(`${by} `)).map((one) => +one.slice(by.length + 1))
const sorted = (numbers: ReadonlyArray<number>) => numbers.toSorted((a, b) => a - b)
const outputsOf = ({ outputs }: { readonly outputs: ReadonlyArray<{ readonly payload: { readonly n: number } }> }) =>
  sorted(outputs.map(({ payload }) => payload.n))
const itemsOf = (processRun: Parameters<typeof ProcessRuns.get>[0]) =>
  Stream.runCollect(WorkItems.stream({ processRun, includeData: true }))

const started = Effect.fnUntraced(function* (by: string, last: number) {
  const run = yield* Process.startRun(numbers, { payloads: payloads(by, last) })
  return run.started ? run.id : yield* Effect.die("not started")
})

withLayer(layer, { excludeTestServices: true, timeout: "1 minute" })("items ahead", (it) => {
  it.effect("run once each, in their order, with an output each", () =>
    Effect.gen(function* () {
      const run = yield* Process.run(numbers, payloads("plain", 300))
      assert.deepStrictEqual(ranBy("plain"), Arr.range(1, 300))
      assert.deepStrictEqual(outputsOf(run), Arr.range(1, 300))
    })
  )

  it.effect("that fail are retried, and the others are not", () =>
    Effect.gen(function* () {
      const failed = new Set<number>()
      does.set("fails", ({ payload: { n } }) =>
        n % 10 !== 0 || failed.has(n)
          ? Effect.void
          : Effect.andThen(
              Effect.sync(() => failed.add(n)),
              Effect.fail(new Task.ApplicationFailure({ code: "TEN", message: "not at first" }))
            )
      )
      const run = yield* Process.run(numbers, payloads("fails", 100))
      assert.deepStrictEqual(outputsOf(run), Arr.range(1, 100))
      assert.deepStrictEqual(sorted(ranBy("fails")), sorted([...Arr.range(1, 100), ...failed]))
      assert.strictEqual(failed.size, 10)
    })
  )

  it.effect("have the files and payloads that their task gives them", () =>
    Effect.gen(function* () {
      does.set("changes", (item) => {
        const file = { name: "n.txt", bytes: new TextEncoder().encode(`${item.payload.n}`) }
        if (item.payload.n % 7 !== 0) return Effect.void
        return Effect.orDie(Effect.andThen(item.attachFile(file), item.setPayload({ changed: item.payload.n })))
      })
      const run = yield* started("changes", 30)
      yield* ProcessRuns.awaitEnd(run)
      const changed = (yield* itemsOf(run)).filter(({ files = [] }) => files.length > 0)
      assert.deepStrictEqual(changed.map(({ payload }) => JSON.stringify(payload)).sort(), [
        '{"changed":14}',
        '{"changed":21}',
        '{"changed":28}',
        '{"changed":7}'
      ])
      assert.deepStrictEqual(sorted(ranBy("changes")), Arr.range(1, 30))
    })
  )

  it.effect("are not begun while their process is paused, and run once when it is resumed", () =>
    Effect.gen(function* () {
      const id = yield* Process.id(numbers)
      const open = yield* Latch.make(false)
      const waits = yield* Latch.make(false)
      does.set("pauses", ({ payload: { n } }) => (n === 40 ? Effect.andThen(waits.open, open.await) : Effect.void))
      const run = yield* started("pauses", 100)
      yield* waits.await
      yield* Processes.pause(id)
      const before = ranBy("pauses").length
      yield* open.open
      while ((yield* itemsOf(run)).some(({ state }) => state === "in_progress")) yield* Effect.sleep("20 millis")
      // Those that its worker was given before it heard of the pause.
      assert.isAtMost(ranBy("pauses").length - before, 20)
      yield* Processes.resume(id)
      yield* ProcessRuns.awaitEnd(run)
      assert.deepStrictEqual(sorted(ranBy("pauses")), Arr.range(1, 100))
    })
  )

  it.effect("that have ended before their run is stopped are done", () =>
    Effect.gen(function* () {
      const reached = yield* Latch.make(false)
      does.set("stops", ({ payload: { n } }) => (n === 50 ? Effect.andThen(reached.open, Effect.never) : Effect.void))
      const run = yield* started("stops", 100)
      yield* reached.await
      yield* ProcessRuns.stop(run, { terminate: true, reason: "enough" })
      yield* ProcessRuns.awaitEnd(run)
      const states = (yield* itemsOf(run)).map(({ exception, state }) => exception?.code ?? state)
      assert.deepStrictEqual(
        Arr.groupBy(states, (state) => state),
        {
          done: Arr.makeBy(49, () => "done"),
          TERMINATED: ["TERMINATED"],
          STOPPED: Arr.makeBy(50, () => "STOPPED")
        }
      )
    })
  )
})
