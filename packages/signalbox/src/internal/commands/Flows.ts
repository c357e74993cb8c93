/**
 * `signalbox flows`: look after the durable flows of a program that mounts `FlowManagement.layerRoutes`.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Approval } from "@signalbox/flows/Flow"
import type { Inspection, ListedExecution, OpenWait, RecordedStep } from "@signalbox/flows/FlowExecutions"
import { FlowManagementClient, onWire } from "@signalbox/flows/FlowManagementClient"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { columns, orVariable, print } from "../Connection.ts"
import { table } from "../Table.ts"

/** A flag is missing or cannot be used. */
export class FlowsFlagError extends Schema.TaggedError<FlowsFlagError>()("FlowsFlagError", {
  message: Schema.String
}) {
  readonly exitCode = 2
}

const refuse = (message: string) => new FlowsFlagError({ message })

const flags = {
  url: Flag.String("url").pipe(
    Flag.withDescription(
      "The address of the program that runs the flows; default: SIGNALBOX_FLOWS_URL. The token comes from SIGNALBOX_FLOWS_TOKEN"
    ),
    Flag.optional
  ),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Print JSON, a line for each result"), Flag.withDefault(false))
}

const connected = Effect.fnUntraced(function* <A, E, R>(
  url: Option.Option<string>,
  use: (flows: FlowManagementClient["Service"]) => Effect.Effect<A, E, R>
) {
  const address = yield* orVariable(url, "SIGNALBOX_FLOWS_URL")
  if (address === null || !/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    return yield* refuse(
      "--url: expected the address of the program that runs the flows, such as http://127.0.0.1:4800; or set SIGNALBOX_FLOWS_URL"
    )
  }
  const token = yield* Effect.option(Config.Redacted("SIGNALBOX_FLOWS_TOKEN"))
  if (Option.isNone(token) || Redacted.value(token.value) === "") {
    return yield* refuse("set SIGNALBOX_FLOWS_TOKEN to the token that the program gives to FlowManagement.layerRoutes")
  }
  const layer = FlowManagementClient.layer({ url: address, token: token.value }).pipe(
    Layer.provide(NodeHttpClient.layerUndici)
  )
  return yield* Effect.provide(Effect.flatMap(FlowManagementClient, use), layer)
})

const timeOf = (millis: number | null) => (millis === null ? "" : new Date(millis).toISOString())
const registeredAs = (registered: boolean) => (registered ? "" : "version not registered")

const executionLine = ({ failure, flow, id, registered, startedAt, state, version }: ListedExecution) =>
  columns(
    [id, 36],
    [state, 9],
    [`${flow}@${version}`, 20],
    [timeOf(startedAt), 24],
    [failure?.message.replace(/\s+/g, " ") ?? registeredAs(registered || state !== "running"), 0]
  )

const list = Command.make(
  "list",
  {
    flow: Flag.String("flow").pipe(Flag.withDescription("Only executions of this flow"), Flag.optional),
    version: Flag.Finite("flow-version").pipe(Flag.withDescription("Only executions of this version"), Flag.optional),
    state: Flag.Literals("state", ["running", "completed", "failed", "canceled"]).pipe(
      Flag.withDescription("Only executions in this state"),
      Flag.optional
    ),
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many, the newest first"), Flag.withDefault(100)),
    ...flags
  },
  ({ flow, json, limit, state, url, version }) =>
    connected(url, (flows) => {
      const filter = {
        ...(Option.isSome(flow) ? { flow: flow.value } : {}),
        ...(Option.isSome(version) ? { version: version.value } : {}),
        ...(Option.isSome(state) ? { state: state.value } : {})
      }
      return Stream.runForEach(Stream.take(flows.stream(filter), limit), (execution) =>
        Console.log(json ? JSON.stringify(onWire.listed(execution)) : executionLine(execution))
      )
    })
).pipe(
  Command.withDescription("Lists executions of flows, the newest first, of all versions"),
  Command.withExamples([
    { command: "signalbox flows list --state failed", description: "What failed, and why" },
    { command: "signalbox flows list --flow payments --state running --json", description: "For programs" }
  ])
)

const execution = Argument.String("execution").pipe(Argument.withDescription("The id of an execution"))

