/** Occurrences of a definition in milliseconds, for the public functions. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import type { Definition } from "../../Definition.ts"
import { fractionOf } from "./Digest.ts"
import * as Timetable from "../times/Timetable.ts"
import { timesOf } from "./Validation.ts"

export interface Planned {
  readonly at: number
  readonly start: number
}

export interface Plan {
  readonly timetable: Timetable.Timetable
  /** Occurrences after an instant and up to a limit. */
  readonly walk: (after: number, limit: number) => Generator<Planned, void>
  readonly planned: (at: number) => Planned
}

export const keyOf = (name: string, at: number): string => `${name} ${new Date(at).toISOString()}`

/** An occurrence as the public functions return it. */
export const occurrenceOf = (name: string, { at, start }: Planned) => ({
  key: keyOf(name, at),
  at: DateTime.makeUnsafe(at),
  start: DateTime.makeUnsafe(start)
})

/** A validated definition always has times. */
const timetableOf = (definition: Definition): Timetable.Timetable => {
  const times = timesOf(definition)
  return Result.getOrThrow(times === undefined ? Result.fail("no rule") : Timetable.make(times))
}

export const make = (definition: Definition): Plan => {
  const timetable = timetableOf(definition)
  const jitter = Duration.toMillis(definition.jitter)
  const startOf = (at: number): number => {
    if (jitter === 0) return at
    const next = Timetable.firstAfter(timetable.counted, at) ?? Number.POSITIVE_INFINITY
    return at + Math.floor(fractionOf(keyOf(definition.name, at)) * Math.min(jitter, next - at))
  }
  const planned = (at: number): Planned => ({ at, start: startOf(at) })
  return {
    timetable,
    planned,
    walk: function* (after, limit) {
      for (const at of timetable.counted(after, limit)) yield planned(at)
    }
  }
}
