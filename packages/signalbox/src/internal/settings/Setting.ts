/**
 * One thing that can be set. A setting is a row of a table (`Storage`, `Server`, `Worker`, `Environments`, `Logs`): its flag, which falls
 * back to its variable, then to a default, and the schema that parses either. Flags, errors, `signalbox config` and the table of the
 * README come from the row.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as SchemaProblem from "@signalbox/transport/SchemaProblem"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Flag from "effect/cli/Flag"

/** A setting has an invalid value, or two settings contradict each other. */
export class SettingsError extends TaggedError<SettingsError>()("SettingsError", { message: Schema.String }) {}

interface Names {
  /** Without dashes. Without one, only the variable is read: other users of the machine see flags. */
  readonly flag?: string
  /** Without one, only the flag is read. */
  readonly variable?: string
  /** Read where `variable` is not set. */
  readonly otherVariable?: string
  readonly description: string
  /** What the help of the flag adds to the description. */
  readonly help?: string
  /** What the flag takes, by default a text. `texts`: it may be repeated. */
  readonly takes?: "text" | "integer" | "boolean" | "texts"
  readonly metavar?: string
}

interface Row<A, D extends A | null | undefined> extends Names {
  /** Parses the text of the flag or of the variable, for `texts` also a list of them; `Secret` for what is never shown. */
  readonly schema: Schema.ConstraintCodec<A, unknown>
  readonly default: D
  /** The default in the form for people, where it differs from its text. */
  readonly fallback?: string
  /** A value in the form for people, where it differs from its text. */
  readonly show?: (value: A) => string
}

/** A row of a table. */
export interface Setting<A> extends Names {
  readonly default: A
  readonly fallback: string
  /** The value, and its form for people; fails with what was expected. */
  readonly parse: (text: Given["text"]) => Result.Result<{ readonly value: A; readonly shown: string }, string>
}

export type Table = Readonly<Record<string, Setting<unknown>>>

/** The values of a table. */
export type Values<T extends Table> = { readonly [Name in keyof T]: T[Name] extends Setting<infer A> ? A : never }

/** Defines a row of a table. */
export const setting = <A, const D extends A | null | undefined>({
  schema,
  show = String,
  ...row
}: Row<A, D>): Setting<A | D> => {
  const decode = Schema.decodeUnknownResult(schema, SchemaProblem.parseOptions)
  return {
    fallback: String(row.default),
    ...row,
    parse: (text) =>
      Result.mapBoth(decode(text), {
        onSuccess: (value) => ({ value, shown: show(value) }),
        // A value is shown by a message of its row alone: it may be a secret.
        onFailure: (error) => SchemaProblem.first(error).message
      })
  }
}

/** What is never shown: as a text it is `<redacted>`. */
export const Secret = Schema.RedactedFromValue(Schema.String)

/** The texts of `Flag.Boolean`, and those that variables may have. */
export const Switch = Schema.Literals(["true", "yes", "on", "1", "y", "false", "no", "off", "0", "n"]).pipe(
  Schema.decodeTo(
    Schema.Boolean,
    SchemaTransformation.transform({
      decode: (text) => ["true", "yes", "on", "1", "y"].includes(text),
      encode: (on) => (on ? "true" : "false")
    })
  )
)

/** Several of these, as `split` finds them in the text of a variable, or in those of a flag that is repeated. */
export const list = <A>(
  item: Schema.ConstraintCodec<A, string>,
  split: (text: Given["text"]) => ReadonlyArray<string>
) =>
  Schema.Union([Schema.String, Schema.Array(Schema.String)]).pipe(
    Schema.decodeTo(
      Schema.Array(item),
      SchemaTransformation.transform({ decode: (text) => split(text), encode: (texts) => texts })
    )
  )

/** A variable has them separated; of a repeated flag each is one. */
export const separatedBy = (separator: string | RegExp) => (text: Given["text"]) =>
  typeof text === "string" ? text.split(separator).filter((part) => part !== "") : text

/** Separated by spaces. */
export const words = separatedBy(/\s+/)

/** A text, or those of a repeated flag, and where it is from. */
export interface Given {
  readonly source: "flag" | "environment"
  readonly text: string | ReadonlyArray<string>
}

/** What was given of a table, by name; without it the variable is read. */
export type AllGiven = Readonly<Record<string, Given | null | undefined>>

/** What the variable has; an empty one counts as unset, as with every provider of an environment. */
const fromVariable = ({ otherVariable, variable }: Names): Config.Config<Given | null> =>
  variable === undefined
    ? Config.succeed(null)
    : Config.String(variable).pipe(
        Config.orElse(() => Config.String(otherVariable ?? variable)),
        Config.map((text): Given => ({ source: "environment", text })),
        Config.withDefault(null)
      )

const bareFlag = (flag: string, { takes = "text" }: Names): Flag.Flag<Given["text"]> => {
  switch (takes) {
    case "text":
      return Flag.String(flag)
    case "integer":
      return Flag.map(Flag.Int(flag), String)
    case "boolean":
      return Flag.map(Flag.Boolean(flag), String)
    case "texts":
      return Flag.atLeast(Flag.String(flag), 1)
  }
}

/**
 * A flag that falls back to its variable. Both are parsed later, by `resolve`: an error of `withFallbackConfig` names the flag alone, shows
 * the value, and is one of the command line, with another exit code.
 */
const flagOf = (flag: string, setting: Names): Flag.Flag<Given | null> =>
  bareFlag(flag, setting).pipe(
    Flag.withDescription([setting.description, setting.help].filter((text) => text !== undefined).join("; ")),
    setting.metavar === undefined ? (flag) => flag : Flag.withMetavar(setting.metavar),
    Flag.map((text): Given => ({ source: "flag", text })),
    Flag.withFallbackConfig(fromVariable(setting)),
    Flag.withDefault(null)
  )

/** The flags of a table, for a command. */
export const flagsOf = (table: Table): Readonly<Record<string, Flag.Flag<Given | null>>> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([name, setting]) =>
      setting.flag === undefined ? [] : [[name, flagOf(setting.flag, setting)]]
    )
  )

/** A value with its form for people, and where it is from. */
export interface Resolved<A> {
  readonly value: A
  readonly shown: string
  readonly source: "flag" | "environment" | "default"
}

/** The value in force. An error names flag and variable. */
export const resolve = Effect.fnUntraced(function* <A>(
  setting: Setting<A>,
  given: Given | null | undefined
): Effect.fn.Return<Resolved<A>, SettingsError> {
  const found = given ?? (yield* Effect.orElseSucceed(fromVariable(setting), () => null))
  if (found === null) return { value: setting.default, shown: setting.fallback, source: "default" }
  const parsed = setting.parse(found.text)
  if (Result.isSuccess(parsed)) return { ...parsed.success, source: found.source }
  const names = [setting.flag && `--${setting.flag}`, setting.variable].filter((name) => name !== undefined)
  return yield* new SettingsError({ message: `${names.join(" or ")}: ${parsed.failure}` })
})

/** The values in force of a table, by what was given of it. Fails with the first that is invalid. */
export const read = Effect.fnUntraced(function* <T extends Table>(
  table: T,
  given: AllGiven
): Effect.fn.Return<Values<T>, SettingsError> {
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(table)) values[name] = (yield* resolve(setting, given[name])).value
  // Each name has the value of its setting.
  return values as Values<T>
})
