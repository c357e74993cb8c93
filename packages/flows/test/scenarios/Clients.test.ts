import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Flow from "../../src/Flow.ts"
import { FlowClient } from "../../src/FlowClient.ts"
import { FlowManagementClient } from "../../src/FlowManagementClient.ts"
import { clients } from "../support/RemoteScenarios.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, say, scenario, scenarios, seconds } = S

const word = Flow.signal("word", Schema.String)
const box = Flow.inbox("box", Schema.String)
const ask = Flow.request("ask", { input: Schema.String, success: Schema.String })
const status = Flow.state("status", Schema.String)
const lines = Flow.feed("lines", Schema.String)

/** What the client has: no body. */
const greeting = Flow.define("greeting", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: S.Refused,
  idempotencyKey: (text) => text,
  signals: [word, box, ask],
  states: [status, lines]
})
const of = (run: (text: string) => Effect.Effect<string, S.Refused, Flow.FlowContext<S.Diary>>) =>
  Flow.layer(Flow.implement(greeting, run))
const greets = of((text) => say(`hello ${text}`))
const waits = of(() => Effect.andThen(status.set("begun"), word.receive()))
const talks = of(
  Effect.fnUntraced(function* () {
    yield* Effect.andThen(status.set("begun"), lines.append("one"))
    yield* Flow.sleep("nap", seconds(2))
    yield* Effect.andThen(status.set("ended"), lines.append("two"))
    return "done"
  })
)

/** A client, and the program that has the body. */
const remote = <A, E, R>(
  body: typeof greets,
  effect: Effect.Effect<A, E, R>,
  grant: Parameters<typeof clients>[0] = {}
) => {
  const { answered, layer } = clients(grant)
  return program(body, Effect.flatten(S.through(Effect.provide(S.client(effect), layer), answered)))
}

const handle = Effect.flatMap(FlowClient, (flows) => flows.handle(greeting, "x"))
const begun = Effect.flatMap(FlowClient, (flows) => flows.submit(greeting, "x"))
const executed = Effect.flatMap(FlowClient, (flows) => flows.execute(greeting, "x"))

