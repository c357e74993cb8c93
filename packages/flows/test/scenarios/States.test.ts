import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Flow from "../../src/Flow.ts"
import type { FlowEngine } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as FlowStates from "../../src/FlowStates.ts"
import * as S from "../support/Scenarios.ts"

const { program, resultOf, scenario, scenarios, seconds } = S

const counter = Flow.state("counter", Schema.Finite)
const status = Flow.state("status", Schema.String)
const lines = Flow.feed("lines", Schema.String)
const others = Flow.feed("others", Schema.String)
const inc = Flow.inbox("inc", Schema.Finite)
const states = [counter, status, lines, others]
type Body = Effect.Effect<Schema.Json, typeof S.Failure.Type, Flow.FlowContext<S.Diary>>
const saying = (body: Body) => S.flow("saying", () => body, { states, signals: [inc] })

/** Adds what it is sent, until it is sent a 0. */
const counts = saying(
  Effect.gen(function* () {
    for (let sum = 0; ;) {
      yield* counter.set(sum)
      const by = yield* inc.receive()
      if (by === 0) return sum
      sum += by
    }
  })
)
const add = (id: string, by: number) => FlowExecutions.signal(id, "inc", by)
/** Its counter, from outside, once it is that. */
const shows = (value: number, flow = counts) =>
  S.eventually(
    Effect.flatMap(Flow.handle(flow, "x"), ({ state }) =>
      Effect.map(state(counter), (there) => Option.isSome(there) && there.value === value)
    )
  )

/** Says two lines, and naps between them. */
const talks = saying(
  Effect.gen(function* () {
    yield* lines.append("one")
    yield* Flow.sleep("nap", seconds(2))
    yield* lines.append("two")
    return "done"
  })
)
/** Says two lines, and waits between them. */
const holds = saying(
  Effect.gen(function* () {
    yield* lines.append("one")
    yield* inc.receive()
    yield* lines.append("two")
    return "done"
  })
)
const ends = (id: string) => Effect.andThen(add(id, 1), resultOf(holds, "x"))
const valuesOf = (items: ReadonlyArray<{ readonly value: unknown }>) => items.map(({ value }) => value)
const ended = (
  body: Body,
  read: (handle: Flow.Handle<Schema.Json, unknown>) => Effect.Effect<void, unknown, FlowEngine>
) =>
  Effect.gen(function* () {
    const flow = saying(body)
    const reads = Effect.andThen(resultOf(flow, "x"), Effect.flatMap(Flow.handle(flow, "x"), read))
    yield* program(Flow.layer(flow), reads)
  })

