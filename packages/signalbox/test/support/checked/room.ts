/** A flow with steps in a control room and in a graph: as it was deployed, where the room is away, and for the desk. */
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Workspaces from "@signalbox/api/Workspaces"
import * as Flow from "@signalbox/flows/Flow"
import { listFolder } from "@signalbox/flows/graph/GraphSteps"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

class Away extends Schema.TaggedError<Away>()("Away", { message: Schema.String }) {}

const common = { version: 1, input: Schema.String, success: Schema.String, error: Away } as const

const counted = Flow.step("counted", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: (text) => Effect.succeed(`${text} counted`)
})

const look = <R>(name: Effect.Effect<string, Away, R>) =>
  Flow.step("look", { input: Schema.Void, success: Schema.String, error: Away, run: () => name })(undefined)

export const away = Flow.make("rooms", {
  ...common,
  idempotencyKey: (text) => text,
  run: (text) => Effect.andThen(counted(text), look(Effect.fail(new Away({ message: "the room is away" }))))
})

const nameOfRoom = Effect.flatMap(ControlRoom, () => Workspaces.get).pipe(
  Effect.map(({ name }) => name),
  Effect.mapError(({ message }) => new Away({ message }))
)

export const rooms = Flow.make("rooms", {
  ...common,
  idempotencyKey: (text) => text,
  run: Effect.fnUntraced(function* (text) {
    const first = yield* counted(text)
    const name = yield* look(nameOfRoom)
    const files = yield* Effect.mapError(listFolder({}), ({ message }) => new Away({ message }))
    return `${first}, ${name}, ${files.length} files`
  })
})
