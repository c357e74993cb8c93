import { assert, describe, it, vi } from "@effect/vitest"
import {
  Definition,
  type DefinitionInput,
  digest,
  isEquivalent,
  make,
  timesDigest
} from "@signalbox/schedule/Definition"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { schedule } from "./support/Definitions.ts"

/** The field that is refused, and why. */
const refusal = (input: Omit<DefinitionInput, "name"> & Partial<Pick<DefinitionInput, "name">>): string => {
  const made = make({ name: "s", ...input })
  assert.isTrue(Result.isFailure(made), "expected a refusal")
  return Result.isFailure(made) ? `${made.failure.field}: ${made.failure.message}` : ""
}

const cases: ReadonlyArray<readonly [what: string, input: Parameters<typeof refusal>[0], message: string]> = [
  ["no rule", {}, "cron: Expected one of cron, every and at: without any of them the schedule never runs"],
  [
    "two rules",
    { cron: "* * * * *", every: "1 hour" },
    "every: Expected one of cron, every and at, not cron and every"
  ],
  [
    "an empty name",
    { name: " ", cron: "* * * * *" },
    "name: Expected a name of 1 to 200 characters, without spaces around it"
  ],
  [
    "a cron of four fields",
    { cron: "0 * * *" },
    "cron: Expected 5 fields (minute hour day month weekday) or 6 with seconds first, not 4"
  ],
  [
    "an empty cron",
    { cron: " " },
    "cron: Expected 5 fields (minute hour day month weekday) or 6 with seconds first, not 0"
  ],
  ["an hour that does not exist", { cron: "0 25 * * *" }, 'cron: hour "25": Expected a value between 0 and 23'],
  [
    "a weekday that does not exist",
    { cron: "0 6 * * monday" },
    'cron: day of week "monday": Expected a positive integer'
  ],
  [
    "a cron that never comes",
    { cron: "0 6 30 2 *" },
    "cron: no year has such a day, as with a 30th of February: change day or month"
  ],
  [
    "an unknown zone",
    { cron: "0 6 * * *", zone: "Europe/Wien" },
    'zone: invalid time zone "Europe/Wien": use an IANA time zone such as Europe/Vienna'
  ],
  [
    "until before from",
    { cron: "0 6 * * *", from: "2026-11-22T00:00:00Z", until: "2026-11-22T01:00:00+01:00" },
    "until: Expected to be later than from: the schedule would never run"
  ],
  [
    "an instant without an offset",
    { at: "2026-11-22T09:00:00" },
    "at: Expected an instant with its offset, such as 2026-11-22T09:00:00Z or 2026-11-22T09:00:00+01:00"
  ],
  [
    "an instant that does not exist",
    { at: "2026-13-22T09:00:00Z" },
    "at: Expected an instant with its offset, such as 2026-11-22T09:00:00Z or 2026-11-22T09:00:00+01:00"
  ],
  [
    "an instant on a day that does not exist",
    { at: "2027-02-30T00:00:00Z" },
    "at: Expected an instant with its offset, such as 2026-11-22T09:00:00Z or 2026-11-22T09:00:00+01:00"
  ],
  ["every 0", { every: "0 seconds" }, "every: Expected at least 1 second, in whole milliseconds"],
  ["every less than 0", { every: "-1 hour" }, "every: Expected at least 1 second, in whole milliseconds"],
  ["every for ever", { every: "Infinity" }, "every: Expected at least 1 second, in whole milliseconds"],
  ["every that is no duration", { every: "often" }, "every: Expected a duration, such as 15 minutes or 1 day"],
  [
    "an anchor of a cron",
    { cron: "0 6 * * *", anchor: "2026-11-22T09:00:00Z" },
    "anchor: Expected only with every: it is the first of the even times"
  ],
  ["a negative jitter", { cron: "0 6 * * *", jitter: "-1 second" }, "jitter: Expected 0 or more, and finite"],
  ["a jitter for ever", { cron: "0 6 * * *", jitter: "Infinity" }, "jitter: Expected 0 or more, and finite"],
  [
    "a date that does not exist",
    { cron: "0 6 * * *", calendar: { dates: ["2026-02-28", "2026-02-30"] } },
    "calendar.dates.1: Expected a date that exists, such as 2026-12-25"
  ],
  [
    "a calendar of no days",
    { cron: "0 6 * * *", calendar: { weekdays: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] } },
    "calendar.weekdays: Expected at least one weekday that is not listed: all days would be excluded"
  ],
  [
    "a calendar that leaves nothing of a cron",
    { cron: "0 6 * * 6,7", calendar: { weekdays: ["sat", "sun"] } },
    "calendar.weekdays: Expected a weekday on which the schedule runs: cron names only excluded ones"
  ],
  [
    "a calendar that leaves nothing of every",
    { every: "7 days", anchor: "2026-11-22T09:00:00Z", calendar: { weekdays: ["sun"] } },
    "calendar.weekdays: Expected a weekday on which the schedule runs: every names only excluded ones"
  ],
  [
    "hours that would move to another day",
    { every: "6 hours", calendar: { weekdays: ["sun"], otherwise: "after" } },
    "calendar.otherwise: Expected skip where every is less than a day, not after"
  ],
  [
    "a cron that is longer than anyone writes",
    { cron: `${"0,".repeat(500)}0 * * * *` },
    "cron: Expected at most 1000 characters"
  ],
  ["a zone that is", { cron: "0 6 * * *", zone: "x".repeat(101) }, "zone: Expected at most 100 characters"],
  ["a queue of none", { cron: "0 6 * * *", queue: 0 }, "queue: Expected a whole number from 1 to 1000"]
]

