/**
 * How the code of a step says how far it is, without a service in its requirements: by default nothing of it is kept.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { FlowDefect } from "../../FlowDefect.ts"
import type { Codec } from "../model/Values.ts"
import type { Saying } from "./Position.ts"

export interface Progress {
  readonly done: number
  readonly total: number | null
  readonly message: string | null
}

export interface Reporter {
  readonly progress: (progress: Progress) => Effect.Effect<void>
  /** Names the details of the step in messages. */
  readonly what: string
  /** What earlier attempts of the step recorded last; null: nothing. */
  readonly details: Schema.Json
  /** Records details for later attempts. */
  readonly record: (details: Schema.Json) => void
  /** Appends to a feed. */
  readonly say: <S extends Codec>(said: Saying<S>) => Effect.Effect<void>
}

const nowhere = () =>
  Effect.die(
    new FlowDefect({
      message: "a state was set or a feed appended to outside of a flow: do it in the run of Flow.make"
    })
  )

export const Reporter = Context.Reference<Reporter>("@signalbox/flows/Reporter", {
  defaultValue: () => ({
    progress: () => Effect.void,
    what: "the details of a step",
    details: null,
    record: () => {},
    say: nowhere
  })
})
