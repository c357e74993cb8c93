/**
 * A process whose steps keep its event loop. Prints `begun N` and `ended N` around each run of a step.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { spawnSync } from "node:child_process"
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import { setTimeout as pause } from "node:timers/promises"
import * as Flow from "../../../src/Flow.ts"
import { FlowEngine } from "../../../src/FlowEngine.ts"
import { type BusyOrder, BusyPlan, How, NumberedBusyOrder } from "./Busy.ts"

const plan = Schema.decodeSync(Schema.fromJsonString(BusyPlan))(process.argv[2] ?? "")

/** At once, since the event loop is about to stand still. */
const say = (line: string) => void writeSync(1, `${line}\n`)

const compute = (millis: number) => {
  const end = performance.now() + millis
  let sum = 0
  while (performance.now() < end) sum += Math.sqrt(sum + 1)
  return sum
}

const Input = Schema.Struct({ n: Schema.Finite, how: How, millis: Schema.Finite })

const pay = Flow.step("pay", {
  input: Input,
  success: Schema.Void,
  error: Schema.Never,
  run: ({ how, millis, n }) =>
    Effect.gen(function* () {
      say(`begun ${n}`)
      switch (how) {
        case "sync":
          // Continues in another turn of the event loop first.
          yield* Effect.yieldNow
          compute(millis)
          break
        case "later":
          yield* Effect.promise(async () => {
            await pause(50)
            compute(millis)
          })
          break
        case "native":
          spawnSync("sleep", [`${millis / 1_000}`])
          break
        case "idle":
          yield* Effect.sleep(millis)
      }
      say(`ended ${n}`)
    })
})

const flow = Flow.make("busy", {
  version: 1,
  input: Input,
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: ({ n }) => `${n}`,
  run: (input) => pay(input)
})

const carryOut = Effect.fnUntraced(function* (order: BusyOrder) {
  if (order.do === "submit") {
    const { how, millis, n } = order
    yield* Effect.ignore(Flow.submit(flow, { n, how, millis }))
    return null
  }
  const handle = yield* Flow.handle(flow, `${order.n}`)
  if (order.do === "resume") return yield* Effect.as(handle.resume(), null)
  const { execution, remedy, steps, summary } = yield* handle.describe
  return JSON.stringify({ state: execution.state, failure: execution.failure, remedy, steps, summary })
})

const engine = FlowEngine.layerPostgres({
  url: Redacted.make(plan.url),
  schema: plan.schema,
  stallLimit: plan.stallLimitMillis,
  ...(plan.thread === "none" ? { leaseThread: false } : {}),
  ...(plan.thread === "missing" ? { leaseThread: new URL("Missing.ts", import.meta.url) } : {})
})

const program = Effect.gen(function* () {
  say('{"ready":true}')
  yield* Stream.fromAsyncIterable(createInterface({ input: process.stdin }), (cause) => cause).pipe(
    Stream.runForEach((line) =>
      Effect.gen(function* () {
        const { id, order } = yield* Schema.decodeEffect(Schema.fromJsonString(NumberedBusyOrder))(line)
        const exit = yield* Effect.exit(carryOut(order))
        const value = Exit.isSuccess(exit) ? exit.value : String(Cause.squash(exit.cause))
        say(JSON.stringify({ id, ok: Exit.isSuccess(exit), value }))
      }).pipe(Effect.forkScoped)
    )
  )
}).pipe(Effect.scoped)

NodeRuntime.runMain(program.pipe(Effect.provide(plan.idle ? engine : Layer.provideMerge(Flow.layer(flow), engine))))
