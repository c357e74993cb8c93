/** `signalbox flows`: operates the durable flows of a program that mounts `FlowManagement.layerRoutes`. */
import {
  type Command as FlowCommand,
  type CommandOptions,
  type Filter,
  type State,
  states
} from "@signalbox/flows/FlowExecutions"
import { type FlowManagementError, onWire } from "@signalbox/flows/FlowManagementClient"
import { defined } from "@signalbox/transport/Defined"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
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
import { executionLine, report } from "../../output/FlowReport.ts"
import { connected, flags, refuse } from "../../connection/FlowsConnection.ts"
import { check } from "./FlowsCheck.ts"
import { schedules } from "./FlowsSchedules.ts"
import * as FlagValues from "../../settings/FlagValues.ts"

const only = (name: string, what: string) =>
  Flag.String(name).pipe(Flag.withDescription(`Only executions ${what}`), Flag.optional)
const when = (name: string, what: string) =>
  FlagValues.time(name).pipe(
    Flag.withDescription(`Only executions that began ${what}, such as 2026-11-20T08:00:00Z`),
    Flag.optional
  )

const filterFlags = {
  flow: only("flow", "of this flow"),
  version: Flag.Finite("flow-version").pipe(Flag.withDescription("Only executions of this version"), Flag.optional),
  key: only("key", "with this idempotency key"),
  state: Flag.Literals("state", states).pipe(Flag.withDescription("Only executions in this state"), Flag.optional),
  tag: only("tag", "with this tag"),
  startedFrom: when("started-from", "at this time or later"),
  startedBefore: when("started-before", "before this time")
}

interface GivenFilter {
  readonly flow: Option.Option<string>
  readonly version: Option.Option<number>
  readonly key: Option.Option<string>
  readonly state: Option.Option<(typeof states)[number]>
  readonly tag: Option.Option<string>
  readonly startedFrom: Option.Option<Date>
  readonly startedBefore: Option.Option<Date>
}

const filterOf = ({ flow, key, startedBefore, startedFrom, state, tag, version }: GivenFilter): Filter =>
  defined({
    flow: Option.getOrUndefined(flow),
    version: Option.getOrUndefined(version),
    key: Option.getOrUndefined(key),
    state: Option.getOrUndefined(state),
    tag: Option.getOrUndefined(tag),
    startedFrom: Option.getOrUndefined(startedFrom)?.getTime(),
    startedBefore: Option.getOrUndefined(startedBefore)?.getTime()
  })

const list = Command.make(
  "list",
  {
    ...filterFlags,
    limit: FlagValues.limit.pipe(Flag.withDescription("How many, the newest first"), Flag.withDefault(100)),
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
  Command.withDescription(
    "Lists executions of flows, the newest first, of all versions: state, age, flow, key, and why"
  ),
  Command.withExamples([
    { command: "signalbox flows list --state halted", description: "What needs a person or a deployment" },
    { command: "signalbox flows list --flow payments --state running --json", description: "For programs" }
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
      Flag.withDescription("Print the attempts of this step with input, result and stack, a line of JSON each"),
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
  Command.withDescription(
    "Shows where an execution stands: what each branch does or waits for, its undos and its steps"
  ),
  Command.withExamples([
    { command: "signalbox flows show 0199a1b2-...", description: "At a glance" },
    { command: "signalbox flows show 0199a1b2-... --step startRun", description: "Its input and result" },
    { command: "signalbox flows show 0199a1b2-... --mermaid > flow.mmd", description: "As a diagram" }
  ])
)

const exported = Command.make("export", { execution, url: flags.url }, ({ execution, url }) =>
  connected(url, (flows) =>
    Effect.flatMap(flows.history(execution), (history) => Console.log(JSON.stringify(onWire.history(history))))
  )
).pipe(
  Command.withDescription("Prints all that is recorded of an execution as JSON, for a test of changed code"),
  Command.withExamples([{ command: "signalbox flows export 0199a1b2-... > history.json", description: "Into a file" }])
)

// ---- commands

const targetFlags = {
  execution: Argument.optional(execution),
  ...filterFlags,
  all: Flag.Boolean("all").pipe(Flag.withDescription("Every execution"), Flag.withDefault(false)),
  yes: Flag.Boolean("yes").pipe(
    Flag.withDescription("For all executions that match, without asking; needed where there is no terminal to ask on"),
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
    one: "is asked to end; its steps are undone where the flow defines it",
    many: "are asked to end; their steps are undone where the flow defines it"
  },
  terminate: { one: "has ended; nothing was undone", many: "have ended; nothing was undone" },
  suspend: {
    one: "is suspended once the steps that run have ended",
    many: "are suspended once the steps that run have ended"
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
    const told = ended === null ? said[command].one : `has ended already (${ended}); nothing was changed`
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
        `--yes: needed to ${command} all executions that match; \`signalbox flows list\` with the same flags shows them`
      )
    }
    yield* ask(
      all ? `${command} every execution` : `${command} all executions that match`,
      `\`signalbox flows list\`${all ? "" : " with the same flags"} shows them`
    )
  }
  const carried = yield* connected(url, (flows) =>
    flows.each(filter, command, { ...options, ...defined({ all: all || undefined }) })
  )
  yield* print(json, carried, ({ changed, refused }) => {
    const those = refused === 0 ? "" : `; ${refused} refused it`
    const { many, one } = said[command]
    return `${changed} ${changed === 1 ? `execution ${one}` : `executions ${many}`}${those}`
  })
})

