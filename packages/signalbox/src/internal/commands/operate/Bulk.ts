/** `signalbox bulk`: one operation on all work items, or runs, that match. */
import * as BulkOperations from "@signalbox/api/BulkOperations"
import { BulkFilter, bulkOperations } from "@signalbox/api/contract/BulkOperations"
import { BulkOperationId, FailureId, ProcessRunId, StepId } from "@signalbox/api/contract/Ids"
import { exceptionTypes } from "@signalbox/api/contract/WorkItems"
import { defined } from "@signalbox/transport/Defined"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { createJob, progressLines, watchJob } from "./BulkJob.ts"
import { yesFlag } from "../../resources/Confirm.ts"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"
import * as FlagValues from "../../settings/FlagValues.ts"
import { type Columns, printFields, printList } from "../../output/List.ts"
import { find, limitFlag } from "../../resources/Resource.ts"
import { processNoun } from "../../resources/Processes.ts"

const jobColumns: Columns<BulkOperations.BulkOperation> = {
  id: ({ id }) => id,
  operation: ({ operation }) => operation,
  "created at": ({ created_at }) => created_at,
  state: ({ state }) => state,
  total: ({ total }) => String(total),
  done: ({ done }) => String(done),
  refused: ({ refused }) => String(refused)
}

const jobArgument = Argument.String("job").pipe(
  Argument.withDescription("The id of a bulk operation"),
  Argument.withSchema(BulkOperationId)
)

/** The flags select nothing. */
export class BulkFlagError extends TaggedError<BulkFlagError>()("BulkFlagError", { message: Schema.String }) {}

const timeFlag = (name: string, what: string) =>
  Flag.String(name).pipe(Flag.withDescription(`${what}, such as 2026-11-20T08:15Z`), Flag.optional)

const filterFlags = {
  process: Flag.String("process").pipe(
    Flag.withDescription("Items or runs of this process, by name or id"),
    Flag.optional
  ),
  run: Flag.String("run").pipe(Flag.withDescription("Items of this run"), Flag.withSchema(ProcessRunId), Flag.optional),
  step: Flag.String("step").pipe(
    Flag.withDescription("Items of this step, by id"),
    Flag.withSchema(StepId),
    Flag.optional
  ),
  state: Flag.Literals("state", BulkFilter.fields.state.schema.literals).pipe(
    Flag.withDescription("Items or runs in this state"),
    Flag.optional
  ),
  failure: Flag.String("failure").pipe(
    Flag.withDescription("Items of this group of `signalbox failures list`"),
    Flag.withSchema(FailureId),
    Flag.optional
  ),
  type: Flag.Literals("type", exceptionTypes).pipe(
    Flag.withDescription("Items whose exception is of this type"),
    Flag.optional
  ),
  code: Flag.String("code").pipe(Flag.withDescription("Items whose exception has this code"), Flag.optional),
  reference: Flag.String("reference").pipe(Flag.withDescription("Items with this reference"), Flag.optional),
  tag: Flag.String("tag").pipe(Flag.withDescription("Items with this tag"), Flag.optional),
  id: Flag.String("id").pipe(Flag.withDescription("The item or run with this id; may be repeated"), Flag.atLeast(0)),
  createdAfter: timeFlag("created-after", "Created after this time"),
  createdBefore: timeFlag("created-before", "Created before this time"),
  updatedAfter: timeFlag("updated-after", "Items that failed, or entered their state, after this time"),
  updatedBefore: timeFlag("updated-before", "Items that failed, or entered their state, before this time"),
  everything: Flag.Boolean("everything").pipe(
    Flag.withDescription("All items or runs; needed without another filter than --state"),
    Flag.withDefault(false)
  )
}

