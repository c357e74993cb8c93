/** `signalbox flows request`: asks an execution for an answer. */
import type { Answered } from "@signalbox/flows/FlowRequests"
import { defined } from "@signalbox/transport/Defined"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, flags, refuse } from "../../connection/FlowsConnection.ts"
import * as FlagValues from "../../settings/FlagValues.ts"
import { execution } from "./FlowsFilter.ts"

/** The request was not answered. */
export class NotAnswered extends TaggedError<NotAnswered>()("NotAnswered", { message: Schema.String }) {}

const decodeJson = Schema.decodeEffect(Schema.fromJsonString(Schema.Json))

const why: Readonly<Record<Exclude<Answered["state"], "answered">, (answer: Answered) => string>> = {
  refused: ({ value }) => `refused: ${JSON.stringify(value)}`,
  abandoned: () => "abandoned: the execution has ended, or begun its next chapter, without an answer",
  pending: ({ id }) => `not answered yet${id === "" ? "" : `; wait for the answer with --id ${id}`}`
}

export const request = Command.make(
  "request",
  {
    execution,
    name: Argument.String("name").pipe(
      Argument.withDescription("The name of the request, with its key as in 'review[a]'; see `signalbox flows show`")
    ),
    input: Flag.String("input").pipe(Flag.withDescription("The input, as JSON")),
    id: Flag.String("id").pipe(
      Flag.withDescription("The id of the request: a repeated request with the same id gets the same answer"),
      Flag.optional
    ),
    within: Flag.String("within").pipe(
      Flag.withSchema(FlagValues.Length),
      Flag.withDescription("How long to wait for the answer; default: until the execution ends"),
      Flag.optional
    ),
    ...flags
  },
  Effect.fnUntraced(function* ({ execution, id, input, json, name, url, within }) {
    const value = yield* Effect.mapError(decodeJson(input), () =>
      refuse("--input: expected JSON, such as '{\"pages\":3}'")
    )
    const options = defined({ id: Option.getOrUndefined(id), within: Option.getOrUndefined(within) })
    const answer = yield* connected(url, (flows) => flows.request(execution, name, value, options))
    if (json) yield* Console.log(JSON.stringify(answer))
    else if (answer.state === "answered") yield* Console.log(JSON.stringify(answer.value))
    if (answer.state === "answered") return
    return yield* new NotAnswered({ message: `the request ${name} to ${execution} is ${why[answer.state](answer)}` })
  })
).pipe(
  Command.withDescription("Sends a request to an execution and prints its answer, as JSON"),
  Command.withExamples([
    {
      command: "signalbox flows request 0199a1b2-... review --input '{\"pages\":3}'",
      description: "Ask for an answer"
    },
    {
      command: "signalbox flows request 0199a1b2-... review --input '{\"pages\":3}' --id r1 --within '1 minute'",
      description: "Ask again with the same id, for at most a minute"
    }
  ])
)
