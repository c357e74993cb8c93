/**
 * A process whose database goes away: it makes calls with a limit, and runs steps that take long.
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
import * as FlowExecutions from "../../../src/FlowExecutions.ts"

const plan = JSON.parse(process.argv[2] ?? "")
const say = (line: object) => Effect.sync(() => void process.stdout.write(`${JSON.stringify(line)}\n`))
const go = Flow.signal("go", Schema.String)
const work = Flow.step("work", {
  input: Schema.Finite,
  success: Schema.Void,
  error: Schema.Never,
  run: (millis) => Effect.andThen(Effect.sync(() => console.log("begun")), Effect.sleep(millis))
})
const flow = Flow.make("away", {
  version: 1,
  input: Schema.Struct({ n: Schema.Finite, millis: Schema.Finite }),
  success: Schema.Void,
  error: Schema.Never,
  signals: [go],
  idempotencyKey: ({ n }) => `${n}`,
  run: Effect.fnUntraced(function* ({ millis }) {
    if (millis < 0) return yield* Effect.asVoid(go.receive())
    yield* work(millis)
  })
})
const calls: any = {
  submit: (n: number, millis: number) => Flow.submit(flow, { n, millis }),
  execute: (n: number, millis: number) => Flow.execute(flow, { n, millis }),
  signal: (n: number) => Effect.flatMap(Flow.handle(flow, `${n}`), (handle) => handle.signal(go, "x")),
  list: () => FlowExecutions.list({})
}
const program = Effect.gen(function* () {
  yield* say({ ready: true })
  yield* Stream.fromAsyncIterable(createInterface({ input: process.stdin }), (cause) => cause).pipe(
    Stream.runForEach((line) =>
      Effect.gen(function* () {
        const { id, order } = JSON.parse(line)
        const begun = performance.now()
        const exit: any = yield* Effect.exit(
          order.limit === null
            ? calls[order.do](order.n, order.millis)
            : (order.plain ? Effect.timeout(calls[order.do](order.n, order.millis), order.limit) : Flow.callWithin(order.limit)(calls[order.do](order.n, order.millis)))
        )
        const millis = Math.round(performance.now() - begun)
        yield* say({ id, ok: true, value: [millis, Exit.isSuccess(exit) ? "ok" : ((e: any) => [e._tag, e.sent, e.why].join(" "))(Cause.squash(exit.cause))] })
      }).pipe(Effect.forkScoped)
    )
  )
}).pipe(Effect.scoped)
NodeRuntime.runMain(
  program.pipe(
    Effect.provide(
      Layer.provideMerge(
        Flow.layer(flow),
        FlowEngine.layerPostgres({ url: Redacted.make(plan.url), schema: plan.schema })
      )
    )
  )
)
