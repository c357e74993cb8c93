/**
 * Rate gates, one for each control room, that space the attempts of a process when the control room is overloaded. Without them the
 * steps of thousands of executions, each with its own pause, would mostly exceed the limit again.
 */
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import type { Transient } from "./Position.ts"

/** The interval between two attempts when the control room has refused none for long. */
const shortestMillis = 1
/** The interval after the first refusal. */
const firstMillis = 50
const longestMillis = 2_000
/** The factors of the interval after a refusal, and after a success. */
const slower = 2
const faster = 0.97
/** The largest number of concurrent attempts. Long ones, such as uploads, do not count. */
const mostUnderWay = 16
const longMillis = 2_000
/** How much time is caught up when timers fire late. */
const slackMillis = 20

interface Gate {
  /** Attempts wait one behind the other, so that they do not all start together when the gate opens. */
  readonly turn: Semaphore.Semaphore
  readonly underWay: Semaphore.Semaphore
  /** No attempt begins before. */
  opensAt: number
  /** The interval between two attempts. */
  intervalMillis: number
  slowedAt: number
}

export interface Gates {
  /** Runs an attempt of a step with durable retries when it is its turn. */
  readonly pass: <A, E, R>(
    attempt: Effect.Effect<A, E, R>,
    transient: (error: E) => Transient | null
  ) => Effect.Effect<A, E, R>
}

export const make = (): Gates => {
  const gates = new Map<string, Gate>()
  const gateOf = (room: ControlRoom["Service"]): Gate => {
    const name = `${room.baseUrl} ${room.workspaceId}`
    const gate = gates.get(name) ?? {
      turn: Semaphore.makeUnsafe(1),
      underWay: Semaphore.makeUnsafe(mostUnderWay),
      opensAt: 0,
      intervalMillis: shortestMillis,
      slowedAt: 0
    }
    gates.set(name, gate)
    return gate
  }

  /** Waits for the turn of an attempt. */
  const enter = (gate: Gate) =>
    gate.turn.withPermits(1)(
      Effect.gen(function* () {
        for (;;) {
          const now = yield* Clock.currentTimeMillis
          if (gate.opensAt <= now) {
            gate.opensAt = Math.max(gate.opensAt, now - slackMillis) + gate.intervalMillis
            return yield* gate.underWay.take(1)
          }
          // Clocks count whole milliseconds.
          yield* Effect.sleep(Math.ceil(gate.opensAt - now))
        }
      })
    )

  /** Counts an attempt among the concurrent ones until it is a long one. */
  const counted = <A, E, R>(gate: Gate, attempt: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(enter(gate)), () => {
        let isCounted = true
        const leave = Effect.suspend(() => {
          if (!isCounted) return Effect.void
          isCounted = false
          return gate.underWay.release(1)
        })
        const long = Effect.andThen(Effect.delay(leave, longMillis), Effect.never)
        return Effect.ensuring(restore(Effect.raceFirst(attempt, long)), leave)
      })
    )

  const refused = (gate: Gate, begunAt: number, retryAfterMillis: number | null) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      // Refusals of concurrent attempts count as one.
      if (begunAt < gate.slowedAt) return
      gate.slowedAt = now
      gate.intervalMillis = Math.min(Math.max(gate.intervalMillis * slower, firstMillis), longestMillis)
      gate.opensAt = Math.max(gate.opensAt, now + (retryAfterMillis ?? 0))
    })

  const passed = (gate: Gate) =>
    Effect.sync(() => {
      gate.intervalMillis = Math.max(gate.intervalMillis * faster, shortestMillis)
    })

  return {
    pass: (attempt, transient) =>
      Effect.flatMap(Effect.serviceOption(ControlRoom), (room) => {
        if (Option.isNone(room)) return attempt
        const gate = gateOf(room.value)
        const answered = Effect.flatMap(Clock.currentTimeMillis, (begunAt) =>
          Effect.matchEffect(attempt, {
            onSuccess: (value) => Effect.as(passed(gate), value),
            onFailure: (error) => {
              const found = transient(error)
              const told = found?.isBusy === true ? refused(gate, begunAt, found.retryAfterMillis) : Effect.void
              return Effect.andThen(told, Effect.fail(error))
            }
          })
        )
        return counted(gate, answered)
      })
  }
}
