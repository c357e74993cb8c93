/** The commands of `signalbox flows` for one execution, or for all that match. */
import { type Command as FlowCommand, type CommandOptions, type State } from "@signalbox/flows/FlowExecutions"
import type { FlowManagementError } from "@signalbox/flows/FlowManagementClient"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { ask } from "../../resources/Confirm.ts"
import { print } from "../../connection/Connection.ts"
import { connected, flags, refuse } from "../../connection/FlowsConnection.ts"
import { execution, filterFlags, filterOf, type GivenFilter } from "./FlowsFilter.ts"
import { whenFlags, whenOf } from "./FlowsWhen.ts"

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
  retry: { one: "runs again", many: "run again" },
  reschedule: { one: "is rescheduled", many: "are rescheduled" }
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

export const cancel = Command.make("cancel", targetFlags, (target) => carryOut("cancel", target)).pipe(
  Command.withDescription("Cancels an execution, or all matching ones, and undoes its compensated steps"),
  Command.withExamples([
    { command: "signalbox flows cancel 0199a1b2-...", description: "Cancel one execution" },
    {
      command: "signalbox flows cancel --flow payments --state waiting --yes",
      description: "Cancel all matching executions without asking"
    }
  ])
)

export const terminate = Command.make("terminate", targetFlags, (target) => carryOut("terminate", target)).pipe(
  Command.withDescription("Terminates an execution, or all matching ones, without undoing steps"),
  Command.withExamples([
    {
      command: "signalbox flows terminate 0199a1b2-...",
      description: "Terminate an execution that cannot be cancelled"
    }
  ])
)

export const suspend = Command.make("suspend", targetFlags, (target) => carryOut("suspend", target)).pipe(
  Command.withDescription("Suspends an execution, or all matching ones, until resumed"),
  Command.withExamples([
    { command: "signalbox flows suspend --flow payments --yes", description: "Suspend all executions of a flow" }
  ])
)

export const resume = Command.make(
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

export const retry = Command.make(
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

export const reschedule = Command.make(
  "reschedule",
  { ...targetFlags, ...whenFlags },
  Effect.fnUntraced(function* ({ after, at, deadline, priority, ...target }) {
    const when = whenOf({ after, at, deadline, priority })
    if (Object.keys(when).length === 0) return yield* refuse("expected --at, --after, --priority or --deadline")
    if (Option.isSome(at) && Option.isSome(after)) return yield* refuse("--at: expected none beside --after")
    yield* carryOut("reschedule", target, when)
  })
).pipe(
  Command.withDescription(
    "Changes when an execution starts that has not begun, its priority or its deadline, or of all matching ones"
  ),
  Command.withExamples([
    {
      command: 'signalbox flows reschedule 0199a1b2-... --after "1 hour" --priority 5',
      description: "Start it in an hour, before others with its keys"
    },
    {
      command: "signalbox flows reschedule --flow letters --state queued --tag 'customer 17' --priority 10 --yes",
      description: "Let all that is queued with a tag begin first"
    }
  ])
)
