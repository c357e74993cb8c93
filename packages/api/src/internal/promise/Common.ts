/** Parameters that functions of several modules have. */
import type * as Duration from "effect/Duration"
import type * as Lists from "../../ListOptions.ts"

/** Which page of a list. */
export interface ListOptions extends Lists.ListOptions {}

/** Which page of a list of what has a name. */
export interface NamedListOptions extends Lists.NamedListOptions {}

/** How many items of a list are read with one request. */
export interface Size extends Omit<Lists.ListOptions, "cursor"> {}

/** Which of what has a name, and how many are read with one request. */
export interface NamedSize extends Omit<Lists.NamedListOptions, "cursor"> {}

/** How to wait for an outcome. */
export interface AwaitOptions<A> {
  /** Rejects with `Timeout` after this; default: no limit. */
  readonly timeout?: Duration.Input | undefined
  /** The longest pause between two polls; default 5 seconds. The first pauses are shorter. */
  readonly pollInterval?: Duration.Input | undefined
  /** Receives the result of every poll. */
  readonly onPoll?: ((seen: A) => void | PromiseLike<void>) | undefined
}

/** Why something is paused. */
export interface Noted {
  readonly note?: string | undefined
}
