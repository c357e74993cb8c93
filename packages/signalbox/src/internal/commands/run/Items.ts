/** `signalbox items`: reads work items, edits them, and settles failed ones. */
import { ProcessRunId } from "@signalbox/api/contract/Ids"
import { dueStates } from "@signalbox/api/contract/Order"
import { workItemStates } from "@signalbox/api/contract/WorkItems"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { confirm, yesFlag } from "../../resources/Confirm.ts"
import { columns, connected, connectionFlags, print } from "../../connection/Connection.ts"
import { type Columns, printList } from "../../output/List.ts"
import { createItem, itemFlags } from "../../resources/NewItem.ts"
import { orderFlags, orderOf } from "../../resources/OrderFlags.ts"
import { find, nameArgument } from "../../resources/Resource.ts"
import { processNoun } from "../../resources/Processes.ts"
import * as FlagValues from "../../settings/FlagValues.ts"
import { attach, edit, itemArgument } from "./ItemsEdit.ts"

const problemOf = ({ exception }: WorkItems.WorkItemListed) =>
  exception === null ? "" : `${exception.type} ${exception.code}: ${exception.message}`

const itemColumns: Columns<WorkItems.WorkItemListed> = {
  id: ({ id }) => id,
  state: ({ due_state, state }) => (due_state === null || due_state === "on_time" ? state : `${state}, ${due_state}`),
  "created at": ({ created_at }) => created_at,
  problem: problemOf
}

const itemLine = (item: WorkItems.WorkItemListed) =>
  columns([item.id, 36], [item.state, 11], [item.created_at, 24], [problemOf(item), 0])

const list = Command.make(
  "list",
  {
    process: Flag.String("process").pipe(
      Flag.withDescription("Only items of this process, by name or id"),
      Flag.optional
    ),
    run: Flag.String("run").pipe(
      Flag.withDescription("Only items of this run"),
      Flag.withSchema(ProcessRunId),
      Flag.optional
    ),
    state: Flag.Literals("state", workItemStates).pipe(Flag.withDescription("Only items in this state"), Flag.optional),
    reference: Flag.String("reference").pipe(Flag.withDescription("Only items with this reference"), Flag.optional),
    tag: Flag.String("tag").pipe(Flag.withDescription("Only items with this tag"), Flag.optional),
    due: Flag.Literals("due", dueStates).pipe(
      Flag.withDescription("Only open items with a due time: late, at_risk (a fifth of the time is left) or on_time"),
      Flag.optional
    ),
    limit: FlagValues.limit.pipe(Flag.withDescription("How many, newest first"), Flag.withDefault(100)),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, due, json, limit, process, reference, run, state, tag }) {
    const filter = {
      processRun: Option.getOrUndefined(run),
      state: Option.getOrUndefined(state),
      reference: Option.getOrUndefined(reference),
      tag: Option.getOrUndefined(tag),
      dueState: Option.getOrUndefined(due)
    }
    const program = Effect.gen(function* () {
      const of = Option.isNone(process) ? {} : { process: (yield* find(processNoun, process.value)).id }
      const found = Stream.take(WorkItems.stream({ ...of, ...filter }), limit)
      yield* printList(json, found, itemColumns, "No matching work items")
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Lists work items, newest first"),
  Command.withExamples([
    {
      command: "signalbox items list --run 0199a1b2-... --state failed",
      description: "List the failed items of a run with their errors"
    },
    {
      command: "signalbox items list --process orders --state new",
      description: "List the items that wait in a process"
    },
    { command: "signalbox items list --due late", description: "List late items" }
  ])
)

const show = Command.make(
  "show",
  { item: itemArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, item, json }) {
    const found = yield* connected(data)(WorkItems.getExact(item))
    if (json) return yield* Console.log(JSON.stringify(found))
    yield* Console.log(itemLine(found))
    yield* Console.log(JSON.stringify(found.payload, null, 2))
    if (found.masked.length > 0) {
      yield* Console.log(
        `secret, and null above: ${found.masked.join(", ")}; a key with Processes.read_sensitive shows them`
      )
    }
    for (const file of found.files) yield* Console.log(columns([file.name, 40], [`${file.size} bytes`, 0]))
  })
).pipe(
  Command.withDescription("Shows a work item with its payload and files"),
  Command.withExamples([{ command: "signalbox items show 0199a1b2-...", description: "Show one item" }])
)

