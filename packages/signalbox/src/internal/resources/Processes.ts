/** `signalbox processes`: what can be run. */
import * as Processes from "@signalbox/api/Processes"
import { defined } from "@signalbox/transport/Defined"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../connection/Connection.ts"
import { moduleOf } from "../files/ProcessModule.ts"
import { type Columns, printFields, printList } from "../output/List.ts"
import { suggest } from "@signalbox/transport/Suggestions"
import { deleteCommand, find, listCommand, nameArgument, NameError, type Noun, showCommand } from "./Resource.ts"
import { pauseCommands, pausedText } from "./Pausing.ts"
import { groupNoun } from "./WorkerGroups.ts"
import { packageNoun } from "./Packages.ts"

export const processNoun: Noun<Processes.ProcessSummary> = {
  one: "process",
  many: "processes",
  command: "processes",
  list: (only) => Processes.stream({ limit: 500, ...only }),
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: {
    id: ({ id }) => id,
    name: ({ name }) => name,
    "created at": ({ created_at }) => created_at,
    paused: ({ paused }) => pausedText(paused)
  },
  first: "create one with `signalbox processes create` or `signalbox apply`"
}

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("The name of the process")),
    task: Flag.String("task").pipe(
      Flag.withDescription("The task of a step; may be repeated for more steps"),
      Flag.atLeast(1)
    ),
    package: Flag.String("package").pipe(
      Flag.withDescription("The task package of the tasks; default: tasks of workers"),
      Flag.optional
    ),
    group: Flag.String("group").pipe(Flag.withDescription("The worker group that runs the steps"), Flag.optional),
    description: Flag.String("description").pipe(Flag.withDescription("The description of the process"), Flag.optional),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, description, group, json, name, package: given, task }) {
    const program = Effect.gen(function* () {
      const source = Option.isNone(given) ? {} : { package_id: (yield* find(packageNoun, given.value)).id }
      const bound = Option.isNone(group) ? {} : { worker_group: { id: (yield* find(groupNoun, group.value)).id } }
      return yield* Processes.create({
        name,
        ...defined({ description: Option.getOrUndefined(description) }),
        steps: task.map((name) => ({ name, task: { name, ...source }, ...bound }))
      })
    })
    yield* printFields(json, yield* connected(data)(program))
  })
).pipe(
  Command.withDescription(
    "Creates a process with a step for each task; use `signalbox apply` for more options of steps"
  ),
  Command.withExamples([
    {
      command: "signalbox processes create greeting --task greet",
      description: "Create one step, for a task of workers"
    },
    {
      command: 'signalbox processes create orders --package invoices --task "Read orders" --task report',
      description: "Create two steps, for tasks of a package"
    }
  ])
)

const exported = Command.make(
  "export",
  { name: Argument.String("name").pipe(Argument.withDescription("The name or id of a process")), ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, name }) {
    const program = Effect.flatMap(find(processNoun, name), ({ id }) => moduleOf(id))
    const source = yield* connected(data)(program)
    yield* Console.log(json ? JSON.stringify({ name, source }) : source.trimEnd())
  })
).pipe(
  Command.withDescription("Prints a process as a TypeScript module, with payload types inferred from its items"),
  Command.withExamples([
    {
      command: "signalbox processes export orders > orders.ts",
      description: "Then run signalbox apply orders.ts --dry-run"
    }
  ])
)

const limitColumns: Columns<Processes.LimitWait> = {
  step: ({ step }) => step?.name ?? "all",
  limit: ({ kind, limit }) => `${kind} ${limit ?? "lifted"}`,
  "waits for": ({ key, value }) => (key === null ? "any item" : `${key} ${value ?? ""}`),
  waiting: ({ waiting }) => String(waiting),
  since: ({ since }) => since ?? "",
  "in hand": ({ held_by, in_hand, room_at }) =>
    room_at === null
      ? `${in_hand}: ${held_by.map(({ process_run_id }) => `run ${process_run_id}`).join(", ")}`
      : `room at ${room_at}`
}

