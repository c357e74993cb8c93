/** The fields of a definition, each by itself. `Validation.ts` checks them together. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { dayOfDate, otherwises, weekdays } from "../times/Calendar.ts"

/** A text that `codec` accepts, with a message that describes its form. */
const textOf = <A>(codec: Schema.Codec<A, string>, isForm: (text: string) => boolean, message: string) => {
  const decode = Schema.decodeUnknownOption(codec)
  return Schema.String.check(
    Schema.makeFilter((text: string) => (isForm(text) && Option.isSome(decode(text)) ? undefined : message))
  ).pipe(Schema.decodeTo(codec))
}

/** A local time without an offset would be ambiguous. */
export const Instant = textOf(
  Schema.DateTimeUtcFromString,
  // `Date.parse` takes a 30th of February for a day of March.
  (text) => /^\d{4}-\d\d-\d\dT.{1,40}(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(dayOfDate(text.slice(0, 10))),
  "Expected an instant with its offset, such as 2026-11-22T09:00:00Z or 2026-11-22T09:00:00+01:00"
)

const Time = textOf(
  Schema.DurationFromString,
  (text) => text.length <= 100,
  "Expected a duration, such as 15 minutes or 1 day"
)

const LocalDate = Schema.String.check(
  Schema.makeFilter((date: string) =>
    Number.isNaN(dayOfDate(date)) ? "Expected a date that exists, such as 2026-12-25" : undefined
  )
)

const CalendarFields = Schema.Struct({
  dates: Schema.Array(LocalDate)
    .check(Schema.isMaxLength(3660, { message: "Expected at most 3660 dates, which are ten years" }))
    .pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed([]))),
  weekdays: Schema.Array(Schema.Literals(weekdays)).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed([]))),
  otherwise: Schema.Literals(otherwises).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed("skip")))
})

export const missedPolicies = ["none", "last", "all"] as const
export const overlapPolicies = ["skip", "queue", "allow", "stop"] as const

const Name = Schema.String.check(
  Schema.makeFilter((name: string) =>
    name.trim() === "" || name !== name.trim() || name.length > 200
      ? "Expected a name of 1 to 200 characters, without spaces around it"
      : undefined
  )
)

const QueueLength = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: 1000 }, { message: "Expected a whole number from 1 to 1000" })
)

/** Long texts take long to parse. */
const shortText = (most: number) =>
  Schema.String.check(
    Schema.makeFilter((text) => (text.length > most ? `Expected at most ${most} characters` : undefined))
  )

export const Fields = Schema.Struct({
  name: Name,
  cron: Schema.optionalKey(shortText(1000)),
  every: Schema.optionalKey(Time),
  anchor: Schema.optionalKey(Instant),
  at: Schema.optionalKey(Instant),
  zone: shortText(100).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed("UTC"))),
  from: Schema.optionalKey(Instant),
  until: Schema.optionalKey(Instant),
  calendar: CalendarFields.pipe(
    Schema.withDecodingDefaultTypeKey(Effect.succeed({ dates: [], weekdays: [], otherwise: "skip" }))
  ),
  jitter: Time.pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(Duration.zero))),
  missed: Schema.Literals(missedPolicies).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed("last"))),
  overlap: Schema.Literals(overlapPolicies).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed("skip"))),
  queue: QueueLength.pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(1)))
})
export interface Fields extends Schema.Schema.Type<typeof Fields> {}
