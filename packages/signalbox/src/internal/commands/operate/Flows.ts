/** `signalbox flows`: operates the durable flows of a program that mounts `FlowManagement.layerRoutes`. */
import { type Command as FlowCommand, type CommandOptions, type State } from "@signalbox/flows/FlowExecutions"
import { type FlowManagementClient, type FlowManagementError, onWire } from "@signalbox/flows/FlowManagementClient"
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
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { ask } from "../../resources/Confirm.ts"
import { print } from "../../connection/Connection.ts"
import { givenText } from "../../files/GivenText.ts"
import { executionLine, report } from "../../output/FlowReport.ts"
import { connected, flags, refuse } from "../../connection/FlowsConnection.ts"
import { check } from "./FlowsCheck.ts"
import { exported } from "./FlowsExport.ts"
import { filterFlags, filterOf, type GivenFilter } from "./FlowsFilter.ts"
import { fork } from "./FlowsFork.ts"
import { schedules } from "./FlowsSchedules.ts"
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

const execution = Argument.String("execution").pipe(Argument.withDescription("The id of an execution"))

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

// ---- commands

const targetFlags = {
  execution: Argument.optional(execution),
  ...filterFlags,
  all: Flag.Boolean("all").pipe(Flag.withDescription("Every execution"), Flag.withDefault(false)),
  yes: Flag.Boolean("yes").pipe(
    Flag.withDescription("Do not ask about all matching executions; needed without a terminal"),
    Flag.withDefault(false)
  ),
  ...flags
}

interface Target extends GivenFilter {
  readonly execution: Option.Option<string>
  readonly all: boolean
  readonly yes: boolean
  readonly json: boolean
  readonly url: Option.Option<string>
}

type ForOne = Readonly<
  Record<FlowCommand, (execution: string, options: CommandOptions) => Effect.Effect<void, FlowManagementError>>
>

/** What is said after a command, of one execution and of several. */
const said: Readonly<Record<FlowCommand, { readonly one: string; readonly many: string }>> = {
  cancel: {
    one: "cancellation requested; compensated steps are undone",
    many: "will be cancelled; compensated steps are undone"
  },
  terminate: { one: "terminated; nothing was undone", many: "terminated; nothing was undone" },
  suspend: {
    one: "will be suspended when its running steps have ended",
    many: "will be suspended when their running steps have ended"
  },
  resume: { one: "continues", many: "continue" },
  retry: { one: "runs again", many: "run again" }
}

/** The commands that do nothing, without a failure, to what has ended. */
const ends: ReadonlySet<FlowCommand> = new Set(["cancel", "terminate"])

const endStates: ReadonlySet<State> = new Set(["completed", "failed", "cancelled"])

/** Runs a command for the named execution, or for all that match. */
const carryOut = Effect.fnUntraced(function* (
  command: FlowCommand,
  { all, execution, json, url, yes, ...given }: Target,
  options: CommandOptions = {}
) {
  const filter = filterOf(given)
  const isFilter = all || Object.keys(filter).length > 0
  if (Option.isSome(execution)) {
    if (isFilter) return yield* refuse("expected the id of an execution or flags that filter, not both")
    const id = execution.value
    const ended = yield* connected(
      url,
      Effect.fnUntraced(function* (flows) {
        const one: ForOne = flows
        const state = ends.has(command) ? (yield* flows.inspect(id)).execution.state : null
        yield* one[command](id, options)
        return state !== null && endStates.has(state) ? state : null
      })
    )
    const told = ended === null ? said[command].one : `has already ended (${ended}); nothing was changed`
    return yield* print(json, { id }, () => `${id} ${told}`)
  }
  if (!isFilter) {
    return yield* refuse(
      "expected the id of an execution; or flags that filter, such as --flow and --state; or --all for every execution"
    )
  }
  if (!yes) {
    if (!(yield* TerminalCapabilities).canPrompt) {
      return yield* refuse(
        `--yes: needed to ${command} all executions that match; list them with \`signalbox flows list\` and the same flags`
      )
    }
    yield* ask(
      all ? `${command} every execution` : `${command} all executions that match`,
      `list them with \`signalbox flows list\`${all ? "" : " and the same flags"}`
    )
  }
  const carried = yield* connected(url, (flows) =>
    flows.each(filter, command, { ...options, ...defined({ all: all || undefined }) })
  )
  yield* print(json, carried, ({ changed, refused }) => {
    const those = refused === 0 ? "" : `; ${refused} refused`
    const { many, one } = said[command]
    return `${changed} ${changed === 1 ? `execution ${one}` : `executions ${many}`}${those}`
  })
})