const secondsOf = ({ endedAt, startedAt }: RecordedStep) => `${((endedAt - startedAt) / 1000).toFixed(1)}s`

const stepRow = (step: RecordedStep) => [
  step.path,
  step.kind,
  `${step.attempt}`,
  step.state,
  timeOf(step.startedAt),
  secondsOf(step),
  step.failure?.message.replace(/\s+/g, " ") ?? ""
]

const waitLine = (wait: OpenWait, now: number) => {
  const seconds = wait.due === null ? 0 : Math.round((wait.due - now) / 1000)
  const until = wait.due === null ? "" : `until ${timeOf(wait.due)} (${seconds} s)`
  const what = { signal: "a signal", run: `the run ${wait.run ?? ""}`, timer: "time" }[wait.kind]
  return ["waits for", what, "at", wait.path, until].filter((part) => part !== "").join(" ")
}

const report = Effect.fnUntraced(function* ({ execution, registered, steps, waits }: Inspection) {
  const { endedAt, failure, flow, generation, id, input, key, result, resumes, startedAt, state, version } = execution
  const now = yield* Clock.currentTimeMillis
  const unregistered = state === "running" ? registeredAs(registered) : ""
  yield* Console.log(columns([id, 36], [state, 9], [`${flow}@${version}`, 20], [unregistered, 0]))
  yield* Console.log(`key ${key}, generation ${generation}, ${timeOf(startedAt)} ${timeOf(endedAt)}`.trimEnd())
  if (resumes !== null) yield* Console.log(`goes on from ${resumes.execution} before ${resumes.before || "its end"}`)
  yield* Console.log(`input ${JSON.stringify(input)}`)
  if (state === "completed") yield* Console.log(`result ${JSON.stringify(result)}`)
  if (failure !== null) yield* Console.log(`${failure.kind}: ${failure.message}`)
  for (const wait of waits) yield* Console.log(waitLine(wait, now))
  if (steps.length === 0) return
  yield* Console.log("")
  const head = ["step", "kind", "attempt", "state", "started", "took", "failure"]
  yield* Console.log(table(head, steps.map(stepRow)))
})

const show = Command.make(
  "show",
  {
    execution,
    mermaid: Flag.Boolean("mermaid").pipe(
      Flag.withDescription("Print the steps as a Mermaid flow chart"),
      Flag.withDefault(false)
    ),
    step: Flag.String("step").pipe(
      Flag.withDescription("Print the attempts of this step with input and result, a line of JSON each"),
      Flag.optional
    ),
    ...flags
  },
  ({ execution, json, mermaid, step, url }) =>
    connected(
      url,
      Effect.fnUntraced(function* (flows) {
        const inspection = yield* flows.inspect(execution)
        if (mermaid) return yield* Console.log(inspection.diagram.trimEnd())
        if (Option.isSome(step)) {
          const found = onWire.inspection(inspection).steps.filter(({ path }) => path === step.value)
          if (found.length === 0) {
            return yield* refuse(`--step: the execution ${execution} has recorded no step ${step.value}`)
          }
          return yield* Effect.forEach(found, (one) => Console.log(JSON.stringify(one)), { discard: true })
        }
        yield* json ? Console.log(JSON.stringify(onWire.inspection(inspection))) : report(inspection)
      })
    )
).pipe(
  Command.withDescription("Shows an execution: its steps, and what it waits for"),
  Command.withExamples([
    { command: "signalbox flows show 0199a1b2-...", description: "The steps as a table" },
    { command: "signalbox flows show 0199a1b2-... --step startRun", description: "What went in and came out" },
    { command: "signalbox flows show 0199a1b2-... --mermaid > flow.mmd", description: "As a diagram" }
  ])
)

const cancel = Command.make("cancel", { execution, ...flags }, ({ execution, json, url }) =>
  connected(url, (flows) =>
    Effect.andThen(
      flows.cancel(execution),
      print(json, { id: execution }, ({ id }) => `${id} is asked to end; what it did is undone where the flow says how`)
    )
  )
).pipe(
  Command.withDescription("Ends an execution, and undoes what its flow compensates"),
  Command.withExamples([{ command: "signalbox flows cancel 0199a1b2-...", description: "Safe to repeat" }])
)