const limits = Command.make(
  "limits",
  { process: nameArgument(processNoun), ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, process }) {
    const found = Stream.unwrap(
      Effect.map(find(processNoun, process), ({ id }) => Stream.fromIterableEffect(Processes.limits(id)))
    )
    yield* connected(data)(printList(json, found, limitColumns, "Nothing waits for a limit"))
  })
).pipe(
  Command.withDescription("Lists what waits for the limits of a process: for which key, since when, and who has it"),
  Command.withExamples([{ command: "signalbox processes limits orders", description: "What waits longest is first" }])
)

/** The step of a process that has this name or id; `from`: what gives it, for the error. */
const stepNamed = Effect.fnUntraced(function* (
  { id, name }: Processes.ProcessSummary,
  given: string,
  from: "--step" | "step"
) {
  const { steps } = yield* Processes.get(id)
  const step = steps.find((one) => one.name === given || one.id === given)
  const names = steps.map((one) => one.name)
  return (
    step ??
    (yield* new NameError({
      message: `${from}: the process ${name} has no step ${given}: ${suggest(given, names)}; see \`signalbox processes show ${name}\``
    }))
  )
})

/** The id of a step, if one is given. */
const stepOf = (process: Processes.ProcessSummary, given: string | undefined) =>
  given === undefined ? Effect.succeed({}) : Effect.map(stepNamed(process, given, "--step"), ({ id }) => ({ step: id }))

/** Changes the version that a step of a process names; null: the step follows the current one. */
const setPin = Effect.fnUntraced(function* (given: string, stepName: string, version: number | null) {
  const process = yield* find(processNoun, given)
  const { name } = yield* stepNamed(process, stepName, "step")
  const definition = yield* Processes.getDefinition(process.id)
  // With its revision: refused when someone else has changed the process.
  yield* Processes.update(process.id, {
    ...definition,
    steps: definition.steps.map((step) => (step.name === name ? { ...step, task_package_version: version } : step))
  })
  return { id: process.id, name: process.name, step: name, task_package_version: version }
})

const stepArgument = Argument.String("step").pipe(Argument.withDescription("The name or the id of a step"))

const pin = Command.make(
  "pin",
  {
    process: nameArgument(processNoun),
    step: stepArgument,
    version: Argument.Int("version").pipe(
      Argument.withDescription("A version of its task package, as in `signalbox packages versions`")
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, process, step, version }) {
    yield* printFields(json, yield* connected(data)(setPin(process, step, version)))
  })
).pipe(
  Command.withDescription("Pins a step to one version of its task package, for runs that start later"),
  Command.withExamples([{ command: "signalbox processes pin orders 'Read orders' 7", description: "Version 7" }])
)

const unpin = Command.make(
  "unpin",
  { process: nameArgument(processNoun), step: stepArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, process, step }) {
    yield* printFields(json, yield* connected(data)(setPin(process, step, null)))
  })
).pipe(
  Command.withDescription("Unpins a step: runs that start later use the current version of its task package"),
  Command.withExamples([{ command: "signalbox processes unpin orders 'Read orders'", description: "By its name" }])
)

export const processes = Command.make("processes").pipe(
  Command.withDescription("Lists, shows, creates, pins, pauses and deletes processes"),
  Command.withSubcommands([
    listCommand(processNoun),
    showCommand(processNoun, ({ id }) =>
      Effect.map(Effect.all([Processes.get(id), Processes.getDefinition(id)]), ([process, { steps }]) => ({
        ...process,
        definition: { steps }
      }))
    ),
    create,
    exported,
    ...pauseCommands(
      processNoun,
      {
        pause: (process, { step, ...note }) =>
          Effect.flatMap(stepOf(process, step), (ofStep) => Processes.pause(process.id, { ...ofStep, ...note })),
        resume: (process, { step }) =>
          Effect.flatMap(stepOf(process, step), (ofStep) => Processes.resume(process.id, ofStep))
      },
      true
    ),
    limits,
    pin,
    unpin,
    deleteCommand(processNoun, ({ id }) => Processes.remove(id))
  ])
)
