/**
 * How a step reports its progress without a service in its requirements: by default it is dropped.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

export interface Progress {
  readonly done: number
  readonly total: number | null
  readonly message: string | null
}

export const Reporter = Context.Reference<(progress: Progress) => Effect.Effect<void>>("@signalbox/flows/Reporter", {
  defaultValue: () => () => Effect.void
})
