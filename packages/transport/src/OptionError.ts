/**
 * Options that cannot be: every layer and client of Signalbox checks its own where they are given, by a table of rules.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { suggest } from "./Suggestions.ts"

/**
 * An option has a value that can never work. A mistake in the program, so it is thrown, and a defect inside of an effect. The
 * message names the option and what is expected, and shows numbers alone: an address may contain a password.
 */
export class OptionError extends RangeError {
  override readonly name = "OptionError"
  /** Its path, such as `rateLimit.burst`. */
  readonly option: string
  constructor(option: string, message: string) {
    super(message)
    this.option = option
  }
}

/** Returns what is expected instead of a value; null where the value can be. */
export type Rule = (value: unknown) => string | null

const when =
  (isRight: (value: unknown) => boolean, expected: string): Rule =>
  (value) =>
    isRight(value) ? null : expected

const isHttp = (value: unknown): boolean => {
  if (typeof value !== "string" || !/^https?:\/\/[^\s/]+\S*$/i.test(value)) return false
  return URL.canParse(value)
}

/** An absolute address, such as `http://127.0.0.1:4700`. */
export const address: Rule = when(isHttp, "expected an absolute http or https address, such as http://127.0.0.1:4700")

/** A text that is not empty. */
export const text: Rule = when(
  (value) => typeof value === "string" && value.trim() !== "",
  "expected a text that is not empty"
)

/** What users call a thing: a text of 1 to 255 characters. */
export const named: Rule = when(
  (value) => typeof value === "string" && value.trim() !== "" && value.length <= 255,
  "expected a name of 1 to 255 characters"
)

/** A whole number within bounds, which are part of it. */
export const whole = (least: number, most = Number.MAX_SAFE_INTEGER): Rule =>
  when(
    (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most,
    most === Number.MAX_SAFE_INTEGER
      ? `expected a whole number of at least ${least}`
      : `expected a whole number from ${least} to ${most}`
  )

/** A finite number above 0. */
export const positive: Rule = when(
  (value) => typeof value === "number" && Number.isFinite(value) && value > 0,
  "expected a finite number above 0"
)

/** Not a number for what is no length of time; `Duration` takes NaN for nothing. */
const millisOf = (value: unknown): number =>
  typeof value === "number"
    ? value
    : // `fromInput` checks what it gets.
      Option.match(Duration.fromInput(value as Duration.Input), { onNone: () => NaN, onSome: Duration.toMillis })

/** A finite length of time, of more than nothing. */
export const time: Rule = when(
  (value) => Number.isFinite(millisOf(value)) && millisOf(value) > 0,
  'expected a length of time above 0, such as "30 days" or 5000 (milliseconds)'
)

/** A finite length of time, which may be 0. */
export const timeOrNone: Rule = when(
  (value) => Number.isFinite(millisOf(value)) && millisOf(value) >= 0,
  'expected a length of time of 0 or more, such as "10 seconds" or 5000 (milliseconds)'
)

/** A length of time, which may be 0, and `"Infinity"` for no limit. */
export const timeOrForever: Rule = when(
  (value) => millisOf(value) >= 0,
  'expected a length of time of 0 or more, such as "10 seconds" or 5000 (milliseconds), or "Infinity"'
)

/** A function. */
export const callable: Rule = when((value) => typeof value === "function", "expected a function")

/** Null, or what the rule allows. */
export const orNull =
  (rule: Rule): Rule =>
  (value) => {
    const expected = value === null ? null : rule(value)
    return expected === null ? null : `${expected}, or null`
  }

/** A list whose members the rule allows. */
export const listOf =
  (rule: Rule): Rule =>
  (value) =>
    Array.isArray(value) ? (value.map(rule).find((expected) => expected !== null) ?? null) : "expected a list"

/** What a text must look like, such as an origin. */
export const matching = (pattern: RegExp, expected: string): Rule =>
  when((value) => typeof value === "string" && pattern.test(value), expected)

/** The rules of a record of options, by name. */
export type Rules<O> = { readonly [K in keyof O]?: Rule }

/**
 * Throws an `OptionError` for the first option that is given and breaks its rule. `of` names whose options they are.
 *
 * ```ts
 * import { check, whole } from "@signalbox/transport/OptionError"
 *
 * export const layer = (options: { readonly pages?: number }) =>
 *   check("Reports.layer", options, { pages: whole(1) })
 * ```
 */
export const check = <O extends object>(of: string, options: O, rules: Rules<O>, prefix = ""): void => {
  for (const [name, rule] of Object.entries<Rule | undefined>(rules)) {
    const value: unknown = Reflect.get(options, name)
    const expected = value === undefined ? null : (rule?.(value) ?? null)
    if (expected === null) continue
    const shown = typeof value === "number" ? `, not ${value}` : ""
    throw new OptionError(`${prefix}${name}`, `${of}: ${prefix}${name}: ${expected}${shown}`)
  }
}

/**
 * Throws an `OptionError` for the first option that is given and has none of the names. `of` names whose options they are.
 *
 * ```ts
 * import { checkNames } from "@signalbox/transport/OptionError"
 *
 * export const layer = (options: { readonly pages?: number }) =>
 *   checkNames("Reports.layer", options, ["pages"])
 * ```
 */
export const checkNames = (of: string, options: object, names: ReadonlyArray<string>): void => {
  const unknown = unknownName(options, names)
  if (unknown !== undefined) {
    throw new OptionError(unknown, `${unknown}: no such option of ${of}; ${suggest(unknown, names)}`)
  }
}

/** Returns the first name of a member that is given, which is none of the names. */
export const unknownName = (given: object, names: ReadonlyArray<string>): string | undefined =>
  Object.entries(given).find(([name, value]) => value !== undefined && !names.includes(name))?.[0]