const create = Command.make(
  "create",
  {
    operation: Argument.Literals("operation", bulkOperations).pipe(
      Argument.withDescription(`The operation: ${bulkOperations.join(", ")}`)
    ),
    ...filterFlags,
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withDescription("Count the matches and change nothing"),
      Flag.withDefault(false)
    ),
    watch: Flag.Boolean("watch").pipe(
      Flag.withDescription("Print the progress until the operation has ended"),
      Flag.withDefault(false)
    ),
    yes: yesFlag,
    ...connectionFlags
  },
  Effect.fnUntraced(function* (flags) {
    const { data, dryRun, json, operation, process, watch, yes } = flags
    const program = Effect.gen(function* () {
      const filter: BulkOperations.BulkFilter = {
        ...defined({ process_id: Option.isSome(process) ? (yield* find(processNoun, process.value)).id : undefined }),
        ...FlagValues.given("process_run_id", flags.run),
        ...FlagValues.given("step_id", flags.step),
        ...FlagValues.given("state", flags.state),
        ...FlagValues.given("failure_id", flags.failure),
        ...FlagValues.given("type", flags.type),
        ...FlagValues.given("code", flags.code),
        ...FlagValues.given("reference", flags.reference),
        ...FlagValues.given("tag", flags.tag),
        ...defined({ ids: flags.id.length === 0 ? undefined : flags.id }),
        ...FlagValues.given("created_after", flags.createdAfter),
        ...FlagValues.given("created_before", flags.createdBefore),
        ...FlagValues.given("state_updated_after", flags.updatedAfter),
        ...FlagValues.given("state_updated_before", flags.updatedBefore),
        ...defined({ everything: flags.everything || undefined })
      }
      if (Object.keys(filter).length === 0) {
        return yield* new BulkFlagError({
          message: `${operation}: add a filter, such as --process or --state, or --everything`
        })
      }
      if (dryRun) {
        const total = yield* BulkOperations.count(operation, filter)
        return yield* print(json, { total }, () => `${total} match`)
      }
      const job = yield* createJob(operation, filter, yes)
      if (job === null) return yield* print(json, { total: 0 }, () => "no matches")
      if (watch) return yield* Effect.asVoid(watchJob(json, job.id))
      yield* print(
        json,
        job,
        () => `operation ${job.id} created for ${job.total}; watch it with \`signalbox bulk watch ${job.id}\``
      )
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Creates a bulk operation; asks first for more than 100 items or runs"),
  Command.withExamples([
    {
      command: "signalbox bulk create retry --process orders --code TIMEOUT --dry-run",
      description: "Count the matching items"
    },
    {
      command: "signalbox bulk create retry --process orders --code TIMEOUT --watch",
      description: "Retry them and print the progress"
    },
    {
      command: "signalbox bulk create start_again --process orders --state unresolved --yes",
      description: "Start new runs with the same inputs"
    }
  ])
)

const list = Command.make(
  "list",
  { limit: limitFlag, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, limit }) {
    const all = BulkOperations.stream()
    const found = Option.isSome(limit) ? Stream.take(all, limit.value) : all
    const none = "No bulk operations in the last 30 days: create one with `signalbox bulk create`"
    yield* connected(data)(printList(json, found, jobColumns, none))
  })
).pipe(
  Command.withDescription("Lists the bulk operations of the last 30 days, newest first"),
  Command.withExamples([{ command: "signalbox bulk list", description: "List bulk operations with their progress" }])
)

const show = Command.make(
  "show",
  { job: jobArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, job, json }) {
    yield* printFields(json, yield* connected(data)(BulkOperations.get(job)))
  })
).pipe(
  Command.withDescription("Shows a bulk operation with its filter, progress and refusals"),
  Command.withExamples([{ command: "signalbox bulk show 0199a1b2-...", description: "Show one bulk operation" }])
)

const cancel = Command.make(
  "cancel",
  { job: jobArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, job, json }) {
    const program = Effect.gen(function* () {
      yield* BulkOperations.cancel(job)
      yield* print(json, yield* BulkOperations.get(job), progressLines)
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Cancels a bulk operation; changes already made stay"),
  Command.withExamples([
    { command: "signalbox bulk cancel 0199a1b2-...", description: "Cancel and print the progress" }
  ])
)

const watch = Command.make(
  "watch",
  { job: jobArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, job, json }) {
    yield* connected(data)(watchJob(json, job))
  })
).pipe(
  Command.withDescription("Prints the progress of a bulk operation until it has ended"),
  Command.withExamples([
    { command: "signalbox bulk watch 0199a1b2-...", description: "Ctrl-C ends the output, not the operation" }
  ])
)

export const bulk = Command.make("bulk").pipe(
  Command.withDescription("Retries, completes or deletes all matching work items, or reruns all matching runs"),
  Command.withSubcommands([create, list, show, cancel, watch])
)
