/**
 * The simulated control room: it carries out keyed POSTs once for each key, and counts its effects.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { IdempotencyKeys } from "@signalbox/api/Idempotency"
import type { Driver, Machine } from "./Driver.ts"
import type { Seeded } from "./Seeded.ts"

/** `lost`: it may have acted; `busy`: it did not act, and that is transient; `refused`: it did not act. */
export class RoomError extends Schema.TaggedError<RoomError>()("RoomError", {
  why: Schema.Literals(["lost", "busy", "refused"])
}) {}

/** An effect of the room, identified by the number and the key. */
export const Done = Schema.Struct({ n: Schema.Finite, key: Schema.String })
export interface Done extends Schema.Schema.Type<typeof Done> {}

export interface Effected extends Done {
  /** The effect that this one undoes. */
  readonly undoes: number | null
}

export interface Mood {
  /** Applied, and the response is lost. */
  readonly lost: number
  readonly busy: number
  readonly refused: number
  /** No response arrives; for requests that a timeout interrupts. */
  readonly hung: number
  /** The code of the step has a bug. */
  readonly bug: number
  readonly slow: number
}

export const calm: Mood = { lost: 0, busy: 0, refused: 0, hung: 0, bug: 0, slow: 0 }

export interface Post {
  readonly undoes: number | null
  /** Whether the caller does not wait forever. */
  readonly hasTimeout: boolean
  /** Refused at any time. */
  readonly isBad: boolean
  /** How much longer it takes than others. */
  readonly millis: number
  readonly keyed: boolean
}

export class Room extends Context.Service<Room, { readonly post: (post: Post) => Effect.Effect<Done, RoomError> }>()(
  "test/simulation/Room"
) {}

export const make = (driver: Driver, seeded: Seeded) => {
  let mood = calm
  /** In the order in which they were done. */
  const effects: Array<Effected> = []
  const byKey = new Map<string, Effected>()

  const apply = (key: string, { keyed, undoes }: Post): Effected => {
    const before = keyed ? byKey.get(key) : undefined
    if (before !== undefined) return before
    const effect = { n: effects.length + 1, key, undoes }
    effects.push(effect)
    if (keyed) byKey.set(key, effect)
    driver.trace.note(`room does ${effect.n} ${key}${undoes === null ? "" : ` and undoes ${undoes}`}`)
    return effect
  }

  const travel = () => (seeded.chance(mood.slow) ? seeded.int(0, 2_500) : seeded.int(0, 20))

  /** The room as a process reaches it. */
  const of = (machine: Machine): Room["Service"] => ({
    post: (post) =>
      Effect.flatMap(
        Effect.flatMap(IdempotencyKeys, ({ next }) => next),
        (key) =>
          Effect.callback<Done, RoomError>((resume) => {
            const answer = (millis: number, effect: Effect.Effect<Done, RoomError>) =>
              void driver.after(millis, machine, () => resume(effect))
            driver.after(travel() + post.millis, null, () => {
              if (seeded.chance(mood.bug)) return answer(1, Effect.die(new Error("a bug")))
              if (seeded.chance(mood.busy)) return answer(1, Effect.fail(new RoomError({ why: "busy" })))
              // What was done before is answered as before.
              if (!byKey.has(key) && (post.isBad || seeded.chance(mood.refused))) {
                return answer(1, Effect.fail(new RoomError({ why: "refused" })))
              }
              const hangs = post.hasTimeout && seeded.chance(mood.hung)
              if (hangs && seeded.chance(0.3)) return
              const { n } = apply(key, post)
              if (hangs) return
              if (seeded.chance(mood.lost)) return answer(1_000, Effect.fail(new RoomError({ why: "lost" })))
              answer(travel(), Effect.succeed({ n, key }))
            })
          })
      )
  })

  return {
    of,
    effects,
    mood: (next: Mood) => {
      mood = next
    }
  }
}

export type World = ReturnType<typeof make>
