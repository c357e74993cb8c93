import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios, seconds } = S

const word = Flow.signal("word", Schema.String)
const child = S.flow("child", (text) => Effect.map(say(text), (said) => `${said} done`), { signals: [word] })
const onlyChild = (flow: string) =>
  Effect.map(FlowExecutions.list({ flow }), ({ executions }) => {
    assert.strictEqual(executions.length, 1)
    return executions[0]?.id ?? ""
  })

scenarios("calls between flows", () => {
  scenario(
    "restate: ServiceToServiceCommunication regularCall",
    Effect.gen(function* () {
      const upper = S.flow("upper", (text) => Effect.succeed(text.toUpperCase()))
      const proxy = S.flow("proxy", () => Flow.call(upper, "ping"))
      assert.strictEqual(yield* program(Flow.layer(proxy), resultOf(proxy, "x")), "PING")
    })
  )

  scenario(
    "restate: ServiceToServiceCommunication oneWayCall",
    Effect.gen(function* () {
      const proxy = S.flow("proxy", () => Effect.as(Flow.start(child, "sent", { onParentEnd: "leave" }), "proxied"))
      const both = [Flow.layer(proxy), Flow.layer(child)]
      yield* program(both, Effect.andThen(resultOf(proxy, "x"), S.says("sent")))
      assert.deepStrictEqual(yield* Diary.read, ["sent"])
    })
  )

  for (const [name, body] of [
    [
      "oneWayCallWithIdempotencyKey",
      Effect.as(Flow.start(child, "once", { key: "key", onParentEnd: "leave" }), "proxied")
    ],
    [
      "callWithIdempotencyKey",
      Effect.flatMap(Flow.start(child, "once", { key: "key", onParentEnd: "leave" }), ({ result }) => result)
    ]
  ] as const) {
    scenario(
      `restate: ServiceToServiceCommunication ${name}`,
      Effect.gen(function* () {
        const proxy = S.flow("proxy", () => body)
        const thrice = Effect.gen(function* () {
          for (const text of ["a", "b", "c"]) yield* resultOf(proxy, text)
          return yield* resultOf(child, "key")
        })
        const both = [Flow.layer(proxy), Flow.layer(child)]
        // The input of who asks again is not used.
        assert.strictEqual(yield* program(both, thrice), "once done")
        assert.deepStrictEqual(yield* Diary.read, ["once"])
      })
    )
  }

  scenario(
    "restate: CallOrdering ordering",
    Effect.gen(function* () {
      const proxy = S.flow("proxy", () =>
        Effect.gen(function* () {
          for (const text of ["0", "1"]) yield* Effect.flatMap(Flow.start(child, text), ({ result }) => result)
          yield* Flow.call(child, "2")
          return "ordered"
        })
      )
      yield* program([Flow.layer(proxy), Flow.layer(child)], resultOf(proxy, "x"))
      assert.deepStrictEqual(yield* Diary.read, ["0", "1", "2"])
    })
  )

  scenario(
    "dbos: nested-workflow-oaoo",
    Effect.gen(function* () {
      const outer = S.flow("outer", (text) => Flow.call(child, text))
      const thrice = Effect.gen(function* () {
        return [yield* resultOf(outer, "x"), yield* resultOf(outer, "x"), yield* resultOf(outer, "x")]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(outer), thrice), ["x done", "x done", "x done"])
      assert.deepStrictEqual(yield* Diary.read, ["x"])
    })
  )

  for (const [place, before, after] of [
    ["first", [], ["b"]],
    ["middle", ["a"], ["b"]],
    ["last", ["a"], []]
  ] as const) {
    scenario(
      `dbos: test-call-child-workflow-${place}`,
      Effect.gen(function* () {
        const parent = S.flow("parent", () =>
          Effect.gen(function* () {
            for (const text of before) yield* say(text)
            yield* Effect.flatMap(Flow.start(child, "c"), ({ result }) => result)
            for (const text of after) yield* say(text)
            return "done"
          })
        )
        const lists = Effect.gen(function* () {
          yield* resultOf(parent, "x")
          const { id } = yield* Flow.handle(parent, "x")
          return (yield* FlowExecutions.steps(id)).map(({ path }) => path)
        })
        const paths = yield* program([Flow.layer(parent), Flow.layer(child)], lists)
        assert.deepStrictEqual(paths, [
          ...before.map(() => "say"),
          "child",
          "child/result",
          ...after.map(() => (before.length > 0 ? "say#2" : "say"))
        ])
      })
    )
  }

  scenario(
    "dbos: test-child-rerun",
    Effect.gen(function* () {
      const parent = S.flow("parent", () =>
        Effect.gen(function* () {
          const { result } = yield* Flow.start(child, "c", { key: "c" })
          yield* result
          return yield* S.flaky(2)
        })
      )
      const reruns = Effect.gen(function* () {
        yield* S.errorOf(parent, "x")
        const { retry } = yield* Flow.handle(parent, "x")
        yield* retry()
        return yield* resultOf(parent, "x")
      })
      assert.strictEqual(yield* program([Flow.layer(parent), Flow.layer(child)], reruns), 2)
      assert.deepStrictEqual(yield* Diary.read, ["c", "attempt", "attempt"])
    })
  )

  scenario(
    "dbos: test-parent-workflow-id",
    Effect.gen(function* () {
      const parent = S.flow("parent", () => Effect.flatMap(Flow.start(child, "c"), ({ result }) => result))
      const looks = Effect.gen(function* () {
        const id = yield* Flow.submit(parent, "x")
        yield* resultOf(parent, "x")
        return { id, parent: (yield* FlowExecutions.get(yield* onlyChild("child"))).parent }
      })
      const { id, parent: of } = yield* program([Flow.layer(parent), Flow.layer(child)], looks)
      assert.strictEqual(of, id)
    })
  )

  scenario(
    "dbos: child-workflow-recovery",
    Effect.gen(function* () {
      const long = S.flow("long", (text) => Effect.andThen(Flow.sleep("nap", seconds(20)), say(text)))
      const parent = S.flow("parent", () => Effect.flatMap(Flow.start(long, "c"), ({ result }) => result))
      const both = [Flow.layer(parent), Flow.layer(long)]
      const begins = Effect.gen(function* () {
        const id = yield* Flow.submit(parent, "x")
        yield* S.reaches(id, "waiting")
        yield* S.reaches(yield* onlyChild("long"), "waiting")
      })
      yield* program(both, begins)
      assert.strictEqual(yield* program(both, resultOf(parent, "x")), "c")
      assert.deepStrictEqual(yield* Diary.read, ["c"])
    })
  )

  scenario(
    "dbos: test_wait_all_inside_workflow",
    Effect.gen(function* () {
      const parent = S.flow("parent", () =>
        Flow.forEach("child", ["a", "b", "c"], { key: (text) => text, concurrency: 3 }, (text) =>
          Effect.flatMap(Flow.start(child, text), ({ result }) => result)
        )
      )
      const both = [Flow.layer(parent), Flow.layer(child)]
      assert.deepStrictEqual(yield* program(both, resultOf(parent, "x")), ["a done", "b done", "c done"])
    })
  )

  scenario(
    "dbos: test_wait_first",
    Effect.gen(function* () {
      const naps = S.flow("naps", (text) => Effect.as(Flow.sleep("nap", seconds(Number(text))), text))
      const started = (text: string) => Effect.flatMap(Flow.start(naps, text), ({ result }) => result)
      const parent = S.flow("parent", () => Flow.race("first", [started("60"), started("1"), started("90")]))
      assert.strictEqual(yield* program([Flow.layer(parent), Flow.layer(naps)], resultOf(parent, "x")), "1")
    })
  )
})
