/**
 * Processes in one: engines that share a journal, and that can be killed at any of their calls of it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { FlowEngine, type FlowEngineError, type Parts } from "../../src/FlowEngine.ts"
import { Engine, make } from "../../src/internal/engine/Engine.ts"
import { Journal } from "../../src/internal/journal/Journal.ts"
import type { Ownership } from "../../src/internal/ownership/Ownership.ts"
import * as Leases from "../../src/internal/ownership/Leases.ts"
import * as Local from "../../src/internal/ownership/Local.ts"
import { RunWatchers } from "../../src/internal/engine/RunWatchers.ts"
import { LocalSchedules } from "../../src/internal/engine/RegisteredSchedules.ts"

export const alone = Local.layer
export const shared = Leases.layer

/** An engine over a journal. */
export const engineOver = <R = never>(
  journal: Journal["Service"],
  ownership: Layer.Layer<Ownership, never, Journal | R>
): Layer.Layer<FlowEngine, FlowEngineError, Exclude<R, Journal>> =>
  Layer.effect(
    FlowEngine,
    Effect.map(Effect.context<Parts>(), (context) => FlowEngine.of({ parts: context }))
  ).pipe(
    Layer.provide(
      Layer.merge(RunWatchers.layer, LocalSchedules.layer).pipe(
        Layer.provideMerge(Layer.effect(Engine, make({ concurrency: 1_000 }))),
        Layer.provide(Layer.provideMerge(ownership, Layer.succeed(Journal, journal)))
      )
    ),
    Layer.fresh
  )

/** How a process dies: at one of its calls, whose effect is there or not. */
export interface Death {
  /** So many calls succeed. */
  readonly afterCalls: number
  /** Whether the journal carries out the call at which it dies. */
  readonly answerLost: boolean
}

/** A journal as a process sees it that may die: from then on none of its calls returns, and the journal hears of none. */
export const mortal = (journal: Journal["Service"], random: () => number) => {
  let calls = 0
  let dead = false
  let death: Death = { afterCalls: Infinity, answerLost: false }
  /** Storage takes its time, so that calls of processes fall between those of others. */
  const delay = Effect.suspend(() => (random() < 0.2 ? Effect.sleep(Math.floor(random() * 60)) : Effect.void))
  const guard = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      if (dead) return Effect.never
      const last = ++calls > death.afterCalls
      if (!last) {
        const slow = Effect.tap(
          Effect.andThen(
            delay,
            Effect.suspend(() => (dead ? Effect.never : call))
          ),
          delay
        )
        return Effect.flatMap(slow, (value) => (dead ? Effect.never : Effect.succeed(value)))
      }
      dead = true
      return death.answerLost ? Effect.andThen(call, Effect.never) : Effect.never
    })
  const seen = Journal.of({
    ...journal,
    now: guard(journal.now),
    create: (execution) => guard(journal.create(execution)),
    find: (id) => guard(journal.find(id)),
    findKey: (flow, key) => guard(journal.findKey(flow, key)),
    history: (id) => guard(journal.history(id)),
    write: (fence, write) => guard(journal.write(fence, write)),
    send: (id, message) => guard(journal.send(id, message)),
    change: (id, decide) => guard(journal.change(id, decide)),
    renew: (process) => guard(journal.renew(process)),
    claim: (process, flows, now, limit, share) => guard(journal.claim(process, flows, now, limit, share)),
    reap: (gone) => guard(journal.reap(gone)),
    read: (name) => guard(journal.read(name)),
    swap: (name, expected, value) => guard(journal.swap(name, expected, value)),
    leave: (process) => guard(journal.leave(process)),
    changes: (onChange) => journal.changes((...change) => guard(onChange(...change)))
  })
  return {
    journal: seen,
    /** It dies at one of its next calls. */
    die: (how: Death) => {
      death = { ...how, afterCalls: calls + how.afterCalls }
    }
  }
}

/** A process that runs until it is killed. */
export interface Started {
  readonly die: (how: Death) => void
}

/** Starts a process, whose calls are delayed at random. It is never closed: what is killed closes nothing. */
export const start = <E>(
  journal: Journal["Service"],
  program: Layer.Layer<never, E, FlowEngine>,
  random: () => number
): Effect.Effect<Started> =>
  Effect.gen(function* () {
    const process = mortal(journal, random)
    const engine = engineOver(process.journal, shared)
    const built = Layer.buildWithScope(Layer.provideMerge(program, engine), yield* Scope.make())
    yield* Effect.forkDetach(built)
    return { die: process.die }
  })

/** A journal for as long as the scope is open. */
export const journalOf = <E>(layer: Layer.Layer<Journal, E>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), (context) => Context.get(context, Journal))
