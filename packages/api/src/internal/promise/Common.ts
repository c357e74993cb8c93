/**
 * Parameters that functions of several modules have. Interfaces of parameters have a member of their own, here and elsewhere: the
 * compiler shows one that has none by what it extends, with all members.
 */
import type * as Duration from "effect/Duration"
import type * as Lists from "../../ListOptions.ts"

/** Which page of a list. */
export interface ListOptions extends Lists.ListOptions {}

/** Which page of a list of what has a name. */
export interface NamedListOptions extends Lists.NamedListOptions {}

/** How many items of a list are read with one request. */
export interface Size {
  /** Items per request, 1 to 500. */
  readonly limit?: number | undefined
}

/** Which of what has a name, and how many are read with one request. */
export interface NamedSize extends Size {
  /** Only what has exactly this name. An extension: the hosted service ignores it, and lists everything. */
  readonly name?: string | undefined
}

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
