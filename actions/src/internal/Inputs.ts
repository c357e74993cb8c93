/** The inputs of an action: GitHub hands them over as variables of the environment. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Duration from "effect/Duration"

/** An input that is missing or means nothing. The message begins with its name. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", { message: Schema.String }) {}

const given = (name: string) => (process.env[`INPUT_${name.toUpperCase()}`] ?? "").trim()

/** Returns the text of an input, null without one. */
export const optional = (name: string) => Effect.sync(() => (given(name) === "" ? null : given(name)))

/** Returns the text of an input. */
export const required = Effect.fnUntraced(function* (name: string) {
  const text = given(name)
  if (text === "") return yield* new InvalidInput({ message: `${name}: is missing; set it below \`with:\`` })
  return text
})

/** Decodes an input; `expected` says what it should be. */
export const decoded = Effect.fnUntraced(function* <A>(
  name: string,
  schema: Schema.ConstraintDecoder<A, never>,
  expected: string
) {
  const decode = Schema.decodeUnknownEffect(schema)
  return yield* Effect.mapError(
    decode(yield* required(name)),
    // The text itself may be a secret that was put into the wrong input.
    () => new InvalidInput({ message: `${name}: expected ${expected}` })
  )
})

/** Returns whether an input is `true`. */
export const flag = (name: string) =>
  Effect.map(decoded(name, Schema.Literals(["true", "false"]), "true or false"), (text) => text === "true")

/** Returns the lines of an input. */
export const lines = (name: string) =>
  Effect.sync(() =>
    given(name)
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "")
  )

/** Returns the length of time in an input, null without one. */
export const length = Effect.fnUntraced(function* (name: string) {
  if ((yield* optional(name)) === null) return null
  const expected = 'a number with its unit, such as "30 minutes"'
  const duration = yield* decoded(name, Schema.DurationFromString, expected)
  if (Duration.isFinite(duration) && Duration.toMillis(duration) > 0) return duration
  return yield* new InvalidInput({ message: `${name}: expected ${expected}` })
})
