/**
 * Which runner of a cluster runs what. Everything but the network between the runners is real, in virtual time.
 */
import { assert, it } from "@effect/vitest"
import * as EntityId from "effect/cluster/EntityId"
import { Sharding } from "effect/cluster/Sharding"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as Sqlite from "../src/internal/journal/Sqlite.ts"
import * as Cluster from "../src/internal/ownership/Cluster.ts"
import { partitionOf } from "../src/internal/model/Partitions.ts"
import { until } from "./support/Polling.ts"
import { engineOver, journalOf } from "./support/Processes.ts"
import { makeCluster } from "./support/Runners.ts"
import { throughTime } from "./support/Time.ts"

/** In which runner a step runs, and since when. */
class Here extends Context.Service<Here, { readonly note: (n: number) => Effect.Effect<void> }>()("test/Here") {}

const note = Flow.step("note", {
  input: Schema.Finite,
  success: Schema.Void,
  error: Schema.Never,
  run: (n) => Effect.flatMap(Here, (here) => Effect.andThen(here.note(n), Effect.sleep("1 second")))
})

const flowOf = <E>(name: string, run: (n: number) => Effect.Effect<void, E, Flow.FlowContext<Here>>) =>
  Flow.make(name, {
    version: 1,
    input: Schema.Finite,
    success: Schema.Void,
    error: Schema.Never,
    idempotencyKey: String,
    run: (n) => Effect.orDie(run(n))
  })
const busySteps = 40
const napping = flowOf("napping", (n) => Effect.andThen(Flow.sleep("nap", "1 minute"), note(n)))
const busy = flowOf("busy", (n) => Effect.forEach(Array.from({ length: busySteps }), () => note(n), { discard: true }))
const word = Flow.signal("word", Schema.Finite)
const awaiting = Flow.make("awaiting", {
  version: 1,
  input: Schema.Finite,
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: String,
  signals: [word],
  run: () => Effect.flatMap(word.receive(), note)
})
const flows = { napping, busy, awaiting }

interface Noted {
  readonly n: number
  readonly runner: string
  readonly at: number
}

const many = Array.from({ length: 24 }, (_, n) => n)

const cluster = Effect.gen(function* () {
  const journal = yield* journalOf(Sqlite.layerMemory)
  const shardingOf = makeCluster()
  const noted: Array<Noted> = []
  const start = Effect.fnUntraced(function* (
    runner: string,
    port: number | null,
    names: ReadonlyArray<keyof typeof flows>
  ) {
    const here = Layer.succeed(Here, {
      note: (n) => Effect.map(journal.now, (at) => void noted.push({ n, runner, at }))
    })
    const registered = names.map((name) => Layer.provide(Flow.layer(flows[name]), here))
    const sharding = shardingOf(port)
    let claims = 0
    const counted: typeof journal.claim = (...args) =>
      Effect.suspend(() => {
        claims++
        return journal.claim(...args)
      })
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(
      Layer.mergeAll(Layer.empty, ...registered).pipe(
        Layer.provideMerge(engineOver({ ...journal, claim: counted }, Cluster.layer)),
        Layer.provideMerge(sharding)
      ),
      scope
    )
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    // The first one takes its shards.
    yield* TestClock.adjust("5 seconds")
    return {
      context,
      claims: () => claims,
      has: (id: string) => {
        const sharding = Context.get(context, Sharding)
        return sharding.hasShardId(sharding.getShardId(EntityId.make(`signalbox flows ${partitionOf(id)}`), "default"))
      }
    }
  })
  return { journal, noted, start }
})

