/**
 * What an execution says of itself: the current values of its states, the items of its feeds, and its answers to requests. They are no
 * entries, and are written with the next write of the owner.
 */
import type * as Schema from "effect/Schema"

/**
 * How far a body had got when it said something: the position of the last end that it had got, and how much it had said since. A body
 * that is run again says the same at the same mark.
 */
export interface Mark {
  readonly position: number
  readonly ordinal: number
}

/** Before anything was said. */
export const noMark: Mark = { position: 0, ordinal: 0 }

/** A value of a state, or an item of a feed. */
export interface Said {
  readonly kind: "state" | "feed"
  /** For a state with its key, as in `progress[a]`. */
  readonly name: string
  /** Counts what the execution has said, from 1: the cursor of those who watch it. */
  readonly number: number
  readonly value: Schema.Json
  readonly at: number
}

/** An item of a feed, as it is written. */
export interface NewItem extends Said {
  /** Counts the items of its feed, from 1. */
  readonly item: number
}

/** The items of a feed that are deleted. */
export interface Trim {
  readonly name: string
  /** Up to this one. */
  readonly item: number
  /** And those before this time; null: of any time. */
  readonly before: number | null
}

/** An answer to a request. */
export interface Answer {
  /** That of the request with its key. */
  readonly name: string
  /** The id of the message. */
  readonly id: string
  /** The value of the message. */
  readonly input: Schema.Json
  /** The digest of the input, as it is stored; default: it is computed from that. */
  readonly asked?: string | undefined
  /** `abandoned`: its chapter ended without one. */
  readonly state: "answered" | "refused" | "abandoned"
  readonly value: Schema.Json
}

/** An answer that is stored. */
export interface RecordedAnswer extends Omit<Answer, "input" | "asked"> {
  /** The digest of the input. */
  readonly asked: string
  readonly at: number
}

/** The part of a write that says something. */
export interface SaidWrite {
  /** The last number, and the last mark. */
  readonly number: number
  readonly mark: Mark
  readonly states: ReadonlyArray<Said>
  readonly items: ReadonlyArray<NewItem>
  readonly trims: ReadonlyArray<Trim>
  readonly answers: ReadonlyArray<Answer>
}

/** What an owner needs to know of what was said before. */
export interface SaidBefore {
  readonly number: number
  readonly mark: Mark
  /** The last item of each feed. */
  readonly items: ReadonlyMap<string, number>
}

export const nothingSaid: SaidBefore = { number: 0, mark: noMark, items: new Map() }
