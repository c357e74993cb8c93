/**
 * The options with which programs submit executions.
 */
import { check, OptionError, text, time } from "@signalbox/transport/OptionError"
import * as Duration from "effect/Duration"
import type { Debounce as Debounced } from "./Execution.ts"
import { type AnyTimes, type Urgency, type When, whenOf, type WhenOptions } from "./When.ts"

/**
 * Makes a burst of calls one execution: the first call creates it, and each further one replaces its input until it begins; the next
 * call then creates another one. The priority and the deadline are those of the first call.
 */
export interface Debounce {
  /** Which calls belong together. The key of the execution is this one with the time of the first call. */
  readonly key: string
  /** It starts so long after the last call, */
  readonly quiet: Duration.Input
  /** and so long after the first one at the latest. */
  readonly most: Duration.Input
}

/** How an execution is submitted: its key, when it starts, in which order, and until when. */
export type SubmitOptions =
  | (WhenOptions & {
      /** Replaces that of the flow's `idempotencyKey`. */
      readonly key?: string | undefined
      readonly debounce?: undefined
    })
  | (Urgency & {
      readonly debounce: Debounce
      readonly key?: undefined
      readonly at?: undefined
      readonly after?: undefined
    })

/** Options that may not go together, such as those of a request. */
export interface AnyOptions extends AnyTimes {
  readonly key?: string | undefined
  readonly debounce?: Debounce | undefined
}

/** The same, as it was given. */
interface Given {
  readonly key: string | undefined
  readonly when: When
  readonly debounce: Debounced | null
}

const rules = { key: text, quiet: time, most: time }

const debounced = (of: string, { key, most, quiet }: Debounce): Debounced => {
  check(of, { key, quiet, most }, rules, "debounce.")
  return { key, quietMillis: Math.ceil(Duration.toMillis(quiet)), mostMillis: Math.ceil(Duration.toMillis(most)) }
}

/** Checks options, and returns what they say. Throws an `OptionError`. `of` names the call. */
export const givenOf = (of: string, options: AnyOptions): Given => {
  const { after, at, debounce, key } = options
  const when = whenOf(of, options)
  if (debounce === undefined) return { key, when, debounce: null }
  const other = Object.entries({ at, after, key }).find(([, value]) => value !== undefined)
  if (other !== undefined) {
    throw new OptionError(other[0], `${of}: ${other[0]}: expected none beside debounce, which decides on it`)
  }
  return { key, when, debounce: debounced(of, debounce) }
}

/** The most inputs of one call. */
const mostSubmitted = 1_000

/** Throws an `OptionError` for more inputs than one call takes. */
export const checkMany = (of: string, inputs: ReadonlyArray<unknown>): void => {
  if (inputs.length <= mostSubmitted) return
  const expected = `expected at most ${mostSubmitted}, which are one transaction`
  throw new OptionError("inputs", `${of}: inputs: ${expected}, not ${inputs.length}`)
}
