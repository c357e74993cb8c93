import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as BulkOperations from "@signalbox/api/BulkOperations"
import * as Failures from "@signalbox/api/Failures"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Task from "@signalbox/worker/Task"
import { Console, Effect, Schema, Stream } from "effect"
import * as Process from "signalbox/Process"

let supplierIsDown = true
const order = Task.make("order", {
  input: Schema.Struct({ number: Schema.Int }),
  output: Schema.Struct({ number: Schema.Int }),
  run: Effect.fnUntraced(function* ({ payload: { number } }) {
    if (!supplierIsDown) return { number }
    return yield* new Task.BusinessFailure({
      code: "SUPPLIER",
      message: `order ${number} was not taken`
    })
  })
})
const orders = Process.make("orders", { steps: [order] })

const program = Effect.gen(function* () {
  const payloads = Array.from({ length: 20 }, (_, n) => ({ number: n + 1 }))
  const run = yield* Process.startRun(orders, { payloads })
  if (!run.started) return
  yield* ProcessRuns.awaitEnd(run.id)
  for (const failure of yield* Stream.runCollect(Failures.stream())) {
    yield* Console.log(`${failure.count} × ${failure.code}: ${failure.message}`)
    supplierIsDown = false
    const job = yield* BulkOperations.create("retry", {
      failure_id: failure.id
    })
    const { done, refused } = yield* BulkOperations.awaitEnd(job.id)
    yield* Console.log(`${done} retried, ${refused} refused`)
    yield* Console.log(
      `the run is ${(yield* ProcessRuns.awaitEnd(run.id)).state}`
    )
    yield* Console.log(
      `the failure is ${(yield* Failures.resolve(failure.id)).state}`
    )
  }
})
NodeRuntime.runMain(
  Effect.provide(
    program,
    Process.layer(orders, { data: ".signalbox/failures", port: 0 })
  )
)
