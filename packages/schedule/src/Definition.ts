/**
 * Definitions of schedules: their times, zone and calendar, and what happens to an occurrence that was missed or that
 * overlaps an earlier run.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as CronFields from "./internal/times/CronFields.ts"
import { digestOf } from "./internal/fields/Digest.ts"
import { Fields } from "./internal/fields/Fields.ts"
import { faultOf } from "./internal/fields/Validation.ts"

/**
 * The definition is invalid: `field` is the path of the field, `message` says what is wrong and what to do.
 *
 * ```ts
 * import * as Result from "effect/Result"
 * import { type InvalidSchedule, make } from "@signalbox/schedule/Definition"
 *
 * const show = ({ field, message }: InvalidSchedule) => `${field}: ${message}`
 * // "cron: no year has such a day, as with a 30th of February: change day or
 * // month"
 * export const shown = Result.mapError(
 *   make({ name: "never", cron: "0 0 30 2 *" }),
 *   show
 * )
 * ```
 */
export class InvalidSchedule extends Schema.TaggedError<InvalidSchedule>()("InvalidSchedule", {
  field: Schema.String,
  message: Schema.String
}) {}

/**
 * Schema of a valid definition. Its JSON has text for instants and durations; an instant needs its offset.
 *
 * - `name`: names the schedule; part of the keys of its occurrences.
 * - One of `cron` (5 fields, or 6 with seconds first), `every` (a duration of at least 1 second, in elapsed time,
 *   counted from `anchor`, which is the first occurrence; default 1970-01-01T00:00Z) and `at` (once).
 * - `zone`: name in the IANA database, default `UTC`. Local times of `cron` and days of `calendar` are of this zone.
 * - `from`, `until`: no occurrence before `from`, none at or after `until`.
 * - `calendar`: excluded `dates` and `weekdays`; `otherwise` is `skip` (default), or `before` or `after`, which move an
 *   occurrence to the same local time of the nearest day that is not excluded.
 * - `jitter`: an occurrence starts up to this long after its time, default 0. See `Occurrence.start`.
 * - `missed`: which of the missed occurrences run: `none`, `last` (default) or `all`.
 * - `overlap`: what happens to an occurrence while an earlier run is running: `skip` (default), `queue`, `allow` or
 *   `stop`.
 * - `queue`: how many wait at most with `overlap: "queue"`, 1 to 1000, default 1.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { Definition } from "@signalbox/schedule/Definition"
 *
 * const decode = Schema.decodeUnknownEffect(Definition)
 * export const nightly = decode({
 *   name: "nightly",
 *   cron: "30 2 * * mon-fri",
 *   zone: "Europe/Vienna"
 * })
 * ```
 */
export const Definition = Fields.check(Schema.makeFilter(faultOf))
  .pipe(Schema.brand("@signalbox/schedule/Definition"))
  .annotate({ identifier: "ScheduleDefinition" })
export type Definition = typeof Definition.Type

/** The JSON of a definition. */
export type DefinitionInput = typeof Definition.Encoded

const decode = Schema.decodeUnknownResult(Definition, { onExcessProperty: "error" })
// A definition has been checked when it was made; thousands of excluded days are not checked again.
const encode = Schema.encodeSync(Definition, { disableChecks: true })

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const invalid = ({ issue }: Schema.SchemaError): InvalidSchedule => {
  const [first] = format(issue).issues
  const field = (first?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
  return new InvalidSchedule({ field, message: first?.message ?? "Expected a valid definition" })
}

/**
 * Creates a definition. Fails with `InvalidSchedule`, which names the first invalid field; an unknown field is invalid
 * too.
 *
 * ```ts
 * import * as Result from "effect/Result"
 * import { make } from "@signalbox/schedule/Definition"
 *
 * const payday = make({
 *   name: "payday",
 *   cron: "0 9 15 * *",
 *   zone: "Europe/Copenhagen",
 *   calendar: {
 *     dates: ["2026-12-25"],
 *     weekdays: ["sat", "sun"],
 *     otherwise: "before"
 *   }
 * })
 * if (Result.isFailure(payday))
 *   console.error(`${payday.failure.field}: ${payday.failure.message}`)
 * ```
 */
export const make = (input: DefinitionInput): Result.Result<Definition, InvalidSchedule> =>
  Result.mapError(decode(input), invalid)

/**
 * Returns the digest of a definition: SHA-256 of its canonical JSON, 64 hexadecimal digits. Explicit defaults and the
 * order of keys make no difference.
 *
 * ```ts
 * import * as Result from "effect/Result"
 * import { digest, make } from "@signalbox/schedule/Definition"
 *
 * export const stored = Result.map(
 *   make({ name: "hourly", cron: "0 * * * *" }),
 *   digest
 * )
 * ```
 */
export const digest = (definition: Definition): string => digestOf(encode(definition))

/**
 * Returns the digest of the fields that determine the times of a definition: all but its name and its policies
 * `missed`, `overlap` and `queue`. When it changes, progress restarts from that moment.
 *
 * ```ts
 * import * as Result from "effect/Result"
 * import { make, timesDigest } from "@signalbox/schedule/Definition"
 *
 * export const stored = Result.map(
 *   make({ name: "hourly", cron: "0 * * * *" }),
 *   timesDigest
 * )
 * ```
 */
export const timesDigest = (definition: Definition): string => {
  const { missed: _, name: _1, overlap: _2, queue: _3, ...times } = encode(definition)
  return digestOf(times)
}

const asSet = (values: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(values)].toSorted()

/** Not the digests that are stored: a new form of those would restart progress. */
const comparable = (definition: Definition): string => {
  const { calendar = {}, cron, ...rest } = encode(definition)
  const { dates = [], weekdays = [] } = calendar
  const times = cron === undefined ? null : Result.getOrElse(CronFields.comparable(cron), () => cron)
  return digestOf({ ...rest, cron: times, calendar: { ...calendar, dates: asSet(dates), weekdays: asSet(weekdays) } })
}

/**
 * Returns whether two definitions mean the same, however they are written: `0 6 * * 1-5` and `00 6 * * mon-fri`, the
 * same excluded days in another order, explicit defaults. Hours as a wildcard or steps differ from a list of the same
 * hours, since only the former run in an hour that a zone repeats.
 *
 * ```ts
 * import * as Result from "effect/Result"
 * import { isEquivalent, make } from "@signalbox/schedule/Definition"
 *
 * export const same = Result.all([
 *   make({ name: "daily", cron: "0 6 * * mon-fri" }),
 *   make({ name: "daily", cron: "00 6 * * 5,1-4" })
 * ]).pipe(Result.map(([one, other]) => isEquivalent(one, other))) // true
 * ```
 */
export const isEquivalent = (self: Definition, that: Definition): boolean => comparable(self) === comparable(that)