const resume = Command.make("resume", { execution, ...flags }, ({ execution, json, url }) =>
  connected(url, (flows) =>
    Effect.flatMap(flows.resume(execution), (id) => print(json, { id }, ({ id }) => `${id} goes on`))
  )
).pipe(
  Command.withDescription("Lets an execution go on that has failed, was canceled or is put aside"),
  Command.withExamples([{ command: "signalbox flows resume 0199a1b2-...", description: "From its first failed step" }])
)

const retry = Command.make(
  "retry",
  {
    execution,
    from: Flag.String("from").pipe(
      Flag.withDescription("The path of the step to begin with; default: the first that failed"),
      Flag.optional
    ),
    version: Flag.Finite("flow-version").pipe(
      Flag.withDescription("The version that runs; default: that of the execution"),
      Flag.optional
    ),
    ...flags
  },
  ({ execution, from, json, url, version }) =>
    connected(url, (flows) =>
      Effect.flatMap(
        flows.retry(execution, {
          ...(Option.isSome(from) ? { from: from.value } : {}),
          ...(Option.isSome(version) ? { version: version.value } : {})
        }),
        (id) => print(json, { id }, ({ id }) => `${id} runs`)
      )
    )
).pipe(
  Command.withDescription("Runs an ended execution again from a step on, as a new execution"),
  Command.withExamples([
    { command: "signalbox flows retry 0199a1b2-...", description: "From its first failed step" },
    { command: "signalbox flows retry 0199a1b2-... --from startRun", description: "From this step on" }
  ])
)

const decodeJson = Schema.decodeEffect(Schema.fromJsonString(Schema.Json))

interface Decision {
  readonly value: Option.Option<string>
  readonly approve: boolean
  readonly reject: boolean
  readonly by: Option.Option<string>
  readonly comment: Option.Option<string>
}

const valueOf = Effect.fnUntraced(function* ({ approve, by, comment, reject, value }: Decision) {
  if ([approve, reject, Option.isSome(value)].filter(Boolean).length !== 1) {
    return yield* refuse("expected one of --approve, --reject and --value")
  }
  if (Option.isSome(value)) {
    return yield* Effect.mapError(decodeJson(value.value), () => refuse("--value: expected JSON, such as '\"text\"'"))
  }
  if (Option.isNone(by)) return yield* refuse("--by: expected who decides")
  const decision = { approved: approve, by: by.value, comment: Option.getOrNull(comment) }
  return yield* Effect.orDie(Schema.encodeEffect(Approval)(decision))
})

const signal = Command.make(
  "signal",
  {
    execution,
    path: Argument.String("path").pipe(
      Argument.withDescription("The path of what awaits it, as `signalbox flows show` says")
    ),
    value: Flag.String("value").pipe(Flag.withDescription("The value, as JSON"), Flag.optional),
    approve: Flag.Boolean("approve").pipe(Flag.withDescription("Approve"), Flag.withDefault(false)),
    reject: Flag.Boolean("reject").pipe(Flag.withDescription("Refuse to approve"), Flag.withDefault(false)),
    by: Flag.String("by").pipe(Flag.withDescription("Who approves or refuses"), Flag.optional),
    comment: Flag.String("comment").pipe(Flag.withDescription("Why"), Flag.optional),
    ...flags
  },
  Effect.fnUntraced(function* ({ execution, json, path, url, ...decision }) {
    const value = yield* valueOf(decision)
    yield* connected(url, (flows) => flows.signal(execution, path, value))
    yield* print(json, { id: execution, path }, () => `${execution} has its signal ${path}`)
  })
).pipe(
  Command.withDescription("Sends a value, or the decision of a person, to what an execution awaits"),
  Command.withExamples([
    { command: "signalbox flows signal 0199a1b2-... approval --approve --by ann", description: "A decision" },
    { command: "signalbox flows signal 0199a1b2-... day --value '\"2026-11-21\"'", description: "Any value" }
  ])
)

export const flows = Command.make("flows").pipe(
  Command.withDescription("Lists, shows and steers durable flows of a program"),
  Command.withSubcommands([list, show, cancel, resume, retry, signal])
)
