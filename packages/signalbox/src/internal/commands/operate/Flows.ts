/** `signalbox flows`: operates the durable flows of a program that mounts `FlowManagement.layerRoutes`. */
import { type FlowManagementClient, onWire } from "@signalbox/flows/FlowManagementClient"
import { defined } from "@signalbox/transport/Defined"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { print } from "../../connection/Connection.ts"
import { givenText } from "../../files/GivenText.ts"
import { executionLine, report } from "../../output/FlowReport.ts"
import { connected, flags, refuse } from "../../connection/FlowsConnection.ts"
import { check } from "./FlowsCheck.ts"
import { cancel, reschedule, resume, retry, suspend, terminate } from "./FlowsCommands.ts"
import { exported } from "./FlowsExport.ts"
import { execution, filterFlags, filterOf } from "./FlowsFilter.ts"
import { fork } from "./FlowsFork.ts"
import { schedules } from "./FlowsSchedules.ts"
import { whenFlags, whenOf } from "./FlowsWhen.ts"
import { versions } from "./FlowsVersions.ts"
import { request } from "./FlowsRequest.ts"
import { state, watch } from "./FlowsStates.ts"
import * as FlagValues from "../../settings/FlagValues.ts"

const list = Command.make(
  "list",
  {
    ...filterFlags,
    limit: FlagValues.limit.pipe(Flag.withDescription("How many, newest first"), Flag.withDefault(100)),
    ...flags
  },
  ({ json, limit, url, ...filter }) =>
    connected(
      url,
      Effect.fnUntraced(function* (flows) {
        const now = yield* Clock.currentTimeMillis
        yield* Stream.runForEach(Stream.take(flows.stream(filterOf(filter)), limit), (execution) =>
          Console.log(json ? JSON.stringify(onWire.listed(execution)) : executionLine(execution, now))
        )
      })
    )
).pipe(
  Command.withDescription("Lists executions of flows of all versions, newest first: state, age, flow, key and reason"),
  Command.withExamples([
    { command: "signalbox flows list --state halted", description: "List executions that need attention" },
    { command: "signalbox flows list --flow payments --state running --json", description: "Print JSON" }
  ])
)

