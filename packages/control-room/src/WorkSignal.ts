/**
 * Wakes the workers that wait for a lease when step runs become available.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import { Database } from "./store/Database.ts"

export class WorkSignal extends Context.Service<
  WorkSignal,
  {
    /** Wakes now. */
    readonly wake: Effect.Effect<void>
    /** Wakes once the transaction at hand is committed. */
    readonly afterCommit: Effect.Effect<void>
    /** From now on, no signal is missed: the inner effect waits for the next one. */
    readonly listen: Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
  }
>()("@signalbox/control-room/WorkSignal") {
  static readonly layer = Layer.effect(
    WorkSignal,
    Effect.gen(function* () {
      const { sql } = yield* Database
      // One slot is enough: whoever is woken looks at everything.
      const signals = yield* PubSub.sliding<void>(1)
      const wake = Effect.asVoid(PubSub.publish(signals, undefined))
      return WorkSignal.of({
        wake,
        afterCommit: sql.afterCommit(wake),
        listen: Effect.map(PubSub.subscribe(signals), (subscription) => Effect.asVoid(PubSub.take(subscription)))
      })
    })
  )
}
