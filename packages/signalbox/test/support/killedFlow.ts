/**
 * A program with a durable flow that ends an execution, begins another, and kills itself at a given point of that,
 * without cleaning up. The argument is a `Plan` as JSON; the control room comes from the environment.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessId } from "@signalbox/api/contract/Ids"
import { layerUploads } from "@signalbox/api/node"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import { FlowEvents } from "@signalbox/flows/FlowEvents"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as HttpClient from "effect/http/HttpClient"
import { appendFileSync } from "node:fs"

/** Where a process is killed: at the begin of a step, before or after its request of this number, or after its end. */
export const Fault = Schema.Struct({
  step: Schema.String,
  at: Schema.Union([
    Schema.Literals(["begin", "end"]),
    Schema.TemplateLiteral(["request ", Schema.Finite]),
    Schema.TemplateLiteral(["answer ", Schema.Finite])
  ])
})

export const Plan = Schema.Struct({
  /** The database of the flows. */
  file: Schema.String,
  /** Receives a line of JSON for each event. */
  notes: Schema.String,
  process: ProcessId,
  body: Schema.Literals(["as it was", "a step more at the end", "a step more at the begin"]),
  /** The execution to wait for. */
  finish: Schema.NullOr(Schema.Finite),
  /** Of what is halted, resume it first. */
  resume: Schema.Boolean,
  /** The execution to begin then, and to be killed in. */
  begin: Schema.NullOr(Schema.Struct({ n: Schema.Finite, fault: Fault }))
})

const plan = Schema.decodeSync(Schema.fromJsonString(Plan))(process.argv[2] ?? "")

const note = (line: object) => appendFileSync(plan.notes, `${JSON.stringify(line)}\n`)

const extra = Flow.step("extra", {
  input: Schema.Void,
  success: Schema.String,
  error: Schema.Never,
  run: () => Effect.succeed("extra")
})

const killed = Flow.make("killed", {
  version: 1,
  input: Schema.Struct({ n: Schema.Finite }),
  success: Schema.Array(Schema.NullOr(Schema.Json)),
  error: Schema.Union([Steps.attachFiles.error, Steps.startRun.error]),
  idempotencyKey: ({ n }) => `${n}`,
  run: Effect.fnUntraced(function* ({ n }) {
    if (plan.body === "a step more at the begin") yield* extra(undefined)
    const item = yield* Steps.createWorkItem({ process: plan.process, payload: { n } })
    yield* Steps.attachFiles({ workItem: item, files: [import.meta.filename] })
    const run = yield* Steps.startRun({ process: plan.process, workItems: [item] })
    yield* Steps.awaitCompletion({ run })
    const outputs = yield* Steps.collectOutputs({ run })
    if (plan.body === "a step more at the end") yield* extra(undefined)
    return outputs.map(({ payload }) => payload)
  })
})

let armed = false
let step = ""
let requests = 0
const die = Effect.andThen(
  Effect.sync(() => process.kill(process.pid, "SIGKILL")),
  Effect.never
)
const reach = (at: string) =>
  Effect.suspend(() => {
    const fault = plan.begin?.fault
    return armed && fault?.step === step && fault.at === at ? die : Effect.void
  })

const events = Layer.succeed(FlowEvents, {
  publish: (event) =>
    Effect.suspend(() => {
      if (event._tag !== "StepStarted" && event._tag !== "StepSucceeded") return Effect.void
      note({ what: event._tag, execution: event.executionId, step: event.path })
      step = event.path
      if (event._tag === "StepStarted") requests = 0
      return reach(event._tag === "StepStarted" ? "begin" : "end")
    })
})

const room = Layer.unwrap(Effect.map(ControlRoom.config, (options) => ControlRoom.layerHttpClient(options))).pipe(
  Layer.provide(
    Layer.effect(
      HttpClient.HttpClient,
      Effect.map(HttpClient.HttpClient, (client) =>
        HttpClient.transform(client, (response) =>
          Effect.gen(function* () {
            const request = ++requests
            yield* reach(`request ${request}`)
            const answer = yield* response
            yield* reach(`answer ${request}`)
            return answer
          })
        )
      )
    )
  ),
  Layer.provide(NodeHttpClient.layerUndici),
  Layer.provide(layerUploads)
)

const program = Effect.gen(function* () {
  if (plan.finish !== null) {
    const id = yield* Flow.submit(killed, { n: plan.finish })
    // A matching build resumes what was halted automatically; a manual resume works as well.
    if (plan.resume) yield* FlowExecutions.resume(id)
    const exit = yield* Effect.exit(Flow.execute(killed, { n: plan.finish }))
    if (Exit.isSuccess(exit)) note({ what: "result", n: plan.finish, execution: id, result: exit.value })
    else note({ what: "failure", n: plan.finish, execution: id, message: String(Cause.squash(exit.cause)) })
  }
  if (plan.begin !== null) {
    armed = true
    yield* Flow.execute(killed, { n: plan.begin.n })
    note({ what: "not killed", n: plan.begin.n })
  }
})

await Effect.runPromise(
  program.pipe(
    Effect.provide(Flow.layer(killed)),
    Effect.provide([FlowEngine.layerSqlite({ file: plan.file }), events, room])
  )
)
