/**
 * The handlers of what executions say of themselves, and of requests to them.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { FlowEngine } from "../../FlowEngine.ts"
import type { ExecutionNotFound } from "../../FlowErrors.ts"
import * as FlowRequests from "../../FlowRequests.ts"
import * as FlowStates from "../../FlowStates.ts"
import * as Actor from "./Actor.ts"
import { conflicting, invalid, missing } from "./Errors.ts"
import { Api } from "./States.ts"

const failed = (error: FlowRequests.SendError) => {
  switch (error._tag) {
    case "ExecutionNotFound":
      return missing(error)
    case "InvalidSignal":
      return invalid(error)
    default:
      return conflicting(error)
  }
}

export const states = () =>
  HttpApiBuilder.group(
    Api,
    "states",
    Effect.fnUntraced(function* (handlers) {
      const engine = yield* FlowEngine
      const on = <A, E>(effect: Effect.Effect<A, E, FlowEngine>) => Effect.provideService(effect, FlowEngine, engine)
      const found = <A>(effect: Effect.Effect<A, ExecutionNotFound, FlowEngine>) => Effect.mapError(on(effect), missing)
      return handlers
        .handle("list", ({ params: { id } }) =>
          Effect.all({ states: found(FlowStates.states(id)), feeds: found(FlowStates.feeds(id)) })
        )
        .handle("feed", ({ params: { id, name }, query }) =>
          Effect.map(found(FlowStates.feed(id, name, query)), (items) => ({ items }))
        )
        .handle("watch", ({ params: { id }, query: { wait = 0, ...page } }) =>
          found(FlowStates.next(id, { ...page, wait: Duration.seconds(wait) }))
        )
        .handle("request", ({ params: { id: execution }, payload: { id, input, request, wait = 0 } }) =>
          Actor.valueOf(input, "input").pipe(
            Effect.mapError(invalid),
            Effect.flatMap((input) =>
              Effect.mapError(
                on(FlowRequests.send(execution, request, input, { id, wait: Duration.seconds(wait) })),
                failed
              )
            )
          )
        )
    })
  )
