/**
 * Wakes the workers that wait for a lease, on all nodes, when step runs become available.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { WakeInterval } from "../background/PollInterval.ts"
import { Notifier } from "../store/database/Notifier.ts"

export class WorkSignal extends Context.Service<
  WorkSignal,
  {
    /** Wakes the waiters when the current transaction commits; without one, immediately. */
    readonly afterCommit: Effect.Effect<void>
    /** Subscribes: from now on no signal is missed. The inner effect waits for the next one. */
    readonly listen: Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
  }
>()("@signalbox/control-room/runs/WorkSignal") {
  static readonly layer = Layer.effect(
    WorkSignal,
    Effect.gen(function* () {
      const notifier = yield* Notifier
      // One slot is enough: a woken waiter checks for all work.
      const signals = yield* PubSub.sliding<void>(1)
      const wake = Effect.asVoid(PubSub.publish(signals, undefined))
      yield* notifier.subscribe("work", () => wake)
      // A node may be killed after a commit and before its notification.
      if (notifier.shared) yield* Effect.forkScoped(Effect.schedule(wake, Schedule.spaced(yield* WakeInterval)))
      return WorkSignal.of({
        afterCommit: notifier.notify("work", ""),
        listen: Effect.map(PubSub.subscribe(signals), (subscription) => Effect.asVoid(PubSub.take(subscription)))
      })
    })
  )
}
