/**
 * The family on an engine in memory, in this process, behind what drills ask of a process.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FlowEngine } from "../../../src/FlowEngine.ts"
import * as CarryOut from "./CarryOut.ts"
import type { Order, Plan } from "./Orders.ts"
import { type Process, Refusal } from "./Processes.ts"

export const start = Effect.fnUntraced(function* (plan: Plan) {
  const drill = CarryOut.make(plan)
  const context = yield* Layer.build(
    Layer.fresh(Layer.provideMerge(drill.flows, FlowEngine.layerMemory)).pipe(
      Layer.provideMerge(drill.events(Effect.void))
    )
  )
  yield* Effect.provideContext(drill.hooked, context)
  return {
    ask: (order: Order) =>
      Effect.provideContext(drill.carryOut(order), Context.pick(FlowEngine)(context)).pipe(
        Effect.catchCause((cause) => Effect.fail(new Refusal({ message: String(Cause.squash(cause)) })))
      )
  } satisfies Pick<Process, "ask">
})
