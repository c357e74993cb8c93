/** `signalbox workers`: the workers that a workspace knows. */
import * as Workers from "@signalbox/api/Workers"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../connection/Connection.ts"
import { printFields } from "../output/List.ts"
import { pauseCommands, pausedText } from "./Pausing.ts"
import { deleteCommand, find, listCommand, nameArgument, type Noun, showCommand } from "./Resource.ts"

export const workerNoun: Noun<Workers.Worker> = {
  one: "worker",
  many: "workers",
  command: "workers",
  list: (only) => Workers.stream({ limit: 500, ...only }),
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: {
    id: ({ id }) => id,
    state: ({ draining, state }) => (draining ? `${state}, draining` : state),
    name: ({ name }) => name,
    labels: ({ labels }) => labels.join(" "),
    paused: ({ paused }) => pausedText(paused)
  },
  first: "link one with `signalbox worker link-token` and `signalbox worker start`"
}

const rename = Command.make(
  "rename",
  {
    worker: nameArgument(workerNoun),
    name: Argument.String("name").pipe(Argument.withDescription("The new name")),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, name, worker }) {
    const renamed = Effect.flatMap(find(workerNoun, worker), ({ id }) => Workers.rename(id, name))
    yield* printFields(json, yield* connected(data)(renamed))
  })
).pipe(
  Command.withDescription("Renames a worker"),
  Command.withExamples([{ command: "signalbox workers rename local-1 desk", description: "Change only the name" }])
)

/** Also below `signalbox worker`. */
export const drain = Command.make(
  "drain",
  {
    worker: nameArgument(workerNoun),
    wait: Flag.Boolean("wait").pipe(
      Flag.withDescription("Wait until all step runs of the worker have ended"),
      Flag.withDefault(false)
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, wait, worker }) {
    const program = Effect.gen(function* () {
      const { id } = yield* find(workerNoun, worker)
      const drained = yield* Workers.drain(id)
      if (!wait) return drained
      return yield* Effect.repeat(Workers.get(id), {
        schedule: Schedule.spaced("1 second"),
        until: ({ state }) => state !== "busy"
      })
    })
    yield* printFields(json, yield* connected(data)(program))
  })
).pipe(
  Command.withDescription("Drains a worker: it finishes its step runs, accepts no more and ends"),
  Command.withExamples([
    {
      command: "signalbox worker drain desk",
      description: "Drain from any machine; on the machine of the worker, SIGTERM does the same"
    },
    { command: "signalbox worker drain desk --wait", description: "Drain before the machine is restarted" }
  ])
)

export const workers = Command.make("workers").pipe(
  Command.withDescription("Lists, shows, renames, drains, pauses and deletes the workers of the workspace"),
  Command.withSubcommands([
    listCommand(workerNoun),
    showCommand(workerNoun, ({ id }) => Workers.get(id)),
    rename,
    drain,
    ...pauseCommands(
      workerNoun,
      { pause: ({ id }, options) => Workers.pause(id, options), resume: ({ id }) => Workers.resume(id) },
      false
    ),
    deleteCommand(workerNoun, ({ id }) => Workers.remove(id))
  ])
)
