/**
 * A program with a durable flow that runs a process as code, and that kills itself at a point of it, without cleaning up. The
 * argument is a `Plan` as JSON; the control room comes from the environment.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { layerUploads } from "@signalbox/api/node"
import * as Process from "@signalbox/api/Process"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import { FlowEvents } from "@signalbox/flows/FlowEvents"
import * as ProcessSteps from "@signalbox/flows/ProcessSteps"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as HttpClient from "effect/http/HttpClient"

const Payload = Schema.Struct({ n: Schema.Finite })

/** The process of the drill: its task is one of `slowTasks.ts`. */
export const slowly = Process.make("slowly", {
  steps: [Process.step({ name: "slow", input: Payload, output: Payload }, { max_parallel: 2 })]
})

export const Plan = Schema.Struct({
  /** The database of the flows. */
  file: Schema.String,
  numbers: Schema.Array(Schema.Finite),
  /** The point at which the process is killed, of all steps, requests and answers in their order; null: none. */
  killAt: Schema.NullOr(Schema.Finite)
})

export const daily = Flow.make("daily", {
  version: 1,
  input: Schema.Struct({ numbers: Schema.Array(Schema.Finite) }),
  success: Schema.Array(Schema.Finite),
  error: ProcessSteps.error,
  idempotencyKey: ({ numbers }) => numbers.join(),
  run: Effect.fnUntraced(function* ({ numbers }) {
    const payloads = numbers.map((n) => ({ n }))
    const { outputs } = yield* ProcessSteps.run(slowly, payloads, { files: () => [import.meta.filename] })
    return outputs.map(({ payload }) => payload.n)
  })
})

/** The layer of the flow in a process that is killed at this point. */
const layer = ({ file, killAt }: typeof Plan.Type) => {
  let points = 0
  const reach = Effect.suspend(() => {
    if (++points !== killAt) return Effect.void
    process.kill(process.pid, "SIGKILL")
    return Effect.never
  })
  const events = Layer.succeed(FlowEvents, { publish: () => reach })
  const client = Effect.map(HttpClient.HttpClient, (client) =>
    HttpClient.transform(client, (response) =>
      Effect.andThen(
        reach,
        Effect.tap(response, () => reach)
      )
    )
  )
  const room = Layer.unwrap(Effect.map(ControlRoom.config, (options) => ControlRoom.layerHttpClient(options))).pipe(
    Layer.provide(Layer.effect(HttpClient.HttpClient, client)),
    Layer.provide([NodeHttpClient.layerUndici, layerUploads])
  )
  return Flow.layer(daily).pipe(Layer.provideMerge([FlowEngine.layerSqlite({ file }), events, room]))
}

if (import.meta.main) {
  const plan = Schema.decodeSync(Schema.fromJsonString(Plan))(process.argv[2] ?? "")
  const result = Effect.provide(Flow.execute(daily, { numbers: plan.numbers }), layer(plan))
  process.stdout.write(JSON.stringify(await Effect.runPromise(result)))
}