const cancel = Command.make("cancel", targetFlags, (target) => carryOut("cancel", target)).pipe(
  Command.withDescription("Cancels an execution, or all matching ones, and undoes its compensated steps"),
  Command.withExamples([
    { command: "signalbox flows cancel 0199a1b2-...", description: "Cancel one execution" },
    {
      command: "signalbox flows cancel --flow payments --state waiting --yes",
      description: "Cancel all matching executions without asking"
    }
  ])
)

const terminate = Command.make("terminate", targetFlags, (target) => carryOut("terminate", target)).pipe(
  Command.withDescription("Terminates an execution, or all matching ones, without undoing steps"),
  Command.withExamples([
    {
      command: "signalbox flows terminate 0199a1b2-...",
      description: "Terminate an execution that cannot be cancelled"
    }
  ])
)

const suspend = Command.make("suspend", targetFlags, (target) => carryOut("suspend", target)).pipe(
  Command.withDescription("Suspends an execution, or all matching ones, until resumed"),
  Command.withExamples([
    { command: "signalbox flows suspend --flow payments --yes", description: "Suspend all executions of a flow" }
  ])
)

const resume = Command.make(
  "resume",
  {
    ...targetFlags,
    skip: Flag.String("skip").pipe(
      Flag.withDescription("The path of a call that was undone by hand after its undo failed; may be repeated"),
      Flag.atLeast(0)
    )
  },
  ({ skip, ...target }) => carryOut("resume", target, skip.length === 0 ? {} : { skip })
).pipe(
  Command.withDescription("Resumes a halted or suspended execution, or all matching ones"),
  Command.withExamples([
    { command: "signalbox flows resume 0199a1b2-...", description: "Resume with the same idempotency keys" },
    {
      command: "signalbox flows resume 0199a1b2-... --skip reserve",
      description: "Resume after undoing reserve by hand"
    },
    {
      command: "signalbox flows resume --halted-by-deployment --flow payments --since 2026-11-20T08:00:00Z --yes",
      description: "Continue what a deployment has halted with the one that runs now"
    }
  ])
)

const retry = Command.make(
  "retry",
  {
    ...targetFlags,
    from: Flag.String("from").pipe(
      Flag.withDescription("The path of the step to retry from; default: the step whose failure ended the execution"),
      Flag.optional
    ),
    toVersion: Flag.Finite("to-version").pipe(
      Flag.withDescription("The version to continue with; default: the version of the execution"),
      Flag.optional
    )
  },
  ({ from, toVersion, ...target }) =>
    carryOut("retry", target, defined({ from: Option.getOrUndefined(from), version: Option.getOrUndefined(toVersion) }))
).pipe(
  Command.withDescription("Retries an ended execution from a step, or all matching ones"),
  Command.withExamples([
    { command: "signalbox flows retry 0199a1b2-...", description: "Retry from the failed step" },
    { command: "signalbox flows retry 0199a1b2-... --from startRun", description: "Retry from this step" },
    {
      command: "signalbox flows retry --flow payments --state failed --yes",
      description: "Retry all failed executions of a flow"
    }
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

const length = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description}, such as "10 minutes"`),
    Flag.withMetavar("LENGTH"),
    Flag.withSchema(FlagValues.Length),
    Flag.optional
  )

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
    at: FlagValues.time("at").pipe(
      Flag.withDescription("When it starts, such as 2026-11-20T08:00:00Z; default: immediately"),
      Flag.optional
    ),
    after: length("after", "How long from now it starts"),
    priority: FlagValues.whole("priority", -1_000, 1_000).pipe(
      Flag.withDescription("-1000 to 1000; of those that wait for the limits of the flow, the larger ones begin first"),
      Flag.optional
    ),
    deadline: length("deadline", "How long it may take, waiting included"),
    wait: Flag.Boolean("wait").pipe(
      Flag.withDescription("Wait for the end, and print the result; the exit code is 1 unless it has completed"),
      Flag.withDefault(false)
    ),
    ...flags
  },
  Effect.fnUntraced(function* ({ after, at, deadline, flow, input, json, key, priority, url, wait }) {
    const value = yield* Effect.mapError(decodeJson(yield* givenText("--input", input)), () =>
      refuse("--input: expected JSON, @FILE for a file with JSON, or - for standard input; a text is JSON in quotes")
    )
    yield* connected(
      url,
      Effect.fnUntraced(function* (flows) {
        const when = defined({
          key: Option.getOrUndefined(key),
          at: Option.getOrUndefined(at)?.getTime(),
          after: Option.getOrUndefined(Option.map(after, Duration.toMillis)),
          priority: Option.getOrUndefined(priority),
          deadline: Option.getOrUndefined(Option.map(deadline, Duration.toMillis))
        })
        const started = yield* flows.start({ flow, input: value, ...when })
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
    fork,
    exported,
    check,
    versions,
    schedules
  ])
)