const create = Command.make(
  "create",
  { process: nameArgument(processNoun), ...itemFlags, ...orderFlags, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, file, json, payload, process, ...order }) {
    const created = Effect.flatMap(find(processNoun, process), ({ id }) =>
      createItem(id, { payload, file }, orderOf(order))
    )
    const { id } = yield* connected(data)(created)
    yield* print(json, { id }, () => `created item ${id}; start a run with it: \`signalbox run ${process} --inputs\``)
  })
).pipe(
  Command.withDescription("Creates a work item in the queue of a process"),
  Command.withExamples([
    {
      command: 'signalbox items create orders --payload \'{"day":"today"}\'',
      description: "Then run signalbox run orders --inputs"
    },
    {
      command: "signalbox items create orders --priority 50 --reference order-4711 --tag express",
      description: "Create an item with priority; refused while order-4711 is open"
    }
  ])
)

const reveal = Command.make(
  "reveal",
  {
    item: itemArgument,
    pointers: Argument.String("pointer").pipe(
      Argument.withDescription("A JSON pointer to a secret field of the payload; may be repeated"),
      Argument.variadic({ min: 1 })
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, item, json, pointers }) {
    const values = yield* connected(data)(WorkItems.reveal(item, pointers))
    yield* print(json, values, () =>
      pointers.map((pointer) => columns([pointer, 30], [JSON.stringify(values[pointer] ?? null), 0])).join("\n")
    )
  })
).pipe(
  Command.withDescription("Prints secret fields of a payload, which leaves an entry in the audit"),
  Command.withExamples([
    { command: "signalbox items reveal 0199a1b2-... /customer/iban", description: "Print one secret field" }
  ])
)

const operations = {
  retry: { apply: WorkItems.retry, description: "Retries failed items", said: "retried" },
  done: { apply: WorkItems.markAsDone, description: "Marks failed items as done", said: "marked as done" },
  delete: { apply: WorkItems.remove, description: "Deletes items irreversibly", said: "deleted" }
} as const

const counted = (n: number, what: string) => `${n} ${n === 1 ? what : `${what}s`}`

/** What remains of earlier attempts, if anything does. */
const passedOn = (name: keyof typeof operations, outputs: number) =>
  outputs === 0
    ? []
    : [`${counted(outputs, "output")} of earlier attempts ${name === "retry" ? "may be created again" : "unchanged"}`]

const settle = (name: keyof typeof operations) => {
  const { apply, description, said } = operations[name]
  return Command.make(
    name,
    { items: Argument.variadic(itemArgument, { min: 1 }), yes: yesFlag, ...connectionFlags },
    Effect.fnUntraced(function* ({ data, items, json, yes }) {
      const asked =
        name === "delete" && items.length > 1 ? confirm(`delete ${items.length} work items`, yes) : Effect.void
      const { outputs_passed_on } = yield* connected(data)(Effect.andThen(asked, apply(items)))
      yield* print(json, { work_item_ids: items, outputs_passed_on }, () =>
        [`${counted(items.length, "item")} ${said}`, ...passedOn(name, outputs_passed_on)].join("; ")
      )
    })
  ).pipe(
    Command.withDescription(`${description}, all or none`),
    Command.withExamples([
      {
        command: `signalbox items ${name} 0199a1b2-... 0199a1b3-...${name === "delete" ? " --yes" : ""}`,
        description: "Change two items"
      }
    ])
  )
}

export const items = Command.make("items").pipe(
  Command.withDescription("Lists, shows, creates, edits, retries and deletes work items"),
  Command.withSubcommands([list, show, reveal, create, edit, attach, settle("retry"), settle("done"), settle("delete")])
)
