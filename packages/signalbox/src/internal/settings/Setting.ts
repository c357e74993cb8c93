/**
 * One thing that can be set. A setting is a row of a table (`Storage`, `Server`, `Worker`, `Environments`, `Logs`): its flag, which falls
 * back to its variable, then to a default, and the schema that parses either. Flags, errors, `signalbox config` and the table of the
 * README come from the row.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Flag from "effect/cli/Flag"

/** A setting has an invalid value, or two settings contradict each other. */
export class SettingsError extends TaggedError<SettingsError>()("SettingsError", { message: Schema.String }) {}

interface Row<A, D extends A | null | undefined> {
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
  readonly takes?: "integer" | "boolean" | "texts"
  readonly metavar?: string
  /** Parses the text of the flag or of the variable, for `texts` also a list of them; `Secret` for what is never shown. */
  readonly schema: Schema.ConstraintCodec<A, unknown>
  readonly default: D
  /** The default in the form for people, where it differs from its text. */
  readonly fallback?: string
  /** A value in the form for people, where it differs from its text. */
  readonly show?: (value: A) => string
}

/** A row with its names, and how its value is parsed. */
export interface Setting<A> {
  readonly flag: string | null
  readonly variable: string | null
  readonly otherVariable: string | null
  readonly description: string
  readonly help: string | null
  readonly takes: "text" | "integer" | "boolean" | "texts"
  readonly metavar: string | null
  readonly default: A
  readonly fallback: string
  /** The value, and its form for people; fails with what was expected. */
  readonly parse: (text: Given["text"]) => Result.Result<{ readonly value: A; readonly shown: string }, string>
}

export type Table = Readonly<Record<string, Setting<unknown>>>

/** The values of a table. */
export type Values<T extends Table> = { readonly [Name in keyof T]: T[Name] extends Setting<infer A> ? A : never }

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** A row of a table. */
export const setting = <A, const D extends A | null | undefined>(row: Row<A, D>): Setting<A | D> => {
  const show = row.show ?? String
  const decode = Schema.decodeUnknownResult(row.schema)
  return {
    flag: row.flag ?? null,
    variable: row.variable ?? null,
    otherVariable: row.otherVariable ?? null,
    description: row.description,
    help: row.help ?? null,
    takes: row.takes ?? "text",
    metavar: row.metavar ?? null,
    default: row.default,
    fallback: row.fallback ?? String(row.default),
    parse: (text) =>
      Result.mapBoth(decode(text), {
        onSuccess: (value) => ({ value, shown: show(value) }),
        // A value is shown by a message of its row alone: it may be a secret.
        onFailure: ({ issue }) => (format(issue).issues[0]?.message ?? "not valid").replace(/, got .*$/s, "")
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

/** The texts of a flag that may be repeated, or those of its variable. */
export const list = <A>(item: Schema.ConstraintCodec<A, string>, split: (variable: string) => ReadonlyArray<string>) =>
  Schema.Union([Schema.String, Schema.Array(Schema.String)]).pipe(
    Schema.decodeTo(
      Schema.Array(item),
      SchemaTransformation.transform({
        decode: (text) => (typeof text === "string" ? split(text) : text),
        encode: (texts) => texts
      })
    )
  )

/** Separated by spaces. */
export const words = (text: string) => text.split(/\s+/).filter((word) => word !== "")

/** A text, or those of a repeated flag, and where it is from. */
export interface Given {
  readonly source: "flag" | "environment"
  readonly text: string | ReadonlyArray<string>
}

/** What was given of a table, by name; null: neither flag nor variable. What is absent is looked up among the variables. */
export type AllGiven = Readonly<Record<string, Given | null | undefined>>

/** An empty variable counts as unset, as with every provider of an environment. */
const fromVariable = (variable: string, other: string | null): Config.Config<Given> =>
  Config.String(variable).pipe(
    other === null ? (config) => config : Config.orElse(() => Config.String(other)),
    Config.map((text) => ({ source: "environment", text }))
  )

const bareFlag = (flag: string, { takes }: Setting<unknown>): Flag.Flag<Given["text"]> => {
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
 * A flag that falls back to its variable. Both are parsed later, by `read`: an error of `withFallbackConfig` names the flag alone, shows
 * the value, and is one of the command line, with another exit code.
 */
const flagOf = (flag: string, setting: Setting<unknown>): Flag.Flag<Given | null> => {
  const { description, help, metavar, otherVariable, variable } = setting
  return bareFlag(flag, setting).pipe(
    Flag.withDescription(help === null ? description : `${description}; ${help}`),
    metavar === null ? (flag) => flag : Flag.withMetavar(metavar),
    Flag.map((text): Given => ({ source: "flag", text })),
    variable === null ? (flag) => flag : Flag.withFallbackConfig(fromVariable(variable, otherVariable)),
    Flag.withDefault(null)
  )
}

/** The flags of a table, for a command. */
export const flagsOf = (table: Table): Readonly<Record<string, Flag.Flag<Given | null>>> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([name, setting]) =>
      setting.flag === null ? [] : [[name, flagOf(setting.flag, setting)]]
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
  const { flag, otherVariable, variable } = setting
  const found =
    given !== undefined || variable === null
      ? (given ?? null)
      : Option.getOrNull(yield* Effect.option(fromVariable(variable, otherVariable)))
  if (found === null) return { value: setting.default, shown: setting.fallback, source: "default" }
  const parsed = setting.parse(found.text)
  if (Result.isSuccess(parsed)) return { ...parsed.success, source: found.source }
  const names = [...(flag === null ? [] : [`--${flag}`]), ...(variable === null ? [] : [variable])]
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
