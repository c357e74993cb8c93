/**
 * What a sandbox does wrong on purpose, and the record of what it was asked.
 */
import * as Schema from "effect/Schema"

/**
 * The three hosts that a sandbox plays: the graph, the identity provider, and the one that files go to and come from; and the
 * receivers of its notifications, which are none of its own.
 */
export const Host = Schema.Literals(["graph", "login", "files", "notifications"])
export type Host = typeof Host.Type

/** Which requests a rule is about; a rule without any of these is about all. */
const Which = {
  host: Schema.optionalKey(Host),
  method: Schema.optionalKey(Schema.String),
  /** A regular expression for path and query, without regard to case. */
  path: Schema.optionalKey(Schema.String),
  /** How many of them pass before the rule begins. */
  skip: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** Then every nth of them is hit: 1 (the default) is each. */
  every: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  /** The rule ends after so many hits. */
  times: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))
}

const rule = <const Kind extends string, const Fields extends Schema.Struct.Fields>(kind: Kind, fields: Fields) =>
  Schema.Struct({ fault: Schema.Literal(kind), ...Which, ...fields })

/**
 * One thing that goes wrong.
 *
 * - `throttle`: 429 with the `Retry-After` that is named; `seconds` (default 1) is what it says.
 * - `status`: this status, with an error body or (`html`) a page.
 * - `drop`: the connection ends without an answer, `before` (default) or `after` the request has had its effect.
 * - `truncate`: the body ends after so many bytes, and the connection with it.
 * - `stall`: the connection stays open, and nothing comes: after so many `bytes` of the body, or, without `bytes`, no answer; then
 *   the request has no effect.
 * - `delay`: the answer waits for so many milliseconds.
 * - `expiredToken`: 401, whatever the token.
 * - `partialRange`: of a fragment of an upload only the first `accept` bytes are kept, and the last `acceptEnd`.
 * - `loseSession`: the upload session, or that of the workbook, is gone.
 * - `wrongSize`: files in the answer are said to have so many bytes more than they have (`by`, also negative).
 *
 * Notifications meet only rules that name their host, by the path of the receiver: `drop` loses one, or (`after`) the receiver's
 * answer, so that it is sent again; `delay` sends it late.
 */
export const Rule = Schema.Union([
  rule("throttle", {
    retryAfter: Schema.optionalKey(Schema.Literals(["integer", "decimal", "date", "missing"])),
    seconds: Schema.optionalKey(Schema.Finite)
  }),
  rule("status", {
    status: Schema.Int.check(Schema.isBetween({ minimum: 400, maximum: 599 })),
    code: Schema.optionalKey(Schema.String),
    message: Schema.optionalKey(Schema.String),
    html: Schema.optionalKey(Schema.Boolean),
    headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
  }),
  rule("drop", { when: Schema.optionalKey(Schema.Literals(["before", "after"])) }),
  rule("truncate", { bytes: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)) }),
  rule("stall", { bytes: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))) }),
  rule("delay", { millis: Schema.Finite }),
  rule("expiredToken", {}),
  rule("partialRange", {
    accept: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
    acceptEnd: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))
  }),
  rule("loseSession", {}),
  rule("wrongSize", { by: Schema.Int })
])
export type Rule = typeof Rule.Type

/** How reads lag behind writes. An item that is asked for by its id or its path is always up to date. */
export const Lag = Schema.Struct({
  /** What lags: lists (what is in a folder, the items of a list), searches of files, changes (`delta`, also of mail). Default: all of them. */
  of: Schema.optionalKey(Schema.Array(Schema.Literals(["lists", "search", "delta"]))),
  /** The first so many of these reads of a drive, a list or a folder of mail after a change do not show it. */
  requests: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** For so many milliseconds they do not show it. */
  millis: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)))
})
export type Lag = typeof Lag.Type

/**
 * What goes wrong, by rules (all that fit a request count), and limits that hold all the time.
 *
 * @example
 * ```ts
 * import type { Faults } from "@signalbox/graph-sandbox/Faults"
 *
 * const faults: Faults = {
 *   rules: [
 *     {
 *       fault: "throttle",
 *       path: "/children",
 *       every: 3,
 *       retryAfter: "decimal",
 *       seconds: 0.05
 *     },
 *     { fault: "drop", host: "files", method: "PUT", times: 1 }
 *   ]
 * }
 * ```
 */
export const Faults = Schema.Struct({
  rules: Schema.Array(Rule),
  /** Resource units per minute; when they are spent, calls are throttled. One read is 1, a list or a write 2, sharing 5. */
  unitsPerMinute: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(1))),
  /** How long lists, searches and changes do not show what is written from now on. */
  lag: Schema.optionalKey(Lag)
})
export type Faults = typeof Faults.Type

/** Nothing goes wrong. */
export const none: Faults = { rules: [] }

/** A request that the sandbox saw. Bodies, tokens and secrets are not kept. */
export interface Seen {
  readonly host: Host
  readonly method: string
  /** Path and query; what gives access in it is masked. */
  readonly url: string
  readonly status: number
  /** There was an `Authorization` header. */
  readonly authorization: boolean
  /** The `Host` header. */
  readonly hostHeader: string
  /** Headers that say what the client wanted, in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** It came in a batch. */
  readonly batched: boolean
  /** The faults that it met. */
  readonly faults: ReadonlyArray<Rule["fault"]>
  /** Milliseconds since 1970. */
  readonly at: number
}