const cancel = Command.make("cancel", targetFlags, (target) => carryOut("cancel", target)).pipe(
  Command.withDescription("Ends an execution, or all that match, and undoes what its flow compensates"),
  Command.withExamples([
    { command: "signalbox flows cancel 0199a1b2-...", description: "Safe to repeat" },
    { command: "signalbox flows cancel --flow payments --state waiting --yes", description: "All that match" }
  ])
)

const terminate = Command.make("terminate", targetFlags, (target) => carryOut("terminate", target)).pipe(
  Command.withDescription("Ends an execution, or all that match, as it stands: nothing is undone"),
  Command.withExamples([{ command: "signalbox flows terminate 0199a1b2-...", description: "When cancel cannot help" }])
)

const suspend = Command.make("suspend", targetFlags, (target) => carryOut("suspend", target)).pipe(
  Command.withDescription("Pauses an execution, or all that match, until they are resumed"),
  Command.withExamples([{ command: "signalbox flows suspend --flow payments --yes", description: "A whole flow" }])
)

const resume = Command.make(
  "resume",
  {
    ...targetFlags,
    skip: Flag.String("skip").pipe(
      Flag.withDescription("The path of a call whose undo failed and was done by hand; may be repeated"),
      Flag.atLeast(0)
    )
  },
  ({ skip, ...target }) => carryOut("resume", target, skip.length === 0 ? {} : { skip })
).pipe(
  Command.withDescription("Lets an execution continue that is halted or suspended, or all that match"),
  Command.withExamples([
    { command: "signalbox flows resume 0199a1b2-...", description: "With the same idempotency keys" },
    {
      command: "signalbox flows resume 0199a1b2-... --skip reserve",
      description: "The undo of reserve was done by hand"
    }
  ])
)

const retry = Command.make(
  "retry",
  {
    ...targetFlags,
    from: Flag.String("from").pipe(
      Flag.withDescription("The path of the step to begin with; default: the step whose failure ended the execution"),
      Flag.optional
    ),
    toVersion: Flag.Finite("to-version").pipe(
      Flag.withDescription("The version that continues; default: that of the execution"),
      Flag.optional
    )
  },
  ({ from, toVersion, ...target }) =>
    carryOut("retry", target, defined({ from: Option.getOrUndefined(from), version: Option.getOrUndefined(toVersion) }))
).pipe(
  Command.withDescription("Runs an ended execution again from a step on, or all that match"),
  Command.withExamples([
    { command: "signalbox flows retry 0199a1b2-...", description: "From the step that failed" },
    { command: "signalbox flows retry 0199a1b2-... --from startRun", description: "From this step on" },
    { command: "signalbox flows retry --flow payments --state failed --yes", description: "All that failed" }
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
      Argument.withDescription("Its name, with its key as in 'price[a]'; `signalbox flows show` says what is awaited")
    ),
    value: Flag.String("value").pipe(Flag.withDescription("The value, as JSON"), Flag.optional),
    approve: Flag.Boolean("approve").pipe(Flag.withDescription("Approve"), Flag.withDefault(false)),
    reject: Flag.Boolean("reject").pipe(Flag.withDescription("Refuse to approve"), Flag.withDefault(false)),
    by: Flag.String("by").pipe(
      Flag.withDescription("Who approves or refuses; a control room records the name of the key"),
      Flag.optional
    ),
    comment: Flag.String("comment").pipe(Flag.withDescription("Why"), Flag.optional),
    id: Flag.String("id").pipe(
      Flag.withDescription("Of a message of an inbox: sent again with the same id it is received once"),
      Flag.optional
    ),
    ...flags
  },
  Effect.fnUntraced(function* ({ execution, id, json, signal, url, ...decision }) {
    const value = yield* valueOf(decision)
    const options = Option.isSome(id) ? { id: id.value } : {}
    yield* connected(url, (flows) => flows.signal(execution, signal, value, options))
    yield* print(json, { id: execution, signal }, () => `${execution} has ${signal}`)
  })
).pipe(
  Command.withDescription("Sends a value, or the decision of a person, to a signal or an inbox of an execution"),
  Command.withExamples([
    { command: "signalbox flows signal 0199a1b2-... approval --approve --by ann", description: "A decision" },
    { command: "signalbox flows signal 0199a1b2-... day --value '\"2026-11-21\"'", description: "Any value" }
  ])
)

export const flows = Command.make("flows").pipe(
  Command.withDescription("Lists, shows and operates durable flows of a program"),
  Command.withSubcommands([list, show, signal, cancel, terminate, suspend, resume, retry, exported, check, schedules])
)
