/** `signalbox flows state` and `watch`: what an execution says of itself. */
import { onWire } from "@signalbox/flows/FlowManagementClient"
import type { Item } from "@signalbox/flows/FlowStates"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, flags, refuse } from "../../connection/FlowsConnection.ts"
import { execution } from "./FlowsFilter.ts"

const lineOf = ({ at, name, value }: Item): string => `${new Date(at).toISOString()}  ${name}  ${JSON.stringify(value)}`
const printed = (json: boolean, item: Item) => Console.log(json ? JSON.stringify(onWire.item(item)) : lineOf(item))

export const state = Command.make(
  "state",
  {
    execution,
    name: Argument.String("name").pipe(
      Argument.withDescription("The name of a state, with its key as in 'progress[a]': prints only its value, as JSON"),
      Argument.optional
    ),
    ...flags
  },
  ({ execution, json, name, url }) =>
    connected(
      url,
      Effect.fnUntraced(function* (flows) {
        const states = yield* flows.states(execution)
        if (Option.isNone(name)) {
          if (states.length === 0 && !json) return yield* Console.log("No states")
          return yield* Effect.forEach(states, (one) => printed(json, one), { discard: true })
        }
        const found = states.find((one) => one.name === name.value)
        if (found === undefined) {
          const set = states.length === 0 ? "none is" : `set are ${states.map((one) => one.name).join(", ")}`
          return yield* refuse(`the state ${name.value} of the execution ${execution} is not set; ${set}`)
        }
        yield* json ? printed(json, found) : Console.log(JSON.stringify(found.value))
      })
    )
).pipe(
  Command.withDescription("Shows the states of an execution, or the value of one"),
  Command.withExamples([
    { command: "signalbox flows state 0199a1b2-...", description: "Show all states" },
    { command: "signalbox flows state 0199a1b2-... progress", description: "Print the value of a state" }
  ])
)

export const watch = Command.make(
  "watch",
  {
    execution,
    after: Flag.Int("after").pipe(
      Flag.withDescription("Only what follows this cursor, which --json prints with each line"),
      Flag.withDefault(0)
    ),
    ...flags
  },
  ({ after, execution, json, url }) =>
    connected(url, (flows) => Stream.runForEach(flows.watch(execution, { after }), (item) => printed(json, item)))
).pipe(
  Command.withDescription("Prints states and items of feeds of an execution as they come, until it has ended"),
  Command.withExamples([
    { command: "signalbox flows watch 0199a1b2-...", description: "Follow an execution" },
    { command: "signalbox flows watch 0199a1b2-... --json --after 120", description: "Continue after a cursor" }
  ])
)
