/**
 * Ticks, outages, pauses, clocks that are set back and runs of any length, against a model that knows every occurrence
 * of the span and its result.
 */
import { assert, it } from "@effect/vitest"
import type { Definition } from "@signalbox/schedule/Definition"
import { type Due, due, pause, resume, runNow, start, type State } from "@signalbox/schedule/Due"
import { type Occurrence, occurrences } from "@signalbox/schedule/Occurrences"
import { sized } from "@signalbox/testkit/Soak"
import * as Arbitrary from "effect/Arbitrary"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import { holds, oneOf, whole } from "./support/Arbitraries.ts"
import { schedule } from "./support/Definitions.ts"

const minute = 60_000
const created = Date.UTC(2026, 9, 23, 12, 7)
const span = 20 * 1440 * minute

const utc = (millis: number) => DateTime.makeUnsafe(millis)
const millis = ({ at }: { readonly at: DateTime.Utc }) => at.epochMilliseconds

const definitions = Arbitrary.map(
  Arbitrary.all({
    cron: oneOf("*/10 * * * *", "30 2 * * *", "0 */3 * * *"),
    missed: oneOf("none", "last", "all"),
    overlap: oneOf("skip", "queue", "allow", "stop"),
    queue: whole(1, 3),
    jitter: oneOf("0 seconds", "0 seconds", "4 minutes", "1 hour"),
    closed: oneOf("none", "sun"),
    otherwise: oneOf("skip", "after")
  }),
  ({ closed, otherwise, ...rest }) =>
    schedule({
      ...rest,
      zone: "Europe/Vienna",
      calendar: { weekdays: closed === "sun" ? ["sun"] : [], otherwise }
    })
)

const steps = Arbitrary.array(
  Arbitrary.all({
    command: oneOf("tick", "tick", "tick", "tick", "tick", "tick", "pause", "resume", "run now"),
    minutes: oneOf(-15, 0, 0, 1, 1, 3, 9, 10, 10, 25, 61, 180, 700, 1440, 4000),
    runFor: oneOf(1, 15, 70, 1000)
  }),
  { minLength: 5, maxLength: 40 }
)

/** Which due occurrences begin or wait, and why the others do not, one policy after another. */
const expected = (
  definition: Definition,
  state: State,
  come: ReadonlyArray<Occurrence>,
  now: number,
  busy: boolean
) => {
  const last = come.at(-1)
  const punctual = last !== undefined && now - last.start.epochMilliseconds <= minute
  const begin: Array<number> = []
  const waiting = state.queue.map((at) => at.epochMilliseconds)
  if (state.paused !== null) return { begin, waiting }
  const kept = come.filter(
    (one) =>
      definition.missed === "all" ||
      (one === last && (definition.missed === "last" || (definition.missed === "none" && punctual)))
  )
  const line = [...waiting.splice(0), ...kept.map(millis)]
  for (const [index, at] of line.entries()) {
    const met = busy || begin.length > 0
    if (definition.overlap === "allow" || (definition.overlap === "stop" ? index === line.length - 1 : !met))
      begin.push(at)
    else if (definition.overlap === "queue" && waiting.length < definition.queue) waiting.push(at)
  }
  return { begin, waiting }
}

const simulate = (
  definition: Definition,
  all: ReadonlyArray<{ readonly command: string; readonly minutes: number; readonly runFor: number }>
) => {
  const counted = occurrences(definition, utc(created + 1), utc(created + span), 10_000)
  const open = new Set(counted.map(millis))
  const plain = { ...definition, jitter: Duration.zero, calendar: { ...definition.calendar, weekdays: [] } }
  const closed =
    definition.calendar.otherwise === "skip"
      ? occurrences(plain, utc(created + 1), utc(created + span), 10_000)
          .map(millis)
          .filter((at) => !open.has(at))
      : []
  const fates = new Map<number, string>()
  const ranges: Array<Due["unlisted"] & object> = []
  let state = start(definition, utc(created))
  let now = created
  let runs: ReadonlyArray<number> = []

  const settle = (at: number, fate: string) => {
    assert.isFalse(fates.has(at), `${new Date(at).toISOString()} was ${fates.get(at)}, now ${fate}`)
    fates.set(at, fate)
  }
  const record = (result: Due, by: "schedule" | "hand", runFor: number) => {
    assert.isAtLeast(result.state.upTo.epochMilliseconds, state.upTo.epochMilliseconds)
    assert.isAtMost(result.state.queue.length, definition.overlap === "queue" ? definition.queue : 0)
    if (result.stop) runs = []
    for (const one of result.begin) {
      assert.isAtMost(one.start.epochMilliseconds, Math.max(now, state.upTo.epochMilliseconds))
      if (by === "schedule" || millis(one) !== now) settle(millis(one), "begun")
      runs = [...runs, now + runFor * minute]
    }
    for (const one of result.skipped) if (by === "schedule" || millis(one) !== now) settle(millis(one), one.reason)
    if (result.unlisted !== undefined) ranges.push(result.unlisted)
    state = result.state
  }

  for (const { command, minutes, runFor } of all) {
    now = Math.min(now + minutes * minute, created + span - 1)
    const busy = runs.some((end) => end > now)
    if (command === "pause") state = pause(state, { at: utc(now), by: "Ada", note: "" })
    else if (command === "resume") record(resume(definition, state, utc(now)), "schedule", runFor)
    else if (command === "run now") {
      // A manual run is not an occurrence of the schedule, but the model would count it as one while it waits.
      if (definition.overlap !== "queue")
        record(runNow(definition, state, { now: utc(now), running: busy }), "hand", runFor)
    } else {
      const from = state.upTo.epochMilliseconds
      const come = counted.filter((one) => millis(one) > from && one.start.epochMilliseconds <= now)
      const batch = definition.missed === "all" ? come.slice(0, 100) : come
      const wanted = expected(definition, state, batch, now, busy)
      const result = due(definition, state, { now: utc(now), running: busy })
      assert.deepStrictEqual(result.begin.map(millis), wanted.begin)
      assert.deepStrictEqual(
        result.state.queue.map((at) => at.epochMilliseconds),
        wanted.waiting
      )
      record(result, "schedule", runFor)
      const next = counted.find((one) => millis(one) > result.state.upTo.epochMilliseconds)
      const more = definition.missed === "all" && state.paused === null && come.length > 100
      if (next !== undefined) assert.deepStrictEqual(result.wakeAt, more ? utc(now) : next.start)
    }
  }

  // Everything up to now began, waits, was skipped with a reason, or is in a period where too many were skipped.
  const waits = new Set(state.queue.map((at) => at.epochMilliseconds))
  const unlisted = (at: number) =>
    ranges.some(({ after, before }) => at > after.epochMilliseconds && at < before.epochMilliseconds)
  const upTo = state.upTo.epochMilliseconds
  for (const at of [...counted.map(millis), ...closed]) {
    if (at > upTo) assert.isFalse(fates.has(at))
    else assert.isTrue(fates.has(at) !== waits.has(at) || unlisted(at), `${new Date(at).toISOString()} is lost`)
  }
  for (const at of closed.filter((at) => fates.has(at))) assert.strictEqual(fates.get(at), "calendar")
}

it.effect("due settles each occurrence once, whatever the ticks, pauses and outages", () =>
  holds(
    Arbitrary.all({ definition: definitions, steps }),
    ({ definition, steps }) => simulate(definition, steps),
    sized(40, 3000)
  )
)