it.effect("what wakes is run by the runner that has its shard", () =>
  Effect.gen(function* () {
    const { noted, start } = yield* cluster
    const one = yield* start("one", 1, ["napping"])
    const two = yield* start("two", 2, ["napping"])
    yield* TestClock.adjust("20 seconds")
    const ids = yield* Effect.forEach(many, (n) => Effect.provideContext(Flow.submit(napping, n), one.context))
    yield* TestClock.adjust("2 minutes")
    assert.lengthOf(noted, many.length)
    const expected = noted.map(({ n }) => (two.has(ids[n] ?? "") ? "two" : "one"))
    assert.deepStrictEqual(
      noted.map(({ runner }) => runner),
      expected
    )
    assert.deepStrictEqual(new Set(expected), new Set(["one", "two"]))
  }).pipe(Effect.scoped)
)

it.effect("a message to an execution makes only the runner of its shard poll", () =>
  Effect.gen(function* () {
    const { noted, start } = yield* cluster
    const one = yield* start("one", 1, ["awaiting"])
    const two = yield* start("two", 2, ["awaiting"])
    yield* TestClock.adjust("20 seconds")
    const ids = yield* Effect.forEach(many, (n) => Effect.provideContext(Flow.submit(awaiting, n), two.context))
    yield* TestClock.adjust("20 seconds")
    const before = two.claims()
    // No time passes until all have begun their step.
    const ofOne = many.filter((n) => one.has(ids[n] ?? ""))
    for (const n of ofOne) yield* Effect.provideContext(FlowExecutions.signal(ids[n] ?? "", "word", n), two.context)
    yield* until(Effect.sync(() => noted.length === ofOne.length))
    const after = two.claims()
    yield* TestClock.adjust("2 seconds")
    assert.isTrue(noted.every(({ runner }) => runner === "one"))
    assert.strictEqual(after, before)
    assert.isAbove(ofOne.length, 0)
  }).pipe(Effect.scoped)
)

it.effect("what the runner of a shard does not continue is continued by another one after about a second", () =>
  Effect.gen(function* () {
    const { journal, noted, start } = yield* cluster
    const one = yield* start("one", 1, ["napping"])
    yield* start("two", 2, [])
    yield* TestClock.adjust("20 seconds")
    yield* Effect.forEach(many, (n) => Effect.provideContext(Flow.submit(napping, n), one.context))
    const due = (yield* journal.now) + 60_000
    yield* TestClock.adjust("2 minutes")
    const delays = noted.map(({ at, runner }) => ({ runner, late: at - due >= 1_000, tooLate: at - due > 2_500 }))
    assert.lengthOf(delays, many.length)
    assert.isTrue(delays.every(({ runner, tooLate }) => runner === "one" && !tooLate))
    assert.isTrue(delays.some(({ late }) => late) && delays.some(({ late }) => !late))
  }).pipe(Effect.scoped)
)

it.effect("a client of the cluster, which has no shards, runs what is submitted to it", () =>
  Effect.gen(function* () {
    const { noted, start } = yield* cluster
    const client = yield* start("client", null, ["napping"])
    yield* Effect.forEach(many, (n) => Effect.provideContext(Flow.submit(napping, n), client.context))
    yield* TestClock.adjust("2 minutes")
    assert.lengthOf(noted, many.length)
  }).pipe(Effect.scoped)
)

it.effect("a runner that joins gets the executions of its shards, and no step is interrupted", () =>
  Effect.gen(function* () {
    const { noted, start } = yield* cluster
    const one = yield* start("one", 1, ["busy"])
    const ids = yield* Effect.forEach(many, (n) => Effect.provideContext(Flow.submit(busy, n), one.context))
    yield* TestClock.adjust("5 seconds")
    const two = yield* start("two", 2, ["busy"])
    yield* throughTime(Effect.forEach(many, (n) => Effect.provideContext(Flow.execute(busy, n), one.context)))
    for (const n of many) {
      const own = noted.filter((one) => one.n === n)
      assert.lengthOf(own, busySteps)
      assert.strictEqual(own.at(-1)?.runner, two.has(ids[n] ?? "") ? "two" : "one")
    }
    assert.deepStrictEqual(new Set(noted.slice(-many.length).map(({ runner }) => runner)), new Set(["one", "two"]))
  }).pipe(Effect.scoped)
)
