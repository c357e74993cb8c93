/**
 * Gives what limits have room for again to those that wait for it. What frees a bucket wakes nobody in its own transaction: it
 * would lock other runs. A notice may be lost, so each tick looks too.
 */
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import { forEachIndependently, steady } from "../background/BackgroundTask.ts"
import { Database } from "../store/database/Database.ts"
import { Notifier } from "../store/database/Notifier.ts"
import { Blocked } from "../store/runs/Blocked.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { Transitions } from "./Transitions.ts"
import { WorkSignal } from "./WorkSignal.ts"

/** The least time between two looks, and how many times longer than a look it is. */
const lookInterval = Duration.millis(10)
const lookShare = 2

export class LimitWaker extends Context.Service<
  LimitWaker,
  {
    /** Wakes what waits for limits that have room; returns when the next rate has some, null: nothing waits for one. */
    readonly look: Effect.Effect<number | null>
  }
>()("@signalbox/control-room/runs/LimitWaker") {
  static readonly layer = Layer.effect(
    LimitWaker,
    Effect.gen(function* () {
      const { transaction } = yield* Database
      const blocked = yield* Blocked
      const runs = yield* ProcessRuns
      const signal = yield* WorkSignal
      const { commit } = yield* Transitions

      const wake = Effect.fnUntraced(function* (id: ProcessRunId) {
        const run = yield* runs.lock(id)
        if (run !== null) yield* commit({ run, changes: [] })
      }, transaction)

      return LimitWaker.of({
        look: Effect.gen(function* () {
          const found = yield* blocked.unblock
          if (found.stepRuns.length > 0) yield* signal.afterCommit
          yield* forEachIndependently(found.runs, wake)
          return found.nextAt
        })
      })
    })
  ).pipe(Layer.provide(Transitions.layer))

  /** Looks whenever a limit may have room. */
  static readonly layerListening = Layer.effectDiscard(
    Effect.gen(function* () {
      const { look } = yield* LimitWaker
      const { millis } = yield* Database
      const notifier = yield* Notifier
      const signals = yield* PubSub.sliding<void>(1)
      const signalled = yield* PubSub.subscribe(signals)
      yield* notifier.subscribe("limits", () => Effect.asVoid(PubSub.publish(signals, undefined)))
      let nextAt: number | null = null
      const looking = steady("looking for limits with room")(
        Effect.map(look, (at) => {
          nextAt = at
        })
      )
      const loop = Effect.gen(function* () {
        const wait = nextAt === null ? Duration.infinity : Duration.millis(Math.max(0, nextAt - (yield* millis)))
        yield* Effect.timeoutOption(PubSub.take(signalled), wait)
        nextAt = null
        const [took] = yield* Effect.timed(looking)
        yield* Effect.sleep(Duration.max(lookInterval, Duration.times(took, lookShare)))
      })
      yield* Effect.forkScoped(Effect.forever(loop))
    })
  )
}
