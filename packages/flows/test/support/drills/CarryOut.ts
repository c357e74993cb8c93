/**
 * Carries out the orders of a drill on an engine, in this process.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Flow from "../../../src/Flow.ts"
import type { FlowEngine } from "../../../src/FlowEngine.ts"
import { type FlowEvent, FlowEvents } from "../../../src/FlowEvents.ts"
import * as FlowExecutions from "../../../src/FlowExecutions.ts"
import { cancelledAt, familyOf, go } from "./Family.ts"
import type { Order, Plan } from "./Orders.ts"

const { cancel, resume, suspend, terminate } = FlowExecutions
const commandOf = { cancel, resume, suspend, terminate }

const identityOf = ({ id }: { readonly id?: string }) => (id === undefined ? {} : { id })

const ownEvents = new Set(["FlowCompleted", "FlowFailed"])

/** Every execution is cancelled at the event that is its own (`cancelledAt`); every other twice. */
const cancelling = () => {
  const seen = new Map<string, number>()
  return ({ executionId, _tag }: FlowEvent) =>
    Effect.gen(function* () {
      if (ownEvents.has(_tag)) return
      const count = (seen.get(executionId) ?? 0) + 1
      seen.set(executionId, count)
      const { key } = (yield* FlowExecutions.get(executionId)) ?? { key: "" }
      const at = cancelledAt(Number(key))
      if (count === at || (Number(key) % 2 === 0 && count === at + 2)) yield* FlowExecutions.cancel(executionId)
    }).pipe(Effect.orDie)
}

export const make = (
  plan: Pick<Plan, "alsoBefore" | "cancels" | "effects" | "limited" | "more" | "retry" | "timeoutMillis" | "version">
) => {
  const family = familyOf(plan.effects, plan)
  const before = familyOf(plan.effects, { ...plan, more: "none", version: plan.version - 1 })
  let onEvent: (event: FlowEvent) => Effect.Effect<void> = () => Effect.void

  const carryOut = (order: Order) =>
    Effect.gen(function* () {
      switch (order.do) {
        case "die":
        case "jump":
          return null
        case "submit":
          return yield* order.value === undefined
            ? Flow.submit(family, { n: order.n, kind: order.kind })
            : Flow.signalWithStart(family, { n: order.n, kind: order.kind }, go, order.value)
        case "execute": {
          const exit = yield* Effect.exit(Flow.execute(family, { n: order.n, kind: order.kind }))
          return Exit.isSuccess(exit) ? exit.value : String(Cause.squash(exit.cause))
        }
        case "states": {
          const all = yield* Stream.runCollect(FlowExecutions.stream({}))
          return all.map(({ failure, key, state }) => [key, state, failure?.message ?? ""])
        }
      }
      const handle = yield* Flow.handle(family, `${order.n}`)
      switch (order.do) {
        case "state":
          return (yield* handle.describe).execution.state
        case "history": {
          const { commands, execution, steps, undos } = yield* handle.describe
          return {
            state: execution.state,
            epoch: execution.epoch,
            failure: execution.failure?.message ?? "",
            commands: commands.map(({ command, outcome }) => `${command} ${outcome ?? "pending"}`),
            steps: steps.map(({ attempt, kind, path, state, value }) => ({
              path,
              attempt,
              kind,
              state,
              value
            })),
            undos: undos.map(({ path, state }) => ({ path, state }))
          }
        }
        case "signal":
          return yield* Effect.as(handle.signal(go, order.value), null)
        case "cancel":
        case "terminate":
        case "suspend":
        case "resume":
          return yield* Effect.as(commandOf[order.do](handle.id, identityOf(order)), null)
        case "retry":
          return yield* Effect.as(
            FlowExecutions.retry(handle.id, {
              ...identityOf(order),
              ...(order.from === null ? {} : { from: order.from }),
              ...(order.version === null ? {} : { version: order.version })
            }),
            null
          )
      }
    })

  /** Called for each event of an execution, before it continues. */
  const hooked = Effect.gen(function* () {
    const context = yield* Effect.context<FlowEngine>()
    const cancel = cancelling()
    if (plan.cancels) onEvent = (event) => Effect.provideContext(cancel(event), context)
  })

  return {
    flows: plan.alsoBefore ? Layer.mergeAll(Flow.layer(family), Flow.layer(before)) : Flow.layer(family),
    events: (also: Effect.Effect<void>) =>
      Layer.succeed(FlowEvents, { publish: (event) => Effect.andThen(onEvent(event), also) }),
    hooked,
    carryOut
  }
}
