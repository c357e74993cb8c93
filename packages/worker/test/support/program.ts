/** A program of two tasks, started by tests in a separate process. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Program from "../../src/Program.ts"
import * as Robot from "../../src/Robot.ts"
import * as Task from "../../src/Task.ts"

const json = { input: Schema.Json, output: Schema.Json }

const work = Task.make("work", {
  ...json,
  run: Effect.fnUntraced(function* (item) {
    if (item.payload === "bad") return yield* new Task.BusinessFailure({ code: "BAD", message: "a bad one" })
    if (item.payload === "bug") return yield* Effect.die(new Error("a bug"))
    if (item.payload === "forever") return yield* Effect.never
    const password = yield* Robot.secretItem("shop", "password")
    yield* Effect.log("logged in with", password)
    return item.payload
  })
})

const other = Task.make("other", { ...json, run: (item) => Effect.succeed(item.payload) })

Program.run([work, other]).pipe(Program.main)
