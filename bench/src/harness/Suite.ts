/**
 * What a suite is: contests, each of which measures one thing of several contenders in turns.
 */
import type { Bench } from "./Bench.ts"

/** What is measured of a contender: one row of the table for each. */
export interface Figure {
  /** Added to what the contest says, such as `p99`. */
  readonly what?: string
  /** Such as `/s` or `ms`. */
  readonly unit: string
  readonly better: "more" | "less"
}

/** A measurement: the figures by their keys. One that could not be taken is left out. */
export type Measured = Readonly<Record<string, number | undefined>>

export interface Contender {
  readonly name: string
  /** Whether it is a peer, not a part of this project. */
  readonly peer?: boolean
  /** What holds for it: its database, its durability and how that was set. */
  readonly conditions: string
  readonly measure: () => Promise<Measured>
}

export interface Contest {
  readonly what: string
  readonly figures: Readonly<Record<string, Figure>>
  readonly contenders: ReadonlyArray<Contender>
  /** The contender to which ratios are; by default the first peer. */
  readonly reference?: string
  /** Whether a round that does not count comes first; by default it does. */
  readonly warm?: boolean
  /** At most so many rounds, where one takes long or where nothing varies. */
  readonly rounds?: number
}

export interface Suite {
  readonly title: string
  /** What is measured, in a few sentences of the page. */
  readonly about: string
  /** The packages of peers, whose versions are kept with the figures. */
  readonly peers: ReadonlyArray<string>
  /** The contests, prepared one after the other. */
  readonly contests: (bench: Bench) => AsyncIterable<Contest>
}
