/**
 * How a step tells its progress without needing a service: by default nobody hears it.
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
