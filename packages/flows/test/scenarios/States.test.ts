import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import type { FlowEngine } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as FlowStates from "../../src/FlowStates.ts"
import * as S from "../support/Scenarios.ts"

const { program, resultOf, scenario, scenarios, seconds } = S

const counter = Flow.state("counter", Schema.Finite)
const status = Flow.state("status", Schema.String)
const inc = Flow.inbox("inc", Schema.Finite)
const states = [counter, status]
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