scenarios("clients of another program", () => {
  scenario(
    "dbos: DBOSClient-enqueue-and-get-result",
    Effect.gen(function* () {
      assert.strictEqual(yield* remote(greets, executed), "hello x")
    })
  )

  scenario(
    "dbos: DBOSClient-enqueue-and-get-result, of one that fails",
    Effect.gen(function* () {
      const fails = of((why) => S.refuse(why))
      assert.deepStrictEqual(yield* remote(fails, Effect.flip(executed)), new S.Refused({ why: "x" }))
    })
  )

  scenario(
    "dbos: DBOSClient-enqueue-idempotent, over HTTP",
    Effect.gen(function* () {
      const twice = Effect.gen(function* () {
        const [first, second] = [yield* begun, yield* begun]
        yield* executed
        return first === second
      })
      assert.isTrue(yield* remote(greets, twice))
      assert.deepStrictEqual(yield* Diary.read, ["hello x"])
    })
  )

  scenario(
    "dbos: DBOSClient-retrieve-workflow",
    Effect.gen(function* () {
      const retrieves = Effect.gen(function* () {
        const id = yield* begun
        const { describe, result } = yield* handle
        const { execution } = yield* describe
        return [execution.id === id, yield* result]
      })
      assert.deepStrictEqual(yield* remote(talks, retrieves), [true, "done"])
    })
  )

  scenario(
    "dbos: enqueue-timeout-simple",
    Effect.gen(function* () {
      const limited = Effect.flatMap(FlowClient, (flows) => flows.execute(greeting, "x", { deadline: seconds(2) }))
      assert.strictEqual((yield* remote(waits, Effect.flip(limited)))._tag, "DeadlineExceeded")
    })
  )

  scenario(
    "dbos: DBOSClient-enqueue-priority",
    Effect.gen(function* () {
      const submits = Effect.gen(function* () {
        const flows = yield* FlowClient
        yield* flows.submit(greeting, "x", { priority: 7, after: seconds(60) })
        const { describe, result } = yield* handle
        const { execution } = yield* describe
        return [execution.priority, execution.state, yield* result]
      })
      assert.deepStrictEqual(yield* remote(greets, submits), [7, "queued", "hello x"])
    })
  )

  scenario(
    "dbos: test-debouncer-client",
    Effect.gen(function* () {
      const bursts = Effect.gen(function* () {
        const flows = yield* FlowClient
        const debounce = { key: "a", quiet: seconds(60), most: seconds(80) }
        const ids = yield* Effect.forEach(["one", "two"], (text) => flows.submit(greeting, text, { debounce }))
        yield* S.reaches(ids[1] ?? "", "completed")
        return ids[0] === ids[1]
      })
      assert.isTrue(yield* remote(greets, bursts))
      assert.deepStrictEqual(yield* Diary.read, ["hello two"])
    })
  )

  scenario(
    "dbos: DBOSClient-send-idempotent",
    Effect.gen(function* () {
      const collects = of(() => Effect.zipWith(box.receive(), box.receive(), (one, two) => `${one} ${two}`))
      const sends = Effect.gen(function* () {
        yield* begun
        const { result, signal } = yield* handle
        for (const text of ["one", "one", "two"]) yield* signal(box, text, { id: text })
        return yield* result
      })
      assert.strictEqual(yield* remote(collects, sends), "one two")
    })
  )

  scenario(
    "dbos: DBOSClient-enqueue-wrong-appVer",
    Effect.gen(function* () {
      const early = Effect.flatMap(FlowClient, (flows) => Effect.flip(flows.submit({ ...greeting, version: 2 }, "x")))
      const { message } = yield* remote(greets, early)
      assert.match(message, /registered in version 1: deploy version 2 before its callers/)
    })
  )

  for (const [name, body, when, expected] of [
    ["while-running", waits, "waiting", "begun"],
    ["update-when-finished, over HTTP", talks, "completed", "ended"]
  ] as const) {
    scenario(
      `dbos: DBOSClient-getEvent-${name}`,
      Effect.gen(function* () {
        const reads = Effect.gen(function* () {
          yield* S.reaches(yield* begun, when)
          return yield* Effect.flatMap(handle, ({ state }) => state(status))
        })
        assert.deepStrictEqual(yield* remote(body, reads), Option.some(expected))
      })
    )
  }

  scenario(
    "dbos: client-basic-stream-read",
    Effect.gen(function* () {
      const reads = Effect.gen(function* () {
        yield* begun
        const said = yield* Effect.flatMap(handle, ({ watch }) => Stream.runCollect(watch()))
        return said.flatMap(({ kind, value }) => (kind === "feed" ? [value] : []))
      })
      assert.deepStrictEqual(yield* remote(talks, reads), ["one", "two"])
    })
  )

  scenario(
    "dbos: client-stream-read-offset",
    Effect.gen(function* () {
      const reads = Effect.gen(function* () {
        yield* executed
        const { feed } = yield* handle
        const [first] = yield* feed(lines, { after: 0, limit: 1 })
        return [first, ...(yield* feed(lines, { after: first?.cursor }))].map((item) => item?.value)
      })
      assert.deepStrictEqual(yield* remote(talks, reads), ["one", "two"])
    })
  )

  scenario(
    "dbos: client-read-stream-nonexistent-workflow",
    Effect.gen(function* () {
      assert.strictEqual((yield* remote(greets, Effect.flip(handle)))._tag, "ExecutionNotFound")
    })
  )

  scenario(
    "temporal: update/basic, by a client",
    Effect.gen(function* () {
      const answers = of(() => Effect.flatMap(ask.receive(), ({ answer, input }) => Effect.as(answer(`${input}!`), "")))
      const asks = Effect.andThen(
        begun,
        Effect.flatMap(handle, ({ request }) => request(ask, "hello", { id: "a" }))
      )
      assert.deepStrictEqual(yield* remote(answers, Effect.all([asks, asks])), ["hello!", "hello!"])
    })
  )

  scenario(
    "restate: IngressTest idempotentInvokeVirtualObject",
    Effect.gen(function* () {
      const both = Effect.all([executed, executed], { concurrency: 2 })
      assert.deepStrictEqual(yield* remote(greets, both), ["hello x", "hello x"])
      assert.deepStrictEqual(yield* Diary.read, ["hello x"])
    })
  )

  scenario(
    "restate: IngressTest idempotentSendThenAttachWIthIdempotencyKey, over HTTP",
    Effect.gen(function* () {
      const attaches = Effect.gen(function* () {
        yield* begun
        const { result, signal } = yield* handle
        const attached = yield* Effect.forkChild(Effect.all([result, executed], { concurrency: 2 }))
        yield* signal(word, "resolved")
        return yield* Fiber.join(attached)
      })
      assert.deepStrictEqual(yield* remote(waits, attaches), ["resolved", "resolved"])
    })
  )

  scenario(
    "restate: WorkflowAPI workflowOutput",
    Effect.gen(function* () {
      const outputs = Effect.gen(function* () {
        const flows = yield* FlowManagementClient
        const before = yield* flows.result(yield* begun)
        yield* Effect.flatMap(handle, ({ signal }) => signal(word, "resolved"))
        yield* executed
        const after = yield* flows.result(before.id)
        return [before.settled, after.settled, after.result]
      })
      // It does not wait: there is no result yet.
      assert.deepStrictEqual(yield* remote(waits, outputs), [false, true, "resolved"])
    })
  )

  scenario(
    "restate: IngressTest privateService",
    Effect.gen(function* () {
      const refused = yield* remote(greets, Effect.flip(begun), { flows: ["other"] })
      assert.match(refused.message, /may not reach the flow greeting: it is for other/)
      assert.isEmpty(yield* Diary.read)
    })
  )

  scenario(
    "temporal: client, whose key may start and read",
    Effect.gen(function* () {
      const tries = Effect.gen(function* () {
        yield* begun
        const { cancel, describe, signal } = yield* handle
        yield* describe
        return yield* Effect.forEach([signal(word, "no"), cancel], (call) => Effect.flip(call))
      })
      const errors = yield* remote(waits, tries, { verbs: ["start", "read"] })
      const expected = ["signal", "command"].map((verb) => `the token may not ${verb}: it is for start, read`)
      assert.deepStrictEqual(
        errors.map(({ message }) => message),
        expected
      )
    })
  )
})
