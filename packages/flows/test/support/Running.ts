/** Flows on an engine in memory, for tests of one behaviour. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { IdempotencyKeys } from "@signalbox/api/Idempotency"
import * as Flow from "../../src/Flow.ts"
import { FlowEngine } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { Diary } from "./Flows.ts"
import { Store } from "./Engines.ts"

export const memory = Layer.merge(Layer.fresh(FlowEngine.layerMemory), Layer.fresh(Diary.layer))

/** For processes that end and begin again. */
export const restarting = Layer.merge(Layer.fresh(Store.memory), Layer.fresh(Diary.layer))

export const stateOf = (id: string) => Effect.map(FlowExecutions.get(id), ({ state }) => state)

export const errorOf = <A, E>(exit: Exit.Exit<A, E>): unknown =>
  Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined

/** Writes the idempotency key of its first POST. */
export const post = Flow.step("post", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: Effect.fnUntraced(function* (text) {
    const keys = yield* IdempotencyKeys
    const key = yield* keys.next
    yield* Diary.write(`${text} ${key.replace(/^[^/]*\//, "")}`)
    return text
  })
})
