/** `signalbox failures`: failed work items in groups of those that failed alike. */
import * as Failures from "@signalbox/api/Failures"
import { failureStates } from "@signalbox/api/contract/Failures"
import { FailureId } from "@signalbox/api/contract/Ids"
import { defined } from "@signalbox/transport/Defined"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { createJob, watchJob } from "./BulkJob.ts"
import { yesFlag } from "../../resources/Confirm.ts"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"
import { type Columns, printFields, printList } from "../../output/List.ts"
import { find } from "../../resources/Resource.ts"
import { processNoun } from "../../resources/Processes.ts"

const failureColumns: Columns<Failures.Failure> = {
  id: ({ id }) => id,
  count: ({ count }) => String(count),
  "last failed": ({ last_failed_at }) => last_failed_at ?? "",
  process: ({ process }) => process.name,
  step: ({ step }) => step?.name ?? "",
  problem: ({ code, message, type }) => `${type} ${code}: ${message}`,
  state: ({ muted_until, state }) => (muted_until === null ? state : `${state} until ${muted_until}`),
  assignee: ({ assignee }) => assignee ?? ""
}

const failureArgument = Argument.String("failure").pipe(
  Argument.withDescription("The id of a group, from `signalbox failures list`"),
  Argument.withSchema(FailureId)
)

const list = Command.make(
  "list",
  {
    process: Flag.String("process").pipe(
      Flag.withDescription("Only failures of this process, by name or id"),
      Flag.optional
    ),
    state: Flag.Literals("state", failureStates).pipe(
      Flag.withDescription("Only groups in this state; default: those with failed items"),
      Flag.optional
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, process, state }) {
    const program = Effect.gen(function* () {
      const of = Option.isNone(process) ? {} : { process: (yield* find(processNoun, process.value)).id }
      const found = yield* Stream.runCollect(
        Failures.stream({ ...of, state: Option.getOrUndefined(state), limit: 500 })
      )
      const sorted = found.toSorted((a, b) => b.count - a.count)
      yield* printList(json, Stream.fromIterable(sorted), failureColumns, "No failures: no work item is failed")
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Lists groups of similar failures, largest first"),
  Command.withExamples([
    {
      command: "signalbox failures list --process orders",
      description: "List the failures of a process with their counts"
    }
  ])
)

const show = Command.make(
  "show",
  { failure: failureArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, failure, json }) {
    yield* printFields(json, yield* connected(data)(Failures.get(failure)))
  })
).pipe(
  Command.withDescription("Shows a group of failures with examples of its work items"),
  Command.withExamples([{ command: "signalbox failures show 4be1...", description: "Show one group" }])
)

/** What people say of a group, with any change. */
const remarks = {
  note: Flag.String("note").pipe(
    Flag.withDescription("A note for other users; an empty text removes it"),
    Flag.optional
  ),
  assignee: Flag.String("assignee").pipe(Flag.withDescription("The assignee; an empty text removes it"), Flag.optional)
}

const remark = (flag: Option.Option<string>) =>
  Option.getOrElse(flag, () => "") === "" ? null : Option.getOrNull(flag)

const changed = (
  name: string,
  description: string,
  example: string,
  change: (failure: FailureId) => ReturnType<typeof Failures.reopen>
) =>
  Command.make(
    name,
    { failure: failureArgument, ...remarks, ...connectionFlags },
    Effect.fnUntraced(function* ({ assignee, data, failure, json, note }) {
      const program = Effect.gen(function* () {
        const done = yield* change(failure)
        const said = defined({
          note: Option.isSome(note) ? remark(note) : undefined,
          assignee: Option.isSome(assignee) ? remark(assignee) : undefined
        })
        yield* printFields(json, Object.keys(said).length === 0 ? done : yield* Failures.update(failure, said))
      })
      yield* connected(data)(program)
    })
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([{ command: `signalbox failures ${name} ${example}`, description: "Change one group" }])
  )

const mute = Command.make(
  "mute",
  {
    failure: failureArgument,
    until: Flag.String("until").pipe(
      Flag.withDescription("Until this time, such as 2026-11-20T08:15Z; default: until the group is reopened"),
      Flag.withSchema(Schema.DateFromString.check(Schema.makeFilter((time) => !Number.isNaN(time.getTime())))),
      Flag.optional
    ),
    note: remarks.note,
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, failure, json, note, until }) {
    const program = Effect.gen(function* () {
      const muted = yield* Failures.mute(failure, Option.isSome(until) ? { until: until.value } : {})
      yield* printFields(json, Option.isNone(note) ? muted : yield* Failures.update(failure, { note: remark(note) }))
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Mutes a group: it triggers no alerts, and stays in the list"),
  Command.withExamples([
    {
      command: 'signalbox failures mute 4be1... --until 2099-12-01T00:00Z --note "the supplier knows"',
      description: "Mute until a time, with a note"
    }
  ])
)

const retry = Command.make(
  "retry",
  { failure: failureArgument, yes: yesFlag, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, failure, json, yes }) {
    const program = Effect.gen(function* () {
      yield* Failures.get(failure)
      const job = yield* createJob("retry", { failure_id: failure }, yes)
      if (job === null) return yield* print(json, { total: 0 }, () => "no failed work items in this group")
      yield* Console.error(`Bulk operation ${job.id}: cancel it with \`signalbox bulk cancel ${job.id}\``)
      yield* watchJob(json, job.id)
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Retries all work items of a group and prints the progress; asks first for more than 100"),
  Command.withExamples([
    { command: "signalbox failures retry 4be1... --yes", description: "Retry all work items of the group" }
  ])
)

export const failures = Command.make("failures").pipe(
  Command.withDescription("Lists, shows, mutes, resolves, reopens and retries groups of failures"),
  Command.withSubcommands([
    list,
    show,
    mute,
    changed(
      "resolve",
      "Resolves a group without failed items; it is reopened when a similar failure occurs",
      "4be1...",
      Failures.resolve
    ),
    changed("reopen", "Reopens a group that is muted or resolved", "4be1... --assignee Ada", Failures.reopen),
    retry
  ])
)
