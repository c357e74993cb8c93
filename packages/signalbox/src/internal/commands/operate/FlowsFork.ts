/** `signalbox flows fork`: a new execution that begins with the recorded results before a step. */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { print } from "../../connection/Connection.ts"
import { connected, flags, refuse } from "../../connection/FlowsConnection.ts"
import { execution } from "./FlowsFilter.ts"

const decodeJson = Schema.decodeEffect(Schema.fromJsonString(Schema.Json))

/** The JSON of a file. */
const inputOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(fs.readFileString(file), () =>
    refuse(`--input: cannot read ${file}; check the path, and that you may read it`)
  )
  return yield* Effect.mapError(decodeJson(text), () => refuse(`--input: expected a file with JSON: ${file}`))
})

export const fork = Command.make(
  "fork",
  {
    execution,
    from: Flag.String("from").pipe(
      Flag.withDescription("The path of a recorded step or wait: the fork runs from there on")
    ),
    input: Flag.String("input").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription("A file with the input as JSON; default: the input of the execution"),
      Flag.optional
    ),
    key: Flag.String("key").pipe(
      Flag.withDescription(
        "The idempotency key of the fork; default: that of the execution with ~fork-1, ~fork-2, ..."
      ),
      Flag.optional
    ),
    toVersion: Flag.Finite("to-version").pipe(
      Flag.withDescription("The version that runs the fork; default: the version of the execution"),
      Flag.optional
    ),
    sandbox: Flag.String("sandbox").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription(
        "Run the fork here, with the flows of this TypeScript or JavaScript file and a new empty room and graph, and print its steps"
      ),
      Flag.optional
    ),
    ...flags
  },
  Effect.fnUntraced(function* ({ execution, from, input, json, key, sandbox, toVersion, url }) {
    const given = Option.isSome(input) ? yield* inputOf(input.value) : undefined
    const version = Option.getOrUndefined(toVersion)
    if (Option.isSome(sandbox)) {
      const history = yield* connected(url, (flows) => flows.history(execution))
      // A control room is much to load for the commands that need none.
      const module = yield* Effect.promise(() => import("./FlowsSandbox.ts"))
      return yield* module.sandbox({ file: sandbox.value, history, from, input: given, version, json })
    }
    const options = { from, ...defined({ input: given, version, key: Option.getOrUndefined(key) }) }
    const id = yield* connected(url, (flows) => flows.fork(execution, options))
    yield* print(json, { id }, () => `${id} runs from ${from} on, with the results of ${execution} before it`)
  })
).pipe(
  Command.withDescription("Creates an execution that begins with the recorded results of another one before a step"),
  Command.withExamples([
    { command: "signalbox flows fork 0199a1b2-... --from charge", description: "Run again from this step on" },
    {
      command: "signalbox flows fork 0199a1b2-... --from charge --input changed.json",
      description: "With another input, as far as the recorded results fit it"
    },
    {
      command: "signalbox flows fork 0199a1b2-... --from charge --to-version 2",
      description: "With the next version of the flow, as far as the recorded results fit it"
    },
    {
      command: "signalbox flows fork 0199a1b2-... --from charge --sandbox flows.ts",
      description: "Run it on this machine; nothing reaches the running program"
    }
  ])
)