describe("a definition is refused with the field and the remedy for", () => {
  for (const [what, input, message] of cases) it(what, () => assert.strictEqual(refusal(input), message))

  it("a field that does not exist", () => {
    const input = { cron: "0 6 * * *", timezone: "Europe/Vienna" }
    assert.strictEqual(refusal(input), "timezone: Expected no excess property")
  })

  it("a policy that does not exist", () => {
    const decoded = Schema.decodeUnknownResult(Definition)({ name: "s", cron: "0 6 * * *", missed: "some" })
    assert.include(Result.isFailure(decoded) ? decoded.failure.message : "", 'at ["missed"]')
  })
})

describe("a definition", () => {
  it("is JSON, with its defaults", () => {
    const definition = schedule({ cron: "0 6 * * mon-fri", zone: "Europe/Vienna", jitter: "90 seconds" })
    const json: unknown = JSON.parse(JSON.stringify(Schema.encodeSync(Definition)(definition)))
    assert.deepStrictEqual(json, {
      name: "s",
      cron: "0 6 * * mon-fri",
      zone: "Europe/Vienna",
      calendar: { dates: [], weekdays: [], otherwise: "skip" },
      jitter: "90000 millis",
      missed: "last",
      overlap: "skip",
      queue: 1
    })
    assert.deepStrictEqual(Schema.decodeUnknownSync(Definition)(json), definition)
  })

  it("has a digest that defaults, notations and the order of keys do not change", () => {
    const short = schedule({ at: "2026-11-22T09:00:00Z", jitter: "1 minute" })
    const long = schedule({ overlap: "skip", zone: "UTC", jitter: "60 seconds", at: "2026-11-22T10:00:00+01:00" })
    assert.match(digest(short), /^[0-9a-f]{64}$/)
    assert.strictEqual(digest(long), digest(short))
  })

  it("has the digest that stored states were written with", () => {
    const of = schedule({ cron: "0 6 * * mon-fri", zone: "Europe/Vienna", calendar: { dates: ["2026-12-25"] } })
    assert.deepStrictEqual(
      [digest(of), timesDigest(of)],
      [
        "5d4bfabbd8b7755ba3d37cc512bb19df2de98659fc764260c1976878c99d4cbb",
        "4eeaecd52dbee0c306acff1846d960bac79ab19534457b483ecf645a82b12111"
      ]
    )
  })

  it("does not check the dates of a definition again, which were checked when it was made", () => {
    const of = schedule({ cron: "0 6 * * *", calendar: { dates: ["2026-12-25"] } })
    const parsed = vi.spyOn(Date, "parse")
    timesDigest(of)
    assert.strictEqual(parsed.mock.calls.length, 0)
    parsed.mockRestore()
  })

  it("has a digest of all of it, and one of its times", () => {
    const one = schedule({ cron: "0 6 * * *" })
    const policy = schedule({ cron: "0 6 * * *", missed: "all" })
    const times = schedule({ cron: "0 7 * * *" })
    assert.notStrictEqual(digest(policy), digest(one))
    assert.strictEqual(timesDigest(policy), timesDigest(one))
    assert.notStrictEqual(timesDigest(times), timesDigest(one))
  })

  const cron = (...expressions: ReadonlyArray<string>) => expressions.map((cron) => ({ cron }))
  const days = (...calendars: ReadonlyArray<NonNullable<DefinitionInput["calendar"]>>) =>
    calendars.map((calendar) => ({ cron: "0 6 * * *", calendar }))
  const forms: ReadonlyArray<readonly [what: string, inputs: ReadonlyArray<Omit<DefinitionInput, "name">>]> = [
    ["names and numbers of weekdays", cron("0 6 * * mon-fri", "0 6 * * 1-5", " 00 6  * * FRI,2-4,1 ")],
    ["both numbers of Sunday", cron("0 6 * * 7", "0 6 * * sun", "0 0 6 * * 0")],
    ["steps and lists of minutes", cron("*/15 * * * *", "0,15,30,45 * * * *", "45,30-31/15,15,0 * * * *")],
    ["all values and a wildcard", cron("0 6 * * *", "0 6 1-31 1-12 *", "0 6 * * 0-6", "0 6 1-31 * mon")],
    ["excluded days in another order", days({ weekdays: ["sat", "sun"] }, { weekdays: ["sun", "sat", "sun"] })],
    [
      "excluded dates in another order",
      days({ dates: ["2026-12-25", "2026-12-26"] }, { dates: ["2026-12-26", "2026-12-25"], weekdays: [] })
    ]
  ]
  it.each(forms)("is equivalent to one with %s", (_, inputs) => {
    const [first = schedule({ at: "2026-11-22T09:00:00Z" }), ...others] = inputs.map((input) => schedule(input))
    for (const other of others) assert.isTrue(isEquivalent(first, other), `${first.cron} and ${other.cron}`)
    assert.isAbove(others.length, 0)
  })

  const differing: typeof forms = [
    ["hours", cron("0 6 * * *", "0 7 * * *")],
    ["hours that run in each repeated hour", cron("0 */2 * * *", "0 0,2,4,6,8,10,12,14,16,18,20,22 * * *")],
    [
      "a day and a weekday, or one of them",
      cron("0 6 */2 * mon", `0 6 ${[...Array(16).keys()].map((n) => n * 2 + 1)} * mon`)
    ],
    ["a rule", [{ cron: "0 6 * * *" }, { every: "1 day" }]],
    ["a policy", [{ cron: "0 6 * * *" }, { cron: "0 6 * * *", missed: "all" }]],
    ["excluded days", days({ weekdays: ["sat"] }, { weekdays: ["sun"] })],
    ["what happens on excluded days", days({ weekdays: ["sat"] }, { weekdays: ["sat"], otherwise: "after" })]
  ]
  it.each(differing)("is not equivalent to one that differs in %s", (_, inputs) => {
    const [one, other] = inputs.map((input) => schedule(input))
    assert.isFalse(one !== undefined && other !== undefined && isEquivalent(one, other))
  })
})