scenarios("queries and events", () => {
  scenario(
    "temporal: query/successful_query",
    Effect.gen(function* () {
      const queries = Effect.gen(function* () {
        const id = yield* S.waiting(counts)
        yield* shows(0)
        yield* add(id, 1)
        yield* shows(1)
        yield* add(id, 3)
        yield* shows(4)
        yield* add(id, 0)
        return yield* resultOf(counts, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(counts), queries), 4)
    })
  )

  scenario(
    "temporal: query/timeout_due_to_no_active_workers",
    Effect.gen(function* () {
      yield* program(Flow.layer(counts), Effect.andThen(S.waiting(counts), shows(0)))
      // It is answered where no process has the flow.
      yield* program([], shows(0))
    })
  )

  scenario(
    "temporal: query/unexpected_query_type_name",
    Effect.gen(function* () {
      const queries = Effect.gen(function* () {
        yield* S.waiting(counts)
        const { state } = yield* Flow.handle(counts, "x")
        return yield* state(Flow.state("nonexistent", Schema.String))
      })
      assert.deepStrictEqual(yield* program(Flow.layer(counts), queries), Option.none())
    })
  )

  scenario(
    "temporal: query/unexpected_return_type",
    Effect.gen(function* () {
      const queries = Effect.gen(function* () {
        yield* Effect.andThen(S.waiting(counts), shows(0))
        const { state } = yield* Flow.handle(counts, "x")
        return yield* Effect.exit(state(Flow.state("counter", Schema.String)))
      })
      const exit = yield* program(Flow.layer(counts), queries)
      assert.match(Exit.isFailure(exit) ? String(exit.cause) : "", /the state counter/)
    })
  )

  scenario(
    "dbos: simple-workflow-events-multiple",
    ended(Effect.as(Effect.andThen(counter.set(1), status.set("set")), "done"), ({ state }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual([yield* state(counter), yield* state(status)], [Option.some(1), Option.some("set")])
      })
    )
  )

  scenario(
    "dbos: get-event-timeout",
    Effect.gen(function* () {
      const silent = saying(Effect.as(Flow.sleep("day", seconds(36_000)), "done"))
      const waits = Effect.flatMap(S.waiting(silent), (id) => FlowStates.next(id, { wait: seconds(2) }))
      const page = yield* program(Flow.layer(silent), Effect.flatten(S.through(waits)))
      assert.deepStrictEqual(page, { items: [], cursor: 0, ended: false })
    })
  )

  scenario(
    "dbos: DBOSClient-getEvent-update-when-finished",
    ended(Effect.as(Effect.andThen(status.set("first"), status.set("second")), "done"), ({ state }) =>
      Effect.map(state(status), (there) => assert.deepStrictEqual(there, Option.some("second")))
    )
  )

  scenario(
    "dbos: test-get-all-events",
    ended(Effect.as(Effect.andThen(counter.set(1, { key: "a" }), counter.set(2, { key: "b" })), "done"), ({ id }) =>
      Effect.gen(function* () {
        const all = (yield* FlowStates.states(id)).map(({ name, value }) => [name, value])
        assert.deepStrictEqual(all, [
          ["counter[a]", 1],
          ["counter[b]", 2]
        ])
      })
    )
  )

  scenario(
    "dbos: concurrent-workflow-events",
    ended(
      Flow.forEach("each", ["a", "b", "c"], { key: (text) => text, concurrency: 3 }, (key) =>
        Effect.as(counter.set(key.charCodeAt(0), { key }), key)
      ),
      ({ id }) => Effect.map(FlowStates.states(id), (all) => assert.sameMembers(valuesOf(all), [97, 98, 99]))
    )
  )

  scenario(
    "restate: State proxyOneWayAdd",
    Effect.gen(function* () {
      const proxy = S.flow("proxy", () =>
        Effect.gen(function* () {
          const found = yield* Flow.find(counts, "x")
          for (const by of [1, 2, 3]) yield* found.signal(inc, by)
          return "sent"
        }).pipe(Effect.catchTag(["ExecutionNotFound", "ExecutionConflict"], () => Effect.succeed("not sent")))
      )
      const adds = Effect.andThen(S.waiting(counts), Effect.andThen(resultOf(proxy, "y"), shows(6)))
      yield* program([Flow.layer(counts), Flow.layer(proxy)], adds)
    })
  )

  scenario(
    "restate: StopRuntime startAndStopRuntimeRetainsTheState, in a state",
    Effect.gen(function* () {
      const adds = Effect.gen(function* () {
        const id = yield* S.waiting(counts)
        yield* add(id, 2)
        yield* shows(2)
        return id
      })
      const id = yield* program(Flow.layer(counts), adds)
      yield* program(Flow.layer(counts), Effect.andThen(add(id, 3), shows(5)))
    })
  )
})

