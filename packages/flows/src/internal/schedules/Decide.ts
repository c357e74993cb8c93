/**
 * Changes of a schedule's row, as pure functions.
 */
import * as DateTime from "effect/DateTime"
import type { Definition } from "@signalbox/schedule/Definition"
import * as Due from "@signalbox/schedule/Due"
import { occurrences } from "@signalbox/schedule/Occurrences"
import type { State } from "../model/Execution.ts"
import type { Outcome, Row, Started } from "./Row.ts"

/** The definition of a schedule in this build. */
export interface Wanted {
  readonly flow: string
  readonly version: number
  readonly definition: Definition
  readonly digest: string
}

/** An execution of a schedule that has not ended. */
export interface Running extends Started {
  readonly state: State
}

const mostChanged = 50
/** With `overlap: "allow"`, the number of occurrences of a backfill that start together. */
const backfilledAtATime = 20

export const utc = (millis: number): DateTime.Utc => DateTime.makeUnsafe(millis)
export const iso = (millis: number): string => new Date(millis).toISOString()
/** Returns the key of an occurrence, as `@signalbox/schedule` does. */
export const keyOf = (schedule: string, at: number): string => `${schedule} ${iso(at)}`

const millisOf = (at: DateTime.Utc | undefined): number | null => at?.epochMilliseconds ?? null

const skipped = (at: number, reason: Outcome["reason"], why: string): Outcome => ({
  at,
  outcome: "skipped",
  reason,
  why,
  execution: null
})

export const started = (at: number, execution: string, why: string | null): Outcome => ({
  at,
  outcome: "started",
  reason: null,
  why,
  execution
})

/** Returns why an occurrence is not started. */
const busy = ({ definition: { overlap }, problem, starting }: Row, running: ReadonlyArray<Running>): string => {
  const [first] = running.toSorted((a, b) => Number(b.state === "halted") - Number(a.state === "halted"))
  if (first !== undefined) {
    const remedy = first.state === "halted" || first.state === "suspended" ? ": resume or cancel it" : ""
    return `the execution ${first.execution} of ${iso(first.at)} is ${first.state}${remedy}`
  }
  const [waiting] = starting
  if (waiting !== undefined)
    return `the execution of ${iso(waiting)} could not start${problem === null ? "" : `: ${problem.message}`}`
  return `several occurrences were due together, and overlap is ${overlap}`
}

const whyOf: Readonly<Record<Due.SkipReason, (row: Row, running: ReadonlyArray<Running>) => string>> = {
  missed: ({ definition: { missed } }) => `missed while no process executed the schedule, and missed is ${missed}`,
  overlap: busy,
  calendar: () => "the calendar excludes its day",
  paused: ({ state: { paused } }) =>
    paused === null || paused.note === "" ? "the schedule is paused" : `paused: ${paused.note}`
}

/** Returns the row after a decision of `@signalbox/schedule`. */
export const decided = (row: Row, due: Due.Due, running: ReadonlyArray<Running>): Row => {
  const begin = due.begin.map(({ at }) => at.epochMilliseconds)
  const dropped = due.stop ? row.starting : []
  const outcomes = due.skipped.map(({ at, reason }) =>
    skipped(at.epochMilliseconds, reason, whyOf[reason](row, running))
  )
  const { unlisted } = due
  const more =
    unlisted === undefined
      ? []
      : [
          skipped(
            unlisted.after.epochMilliseconds,
            null,
            `more occurrences were skipped, up to ${DateTime.formatIso(unlisted.before)}: too many to list`
          )
        ]
  return {
    ...row,
    state: due.state,
    wakeAt: millisOf(due.wakeAt),
    starting: [...(due.stop ? [] : row.starting), ...begin],
    stop: due.stop && running.length > 0 ? "cancel" : row.stop,
    recent: [
      ...row.recent,
      ...dropped.map((at) => skipped(at, "overlap", "the next one was due before it could start")),
      ...more,
      ...outcomes
    ]
  }
}

export const isBusy = ({ starting }: Row, running: ReadonlyArray<Running>): boolean =>
  running.length > 0 || starting.length > 0

const isDue = (row: Row, running: ReadonlyArray<Running>, now: number): boolean => {
  const { paused, queue } = row.state
  return (row.wakeAt !== null && row.wakeAt <= now) || (queue.length > 0 && paused === null && !isBusy(row, running))
}

/** Returns how many occurrences of a backfill may start now: one after another, unless runs may overlap. */
const freeFor = (row: Row, running: ReadonlyArray<Running>): number => {
  if (row.definition.overlap === "allow") return backfilledAtATime
  return isBusy(row, running) || row.state.queue.length > 0 ? 0 : 1
}

/** Decides about due occurrences, then about those of a backfill. */
export const tick = (row: Row, running: ReadonlyArray<Running>, now: number): Row => {
  const moment = { now: utc(now), running: isBusy(row, running) }
  const next = isDue(row, running, now) ? decided(row, Due.due(row.definition, row.state, moment), running) : row
  const free = freeFor(next, running)
  return {
    ...next,
    starting: [...next.starting, ...next.backfill.slice(0, free)],
    backfill: next.backfill.slice(free)
  }
}

/** Returns the row of a new schedule, which begins now. */
export const created = ({ definition, ...wanted }: Wanted, now: number): Row => {
  const { state, wakeAt } = Due.change(definition, Due.start(definition, utc(now)), utc(now))
  return {
    format: 1,
    ...wanted,
    definition,
    setAt: now,
    state,
    wakeAt: millisOf(wakeAt),
    starting: [],
    stop: null,
    backfill: [],
    running: [],
    problem: null,
    recent: []
  }
}

/**
 * Returns the row with another definition. If its times differ, earlier occurrences that have not started are skipped. If its flow
 * differs, so are occurrences that were to start, except those in `begun`.
 */
export const changed = (row: Row, wanted: Wanted, now: number, begun: ReadonlyArray<Started>): Row => {
  const { skipped: queued, state, wakeAt } = Due.change(wanted.definition, row.state, utc(now))
  const passed =
    state.times === row.state.times
      ? []
      : occurrences(row.definition, utc(row.state.upTo.epochMilliseconds + 1), utc(now + 1), mostChanged)
  const ofOther = row.flow === wanted.flow ? [] : [...row.starting, ...row.backfill]
  const dropped = [
    ...ofOther.filter((at) => !begun.some((one) => one.at === at)),
    ...[...queued, ...passed].map(({ at }) => at.epochMilliseconds)
  ]
  return {
    ...row,
    ...wanted,
    setAt: now,
    state,
    wakeAt: millisOf(wakeAt),
    starting: ofOther.length > 0 ? [] : row.starting,
    backfill: ofOther.length > 0 ? [] : row.backfill,
    problem: null,
    recent: [
      ...row.recent,
      ...dropped.map((at) => skipped(at, "changed", "the definition was changed before it started"))
    ]
  }
}

/** Whether the row needs nothing but to wait. */
export const isIdle = ({ backfill, starting, state, stop, wakeAt }: Row, now: number): boolean =>
  (wakeAt === null || wakeAt > now) &&
  starting.length === 0 &&
  stop === null &&
  backfill.length === 0 &&
  state.queue.length === 0
