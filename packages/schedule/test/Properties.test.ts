import { assert, describe, it } from "@effect/vitest"
import { type Definition, type DefinitionInput, make } from "@signalbox/schedule/Definition"
import { next, occurrences, previous } from "@signalbox/schedule/Occurrences"
import { sized } from "@signalbox/testkit/Soak"
import * as Arbitrary from "effect/Arbitrary"
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import { calendars, crons, holds, instants, oneOf, whole, zones } from "./support/Arbitraries.ts"
import { wallClock } from "./support/Reckoning.ts"

const minute = 60_000
const day = 1440 * minute

const utc = (millis: number) => DateTime.makeUnsafe(millis)
const millis = ({ at }: { readonly at: DateTime.Utc }) => at.epochMilliseconds

type Rule = Pick<DefinitionInput, "cron" | "every" | "anchor" | "at">

const iso = (millis: number) => new Date(millis).toISOString()

const rules = Arbitrary.map(
  Arbitrary.all({
    kind: oneOf("cron", "cron", "cron", "every", "at"),
    cron: crons,
    every: oneOf("1 day", "36 hours", "7 days", "45 days"),
    anchor: instants
  }),
  ({ anchor, cron, every, kind }): Rule => {
    if (kind === "cron") return { cron }
    const at = iso(Math.floor(anchor / minute) * minute)
    return kind === "at" ? { at } : { every, anchor: at }
  }
)

const cases = Arbitrary.all({
  rule: rules,
  zone: zones,
  calendar: calendars,
  jitter: oneOf("0 seconds", "5 minutes", "2 days"),
  at: instants,
  past: whole(0, 200_000)
})
type Case = typeof cases extends Arbitrary.Arbitrary<infer A> ? A : never

/** `undefined` where the calendar leaves no occurrence of the rule. */
const definitionOf = ({ calendar, jitter, rule, zone }: Omit<Case, "at" | "past">): Definition | undefined =>
  Result.getOrUndefined(make({ name: "s", ...rule, zone, calendar, jitter }))

describe("of any schedule", () => {
  it.effect("occurrences follow one another, and next finds the first that is later", () =>
    holds(
      cases,
      (one) => {
        const definition = definitionOf(one)
        if (definition === undefined) return
        const times = occurrences(definition, utc(one.at), utc(one.at + 400 * day), 30)
        const first = next(definition, utc(one.at - 1))
        if (times[0] !== undefined) assert.deepStrictEqual(first, times[0])
        else assert.isTrue(first === undefined || millis(first) >= one.at + 400 * day)
        const within = one.at + one.past * 1000
        const later = times.find((time) => millis(time) > within)
        if (later !== undefined) assert.deepStrictEqual(next(definition, utc(within)), later)
        for (const [index, time] of times.entries()) {
          const following = times[index + 1]
          assert.isAtLeast(time.start.epochMilliseconds, millis(time))
          if (following === undefined) continue
          assert.isAbove(millis(following), millis(time))
          assert.isBelow(time.start.epochMilliseconds, millis(following))
          assert.deepStrictEqual(next(definition, time.at), following)
        }
      },
      sized(40, 5000)
    )
  )

  it.effect("previous is the way back of next", () =>
    holds(
      cases,
      (one) => {
        const definition = definitionOf(one)
        if (definition === undefined) return
        const times = occurrences(definition, utc(one.at), utc(one.at + 400 * day), 4)
        for (const [index, time] of times.entries()) {
          assert.deepStrictEqual(previous(definition, time.at), time)
          const before = times[index - 1]
          if (before !== undefined) assert.deepStrictEqual(previous(definition, utc(millis(time) - 1)), before)
        }
        const last = previous(definition, utc(one.at))
        if (last === undefined) return
        assert.isAtMost(millis(last), one.at)
        const after = next(definition, last.at)
        if (after !== undefined) assert.isAbove(millis(after), one.at)
      },
      sized(30, 2000)
    )
  )
})

type CalendarInput = NonNullable<DefinitionInput["calendar"]>

/** The day to which a local day moves, according to `Calendar`, or `undefined` when it is skipped. */
const movedDays = ({ dates = [], otherwise, weekdays = [] }: CalendarInput) => {
  const names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
  const days = new Set(dates)
  const counts = (of: number) =>
    !days.has(iso(of).slice(0, 10)) && !weekdays.some((name) => name === names[new Date(of).getUTCDay()])
  return (local: number): number | undefined => {
    let found = local
    while (!counts(found)) {
      if (otherwise === "skip") return undefined
      found += otherwise === "after" ? day : -day
    }
    return found
  }
}

/** The first instant at which the clock shows a local time, or one beyond it. */
const firstShowing = (zone: string, local: number): number => {
  const read = wallClock(zone)
  const offsets = [local - 28 * 60 * minute, local + 28 * 60 * minute].map((instant) => read(instant) - instant)
  let instant = local - Math.max(...offsets)
  while (read(instant) < local) instant += minute
  return instant
}

const reckoned = (definition: Definition, plain: Definition, calendar: CalendarInput, from: number, to: number) => {
  const read = wallClock(definition.zone)
  const movedDay = movedDays(calendar)
  const times = occurrences(plain, utc(from - 30 * day), utc(to + 30 * day), 100_000).flatMap((time) => {
    const local = read(millis(time))
    const date = Math.floor(local / day) * day
    const moved = movedDay(date)
    if (moved === undefined) return []
    return [moved === date ? millis(time) : firstShowing(definition.zone, moved + local - date)]
  })
  return [...new Set(times)].filter((time) => time >= from && time < to).sort((a, b) => a - b)
}

describe("with any calendar", () => {
  const compare = (one: Case) => {
    const definition = definitionOf(one)
    const plain = definitionOf({ ...one, calendar: {} })
    if (definition === undefined || plain === undefined) return
    const to = one.at + 60 * day
    assert.deepStrictEqual(
      occurrences(definition, utc(one.at), utc(to), 100_000).map(millis).map(iso),
      reckoned(definition, plain, one.calendar, one.at, to).map(iso)
    )
  }
  const minutes = oneOf("30 2 * * *", "0 9 1,15 * *", "0 12 31 * *", "30 8 13 * fri", "0 0 * * *", "0 */6 * * mon-fri")

  it.effect("a cron comes on the days that each of its days moves to", () =>
    holds(
      Arbitrary.map(Arbitrary.all({ one: cases, cron: minutes }), ({ cron, one }) => ({
        ...one,
        rule: { cron },
        zone: "UTC" as const
      })),
      compare,
      sized(40, 3000)
    )
  )

  it.effect("every and at come on the days that each of their times moves to, in any zone", () =>
    holds(
      Arbitrary.filter(cases, ({ rule }) => rule.cron === undefined),
      compare,
      sized(40, 2000)
    )
  )
})
