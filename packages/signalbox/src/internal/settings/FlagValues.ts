/** What commands share of flags: texts, whole numbers within bounds, lengths of time, and objects of values. */
import { isDay } from "@signalbox/api/contract/Common"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Flag from "effect/cli/Flag"

/** A text, named in the help by `metavar`; none without the flag. */
export const text = (name: string, description: string, metavar: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), Flag.optional)

/** For commands that run until they are ended. */
export const jsonWhenReady = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one line of JSON when ready; logs go to stderr"),
  Flag.withDefault(false)
)

/** An object with the value of a flag under this key, empty without the flag. */
export const given = <K extends string, A>(key: K, flag: Option.Option<A>) =>
  // An object with one computed key of a literal type is widened by the compiler.
  (Option.isSome(flag) ? { [key]: flag.value } : {}) as { readonly [P in K]?: A }

/** A flag of a whole number; bounds are part of it. */
export const whole = (name: string, minimum: number, maximum?: number) =>
  Flag.Int(name).pipe(
    Flag.withSchema(
      Schema.Int.check(
        maximum === undefined ? Schema.isGreaterThanOrEqualTo(minimum) : Schema.isBetween({ minimum, maximum })
      )
    )
  )

/** How many of a list are printed. */
export const limit = whole("limit", 1)

/** A port; 0 is a free one. */
export const port = (name: string, least: 0 | 1 = 0) => whole(name, least, 65_535)

/** A flag of a time. A 30th of February would be read as a day of March. */
export const time = (name: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("date"),
    Flag.withSchema(
      Schema.String.check(
        Schema.makeFilter((text) =>
          !Number.isNaN(Date.parse(text)) && isDay(/^\d{4}-\d\d-\d\d/.exec(text)?.[0] ?? "1970-01-01")
            ? undefined
            : "Expected a time that exists, such as 2026-11-20T08:00:00Z"
        )
      ).pipe(Schema.decodeTo(Schema.DateFromString))
    )
  )

/** A length of time with its unit. */
export const Length = Schema.String.check(
  Schema.isPattern(/^\d{1,9} (millis|seconds?|minutes?|hours?|days?|weeks?)$/, {
    message: 'Expected a number of seconds, minutes, hours, days or weeks, such as "10 minutes"'
  })
).pipe(Schema.decodeTo(Schema.DurationFromString))

/** The value of a variable; null where it is unset or empty. */
export const variable = (name: string) => Effect.map(Effect.option(Config.NonEmptyString(name)), Option.getOrNull)