const show = Command.make(
  "show",
  {
    execution,
    mermaid: Flag.Boolean("mermaid").pipe(
      Flag.withDescription("Print the steps as a Mermaid flow chart"),
      Flag.withDefault(false)
    ),
    step: Flag.String("step").pipe(
      Flag.withDescription("Print the attempts of this step with input, result and stack, one line of JSON each"),
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
        if (json) return yield* Console.log(JSON.stringify(onWire.inspection(inspection)))
        yield* Console.log(report(inspection, yield* Clock.currentTimeMillis))
      })
    )
).pipe(
  Command.withDescription("Shows the status of an execution: the activity of each branch, undos and steps"),
  Command.withExamples([
    { command: "signalbox flows show 0199a1b2-...", description: "Show the status" },
    {
      command: "signalbox flows show 0199a1b2-... --step startRun",
      description: "Print the input and result of a step"
    },
    { command: "signalbox flows show 0199a1b2-... --mermaid > flow.mmd", description: "Write a diagram" }
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
  return {
    approved: approve,
    ...defined({ by: Option.getOrUndefined(by) }),
    comment: Option.getOrNull(comment)
  }
})

const signal = Command.make(
  "signal",
  {
    execution,
    signal: Argument.String("signal").pipe(
      Argument.withDescription("The name of the signal, with its key as in 'price[a]'; see `signalbox flows show`")
    ),
    value: Flag.String("value").pipe(Flag.withDescription("The value, as JSON"), Flag.optional),
    approve: Flag.Boolean("approve").pipe(Flag.withDescription("Approve"), Flag.withDefault(false)),
    reject: Flag.Boolean("reject").pipe(Flag.withDescription("Reject"), Flag.withDefault(false)),
    by: Flag.String("by").pipe(
      Flag.withDescription("Who approves or rejects; a control room records the name of the key"),
      Flag.optional
    ),
    comment: Flag.String("comment").pipe(Flag.withDescription("Why"), Flag.optional),
    id: Flag.String("id").pipe(
      Flag.withDescription("The id of a message of an inbox: repeated messages with the same id are received once"),
      Flag.optional
    ),
    ...flags
  },
  Effect.fnUntraced(function* ({ execution, id, json, signal, url, ...decision }) {
    const value = yield* valueOf(decision)
    const options = Option.isSome(id) ? { id: id.value } : {}
    yield* connected(url, (flows) => flows.signal(execution, signal, value, options))
    yield* print(json, { id: execution, signal }, () => `sent ${signal} to ${execution}`)
  })
).pipe(
  Command.withDescription("Sends a value, or an approval, to a signal or an inbox of an execution"),
  Command.withExamples([
    { command: "signalbox flows signal 0199a1b2-... approval --approve --by ann", description: "A decision" },
    { command: "signalbox flows signal 0199a1b2-... day --value '\"2026-11-21\"'", description: "Send a value" }
  ])
)

/** A time in seconds, within which a program says whether an execution has ended. */
const wait = 25

/** Waits until an execution has ended or is halted. */
const settled = (flows: FlowManagementClient["Service"], id: string) =>
  Effect.repeat(flows.result(id, { wait }), { until: ({ settled }) => settled })

/** An execution that was waited for did not complete. */
export class NotCompleted extends TaggedError<NotCompleted>()("NotCompleted", { message: Schema.String }) {}

const start = Command.make(
  "start",
  {
    flow: Argument.String("flow").pipe(Argument.withDescription("The name of a flow")),
    input: Flag.String("input").pipe(
      Flag.withDescription("The input: JSON, the path of a file after @, or - for standard input"),
      Flag.withMetavar("JSON | @FILE | -")
    ),
    key: Flag.String("key").pipe(
      Flag.withDescription("The idempotency key; default: the one that the flow makes of the input"),
      Flag.optional
    ),
    ...whenFlags,
    wait: Flag.Boolean("wait").pipe(
      Flag.withDescription("Wait for the end, and print the result; the exit code is 1 unless it has completed"),
      Flag.withDefault(false)
    ),
    ...flags
  },
  Effect.fnUntraced(function* ({ flow, input, json, key, url, wait, ...when }) {
    const value = yield* Effect.mapError(decodeJson(yield* givenText("--input", input)), () =>
      refuse("--input: expected JSON, @FILE for a file with JSON, or - for standard input; a text is JSON in quotes")
    )
    yield* connected(
      url,
      Effect.fnUntraced(function* (flows) {
        const { after, at, deadline, priority } = whenOf(when)
        const times = defined({
          key: Option.getOrUndefined(key),
          at: at?.getTime(),
          after: after === undefined ? undefined : Duration.toMillis(after),
          priority,
          deadline: deadline === undefined ? undefined : Duration.toMillis(deadline)
        })
        const started = yield* flows.start({ flow, input: value, ...times })
        if (!wait) return yield* print(json, started, ({ id, state }) => `${id} ${state}`)
        const { failure, id, result, state } = yield* settled(flows, started.id)
        if (state === "completed") return yield* print(json, { id, state, result }, () => JSON.stringify(result))
        const why = failure === null ? "" : `: ${failure.message}`
        return yield* new NotCompleted({ message: `the execution ${id} is ${state}${why}` })
      })
    )
  })
).pipe(
  Command.withDescription("Starts a flow, or joins the execution with the same key; prints its id"),
  Command.withExamples([
    { command: 'signalbox flows start payment --input \'{"order":"4711"}\'', description: "Start an execution" },
    { command: "signalbox flows start payment --input @order.json --wait", description: "Wait for its result" },
    {
      command: 'signalbox flows start payment --input @order.json --after "2 hours" --deadline "1 day"',
      description: "Start it later, and end it in time"
    }
  ])
)

export const flows = Command.make("flows").pipe(
  Command.withDescription("Starts, lists, shows and manages executions of durable flows"),
  Command.withSubcommands([
    start,
    list,
    show,
    state,
    watch,
    signal,
    request,
    cancel,
    terminate,
    suspend,
    resume,
    retry,
    reschedule,
    fork,
    exported,
    check,
    versions,
    schedules
  ])
)
