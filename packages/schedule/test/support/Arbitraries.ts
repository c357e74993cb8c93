/** Definitions generated from valid parts. */
import { assert } from "@effect/vitest"
import type { DefinitionInput } from "@signalbox/schedule/Definition"
import * as Arbitrary from "effect/Arbitrary"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export const oneOf = <const A extends ReadonlyArray<string | number>>(...values: A) =>
  Arbitrary.schema(Schema.Literals(values))

export const whole = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

/** Within the years of `Reckoning.test.ts`, whole seconds. */
export const instants = Arbitrary.map(whole(0, 7 * 365 * 86_400), (seconds) => Date.UTC(2008, 0, 1) + seconds * 1000)

export const crons = oneOf(
  "30 2 * * *",
  "*/15 * * * *",
  "10,40 1-3 * * *",
  "0 0 * * *",
  "0 */6 * * mon-fri",
  "0 9 1,15 * *",
  "0 12 31 * *",
  "30 8 13 * fri",
  "15 30 4 * * 0",
  "0 6 29 2 *"
)

export const zones = oneOf(
  "UTC",
  "Europe/Vienna",
  "America/St_Johns",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Asia/Beirut",
  "America/Asuncion"
)

type Calendar = NonNullable<DefinitionInput["calendar"]>

const weekdays: ReadonlyArray<NonNullable<Calendar["weekdays"]>> = [
  [],
  [],
  ["sun"],
  ["sat", "sun"],
  ["fri", "sat"],
  ["mon", "wed"]
]

/** Of each month of the years of `instants`. */
const days: ReadonlyArray<ReadonlyArray<number>> = [[], [], [1], [15, 16, 17], [28], [1, 2, 3, 13]]

const datesOf = (days: ReadonlyArray<number>) =>
  days.flatMap((day) =>
    Array.from({ length: 96 }, (_, month) => new Date(Date.UTC(2008, month, day)).toISOString().slice(0, 10))
  )

export const calendars: Arbitrary.Arbitrary<Calendar> = Arbitrary.map(
  Arbitrary.all({
    weekdays: whole(0, weekdays.length - 1),
    days: whole(0, days.length - 1),
    otherwise: oneOf("skip", "before", "after")
  }),
  (chosen) => ({
    weekdays: weekdays[chosen.weekdays] ?? [],
    dates: datesOf(days[chosen.days] ?? []),
    otherwise: chosen.otherwise
  })
)

/** Asserts that a property is true of every generated value; fails with the smallest counterexample found. */
export const holds = Effect.fnUntraced(function* <A>(
  values: Arbitrary.Arbitrary<A>,
  property: (value: A) => void,
  runs: number
) {
  const seed = yield* Config.withDefault(Config.String("SIGNALBOX_SCHEDULE_SEED"), "signalbox")
  const result = yield* Arbitrary.checkEffect(
    values,
    (value) => Effect.as(Effect.try({ try: () => property(value), catch: String }), true),
    { runs, seed }
  )
  assert.strictEqual(Arbitrary.formatCheckFailure(result), undefined)
})