scenarios("streams", () => {
  scenario(
    "dbos: basic-stream-write-read",
    ended(Effect.as(Effect.andThen(lines.append("one"), lines.append("two")), "done"), ({ feed }) =>
      Effect.map(feed(lines), (items) => assert.deepStrictEqual(valuesOf(items), ["one", "two"]))
    )
  )

  scenario(
    "dbos: stream-read-offset",
    ended(
      Effect.as(
        Effect.forEach(["a", "b", "c"], (text) => lines.append(text)),
        "done"
      ),
      ({ feed }) =>
        Effect.gen(function* () {
          const [first] = yield* feed(lines, { after: 0, limit: 1 })
          const rest = yield* feed(lines, { after: first?.cursor })
          assert.deepStrictEqual([first?.value, ...valuesOf(rest)], ["a", "b", "c"])
        })
    )
  )

  scenario(
    "dbos: multiple-keys",
    ended(Effect.as(Effect.andThen(lines.append("one"), others.append("other")), "done"), ({ feed, id }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual([yield* feed(lines), yield* feed(others)].map(valuesOf), [["one"], ["other"]])
        assert.deepStrictEqual(yield* FlowStates.feeds(id), ["lines", "others"])
      })
    )
  )

  scenario(
    "dbos: empty-stream",
    ended(Effect.succeed("done"), ({ feed, watch }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual([...(yield* feed(lines)), ...(yield* Stream.runCollect(watch()))], [])
      })
    )
  )

  scenario(
    "dbos: concurrent-write-read",
    Effect.gen(function* () {
      const reads = Effect.gen(function* () {
        yield* Flow.submit(talks, "x")
        const { watch } = yield* Flow.handle(talks, "x")
        const reader = yield* Effect.forkChild(Stream.runCollect(watch()))
        yield* resultOf(talks, "x")
        return valuesOf(yield* Fiber.join(reader))
      })
      assert.deepStrictEqual(yield* program(Flow.layer(talks), reads), ["one", "two"])
    })
  )

  scenario(
    "dbos: workflow-recovery, of a stream",
    Effect.gen(function* () {
      const id = yield* program(Flow.layer(holds), S.waiting(holds))
      const reads = Effect.andThen(ends(id), FlowStates.feed(id, "lines"))
      assert.deepStrictEqual(valuesOf(yield* program(Flow.layer(holds), reads)), ["one", "two"])
    })
  )

  scenario(
    "dbos: read-stream-offset-api, over a restart",
    Effect.gen(function* () {
      const begins = Effect.flatMap(S.waiting(holds), (id) =>
        Effect.map(FlowStates.next(id), (page) => ({ id, ...page }))
      )
      const { cursor, id, items } = yield* program(Flow.layer(holds), begins)
      const rest = Effect.gen(function* () {
        yield* ends(id)
        const { watch } = yield* Flow.handle(holds, "x")
        return yield* Stream.runCollect(watch({ after: cursor }))
      })
      const others = yield* program(Flow.layer(holds), rest)
      assert.deepStrictEqual([valuesOf(items), valuesOf(others)], [["one"], ["two"]])
    })
  )

  scenario(
    "dbos: read-stream-notices-cancellation",
    Effect.gen(function* () {
      const waits = saying(Effect.andThen(lines.append("one"), inc.receive()))
      const reads = Effect.gen(function* () {
        const id = yield* S.waiting(waits)
        const reader = yield* Effect.forkChild(Stream.runCollect(FlowStates.watch(id)))
        yield* FlowExecutions.cancel(id)
        return valuesOf(yield* Effect.flatten(S.through(Fiber.join(reader))))
      })
      assert.deepStrictEqual(yield* program(Flow.layer(waits), reads), ["one"])
    })
  )

  scenario(
    "dbos: read-stream-nonexistent-workflow-raises",
    Effect.gen(function* () {
      const error = yield* program([], Effect.flip(Stream.runDrain(FlowStates.watch("nobody"))))
      assert.strictEqual(error._tag, "ExecutionNotFound")
    })
  )

  scenario(
    "dbos: test-get-all-stream-entries",
    Effect.gen(function* () {
      const short = Flow.feed("short", Schema.Finite, { count: 2 })
      const flow = S.flow(
        "short",
        () =>
          Effect.as(
            Effect.forEach([1, 2, 3], (n) => short.append(n)),
            "done"
          ),
        {
          states: [short]
        }
      )
      const reads = Effect.gen(function* () {
        yield* resultOf(flow, "x")
        return yield* Effect.flatMap(Flow.handle(flow, "x"), ({ feed }) => feed(short, { after: 0 }))
      })
      // A feed keeps as many as it says.
      assert.deepStrictEqual(valuesOf(yield* program(Flow.layer(flow), reads)), [2, 3])
    })
  )
})
