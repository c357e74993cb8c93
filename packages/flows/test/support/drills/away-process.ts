/**
 * A process whose database goes away: it makes calls that end after two seconds, and runs steps. Prints `begun` when a step begins.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createInterface } from "node:readline"
import * as Flow from "../../../src/Flow.ts"
import { FlowEngine } from "../../../src/FlowEngine.ts"
import { CallUnanswered } from "../../../src/FlowErrors.ts"
import * as FlowExecutions from "../../../src/FlowExecutions.ts"
import { type AwayOrder, AwayPlan, NumberedAwayOrder } from "./Away.ts"

const plan = Schema.decodeSync(Schema.fromJsonString(AwayPlan))(process.argv[2] ?? "")
const say = (line: string) => Effect.sync(() => void process.stdout.write(`${line}\n`))

const go = Flow.signal("go", Schema.String)
const work = Flow.step("work", {
  input: Schema.Finite,
  success: Schema.Void,
  error: Schema.Never,
  run: (millis) => Effect.andThen(say("begun"), Effect.sleep(millis))
})
const flow = Flow.make("away", {
  version: 1,
  input: Schema.Struct({ n: Schema.Finite, millis: Schema.Finite }),
  success: Schema.Void,
  error: Schema.Never,
  signals: [go],
  idempotencyKey: ({ n }) => `${n}`,
  run: ({ millis }) => (millis < 0 ? Effect.asVoid(go.receive()) : work(millis))
})

const callOf = ({ do: name, millis, n }: AwayOrder): Effect.Effect<unknown, unknown, FlowEngine> => {
  switch (name) {
    case "submit":
      return Flow.submit(flow, { n, millis })
    case "execute":
      return Flow.execute(flow, { n, millis })
    case "signal":
      return Effect.flatMap(Flow.handle(flow, `${n}`), (handle) => handle.signal(go, "now"))
    case "list":
      return FlowExecutions.list()
  }
}

const limit = "2 seconds"
const carryOut = (order: AwayOrder) => {
  const call = callOf(order)
  if (order.by === "nobody") return call
  return order.by === "limit" ? Flow.callWithin(limit)(call) : Effect.timeout(call, limit)
}

/** What became of a call, and whether a timer that was set with it ran first: in one event loop, however busy the machine is. */
const outcomeOf = Effect.fnUntraced(function* (order: AwayOrder) {
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
  }, 4_000)
  const begun = performance.now()
  const exit = yield* Effect.exit(carryOut(order))
  clearTimeout(timer)
  const millis = Math.round(performance.now() - begun)
  if (Exit.isSuccess(exit)) return { outcome: "done", isLate, millis }
  const error = Cause.squash(exit.cause)
  return { outcome: error instanceof CallUnanswered ? `${error.why} ${error.sent}` : String(error), isLate, millis }
})

const program = Effect.gen(function* () {
  yield* say('{"ready":true}')
  yield* Stream.fromAsyncIterable(createInterface({ input: process.stdin }), (cause) => cause).pipe(
    Stream.runForEach((line) =>
      Effect.gen(function* () {
        const { id, order } = yield* Schema.decodeEffect(Schema.fromJsonString(NumberedAwayOrder))(line)
        const value = yield* outcomeOf(order)
        yield* say(JSON.stringify({ id, ok: true, value }))
      }).pipe(Effect.forkScoped)
    )
  )
}).pipe(Effect.scoped)

const engine = FlowEngine.layerPostgres({ url: Redacted.make(plan.url), schema: plan.schema })
NodeRuntime.runMain(program.pipe(Effect.provide(Layer.provideMerge(Flow.layer(flow), engine))))
