import { assert, describe, it, vi } from "@effect/vitest"
import type { DefinitionInput } from "@signalbox/schedule/Definition"
import { next, occurrences, preview, previous } from "@signalbox/schedule/Occurrences"
import { between, schedule, short, utc } from "./support/Definitions.ts"

type Calendar = NonNullable<DefinitionInput["calendar"]>

describe("cron", () => {
  it("has five fields, or six with seconds first", () => {
    assert.deepStrictEqual(between({ cron: "30 6 * * *" }, "2026-11-22", "2026-11-23"), ["2026-11-22T06:30"])
    assert.deepStrictEqual(between({ cron: "15,45 30 6 * * *" }, "2026-11-22", "2026-11-23"), [
      "2026-11-22T06:30:15",
      "2026-11-22T06:30:45"
    ])
  })

  it("comes on either day where both days are given, on both where one begins with a star", () => {
    assert.deepStrictEqual(between({ cron: "0 0 13 * fri" }, "2026-11-10", "2026-11-21"), [
      "2026-11-13T00:00",
      "2026-11-20T00:00"
    ])
    assert.deepStrictEqual(between({ cron: "0 0 */2 * fri" }, "2026-11-10", "2026-11-28"), [
      "2026-11-13T00:00",
      "2026-11-27T00:00"
    ])
  })

  it("waits for the 29th of February, also over 2100", () => {
    assert.deepStrictEqual(between({ cron: "0 0 29 2 *", zone: "Europe/Vienna" }, "2095-01-01", "2105-01-01"), [
      "2096-02-28T23:00",
      "2104-02-28T23:00"
    ])
  })
})

describe("ten years of excluded days", () => {
  const dates = Array.from({ length: 3652 }, (_, n) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10))
  const cases = [
    [{ cron: "0 6 * * *", calendar: { dates, otherwise: "skip" } }, "2036-01-01T06:00"],
    [{ cron: "0 6 * * *", calendar: { dates, otherwise: "after" } }, "2036-01-01T06:00"],
    [{ cron: "0 6 * * *", calendar: { dates, otherwise: "before" } }, "2036-01-01T06:00"],
    [{ every: "1 day", anchor: "2020-01-01T06:00:00Z", calendar: { dates, otherwise: "before" } }, "2036-01-01T06:00"]
  ] as const
  it("are passed in a number of steps that grows as their number does", () => {
    for (const [definition, time] of cases) {
      const looked = vi.spyOn(Date.prototype, "getUTCDay")
      const found = next(schedule(definition), utc("2026-01-01T12:00"))
      const { length } = looked.mock.calls
      looked.mockRestore()
      assert.strictEqual(found && short(found), time)
      assert.isAtMost(length, 6 * dates.length, JSON.stringify(definition).slice(0, 60))
    }
  })

  it("are the most that a calendar may have", () => {
    const more = Array.from({ length: 3661 }, () => "2026-01-01")
    assert.throws(() => schedule({ cron: "0 6 * * *", calendar: { dates: more } }), /at most 3660 dates/)
  })
})

describe("every", () => {
  it("comes at even distances, from its anchor on", () => {
    const input = { every: "36 hours", anchor: "2026-11-22T09:00:00Z" }
    assert.deepStrictEqual(between(input, "2026-11-01", "2026-11-26"), [
      "2026-11-22T09:00",
      "2026-11-23T21:00",
      "2026-11-25T09:00"
    ])
  })

  it("comes at the quarters of UTC without an anchor", () => {
    const { at } = next(schedule({ every: "15 minutes" }), utc("2026-11-22T09:01:00Z")) ?? {}
    assert.deepStrictEqual(at, utc("2026-11-22T09:15:00Z"))
  })

  it("is elapsed time: the clocks do not change it", () => {
    const input = { every: "1 day", anchor: "2026-03-28T01:30:00Z", zone: "Europe/Vienna" }
    assert.deepStrictEqual(between(input, "2026-03-28", "2026-03-31"), [
      "2026-03-28T01:30",
      "2026-03-29T01:30",
      "2026-03-30T01:30"
    ])
  })
})

describe("at", () => {
  it("comes once", () => {
    const once = schedule({ at: "2026-11-22T09:00:00Z" })
    assert.deepStrictEqual(next(once, utc("2026-11-22T08:59:59.999Z"))?.at, utc("2026-11-22T09:00:00Z"))
    assert.strictEqual(next(once, utc("2026-11-22T09:00:00Z")), undefined)
    assert.deepStrictEqual(previous(once, utc("2030-01-01"))?.at, utc("2026-11-22T09:00:00Z"))
    assert.strictEqual(previous(once, utc("2026-11-22T08:59:59.999Z")), undefined)
  })
})

describe("from and until", () => {
  it("bound the times: from on, and before until", () => {
    const input = { cron: "0 * * * *", from: "2026-11-22T09:00:00Z", until: "2026-11-22T11:00:00Z" }
    assert.deepStrictEqual(between(input, "2026-11-01", "2026-12-01"), ["2026-11-22T09:00", "2026-11-22T10:00"])
    assert.deepStrictEqual(previous(schedule(input), utc("2026-12-01"))?.at, utc("2026-11-22T10:00:00Z"))
    assert.strictEqual(next(schedule(input), utc("2026-11-22T10:00:00Z")), undefined)
    assert.strictEqual(previous(schedule(input), utc("2026-11-22T08:00:00Z")), undefined)
  })
})

describe("the calendar", () => {
  // Christmas 2026 is a Friday.
  const days: Calendar = { dates: ["2026-12-25"], weekdays: ["sat", "sun"] }

  it("skips days that do not count", () => {
    assert.deepStrictEqual(between({ cron: "0 9 * * *", calendar: days }, "2026-12-24", "2026-12-30"), [
      "2026-12-24T09:00",
      "2026-12-28T09:00",
      "2026-12-29T09:00"
    ])
  })

  it("moves to the day before that counts", () => {
    const calendar = { ...days, otherwise: "before" } as const
    assert.deepStrictEqual(between({ cron: "0 9 27 * *", calendar }, "2026-12-01", "2027-02-01"), [
      "2026-12-24T09:00",
      "2027-01-27T09:00"
    ])
  })

  it("moves to the day after that counts", () => {
    const calendar = { ...days, otherwise: "after" } as const
    assert.deepStrictEqual(between({ cron: "0 9 25 * *", calendar }, "2026-12-01", "2027-02-01"), [
      "2026-12-28T09:00",
      "2027-01-25T09:00"
    ])
  })

  it("moves to one occurrence what falls on the same instant", () => {
    const calendar = { ...days, otherwise: "after" } as const
    assert.deepStrictEqual(between({ cron: "0 9 * * *", calendar }, "2026-12-24", "2026-12-30"), [
      "2026-12-24T09:00",
      "2026-12-28T09:00",
      "2026-12-29T09:00"
    ])
  })

  it("reckons in days of the zone", () => {
    // 23:30 UTC on Friday is Saturday in Vienna.
    const input = { every: "1 day", anchor: "2026-11-20T23:30:00Z", zone: "Europe/Vienna" }
    assert.deepStrictEqual(between({ ...input, calendar: { weekdays: ["sat"] } }, "2026-11-20", "2026-11-23"), [
      "2026-11-21T23:30",
      "2026-11-22T23:30"
    ])
  })

  it("moves every and at to the same local time, also where the clocks change between", () => {
    const zone = "Europe/Vienna"
    const calendar: Calendar = { weekdays: ["sat", "sun"], otherwise: "after" }
    const every = { every: "14 days", anchor: "2026-03-28T09:00:00+01:00", zone, calendar }
    assert.deepStrictEqual(between(every, "2026-03-20", "2026-04-15"), ["2026-03-30T07:00", "2026-04-13T08:00"])
    assert.deepStrictEqual(between({ at: "2026-03-28T09:00:00+01:00", zone, calendar }, "2026-03-20", "2026-04-15"), [
      "2026-03-30T07:00"
    ])
  })

  it("finds what moves to a day from any instant of the days between", () => {
    const dates = ["2026-11-23", "2026-11-24", "2026-11-25"]
    const calendar: Calendar = { dates, weekdays: ["sat", "sun"], otherwise: "after" }
    const thursday = utc("2026-11-26T09:00:00Z")
    const saturday = "2026-11-21T09:00:00Z"
    for (const rule of [{ cron: "0 9 21 11 *" }, { every: "1000 days", anchor: saturday }, { at: saturday }])
      for (const after of ["2026-11-21T12:00:00Z", "2026-11-24T12:00:00Z", "2026-11-26T08:00:00Z"])
        assert.deepStrictEqual(next(schedule({ ...rule, calendar }), utc(after))?.at, thursday)
  })

  it("moves to the first instant that exists where the clocks leave the time out", () => {
    const calendar: Calendar = { weekdays: ["sat"], otherwise: "after" }
    const zone = "Europe/Vienna"
    const saturday = "2026-03-28T02:30:00+01:00"
    for (const rule of [{ cron: "30 2 28 3 *" }, { every: "300 days", anchor: saturday }, { at: saturday }])
      assert.deepStrictEqual(between({ ...rule, zone, calendar }, "2026-03-01", "2026-04-01"), ["2026-03-29T01:00"])
  })

  it("moves every in the order of the times moved to", () => {
    const calendar: Calendar = { weekdays: ["sat", "sun"], otherwise: "after" }
    // Saturday 22:00 moves to Monday 22:00, behind Monday 10:00.
    const input = { every: "36 hours", anchor: "2026-11-21T22:00:00Z", calendar }
    assert.deepStrictEqual(between(input, "2026-11-20", "2026-11-25"), [
      "2026-11-23T10:00",
      "2026-11-23T22:00",
      "2026-11-24T22:00"
    ])
  })
})

describe("jitter", () => {
  const jittered = schedule({ cron: "0 * * * *", jitter: "10 minutes" })
  const day = [utc("2026-11-22"), utc("2026-11-23"), 100] as const
  const delays = (of = jittered) =>
    occurrences(of, ...day).map(({ at, start }) => start.epochMilliseconds - at.epochMilliseconds)

  it("delays the start within its bound, each occurrence differently, and always the same", () => {
    assert.isTrue(delays().every((delay) => delay >= 0 && delay < 600_000))
    assert.isAbove(new Set(delays()).size, 20)
    assert.deepStrictEqual(delays().slice(0, 2), [349_633, 153_434])
  })

  it("changes neither times nor keys", () => {
    const plain = occurrences(schedule({ cron: "0 * * * *" }), ...day)
    assert.deepStrictEqual(
      occurrences(jittered, ...day).map(({ at, key }) => [key, at]),
      plain.map(({ at, key }) => [key, at])
    )
  })

  it("starts an occurrence before the next one", () => {
    const dense = schedule({ cron: "*/10 * * * * *", jitter: "1 hour" })
    const times = occurrences(dense, utc("2026-11-22T00:00:00Z"), utc("2026-11-22T00:10:00Z"), 100)
    assert.strictEqual(times.length, 60)
    for (const { at, start } of times) assert.isBelow(start.epochMilliseconds, at.epochMilliseconds + 10_000)
  })
})

describe("previous", () => {
  it("is the last that is not later", () => {
    const nightly = schedule({ cron: "30 2 * * *", zone: "Europe/Vienna" })
    const last = (upTo: string) => {
      const found = previous(nightly, utc(upTo))
      return found && short(found)
    }
    assert.strictEqual(last("2026-03-29T01:00:00Z"), "2026-03-29T01:00")
    assert.strictEqual(last("2026-03-29T00:59:59.999Z"), "2026-03-28T01:30")
    // Its second time in the night when the clocks go back does not count.
    assert.strictEqual(last("2026-10-25T20:00:00Z"), "2026-10-25T00:30")
  })
})

describe("occurrences", () => {
  it("are those from an instant on and before another, at most as many as asked for", () => {
    const hourly = schedule({ cron: "0 * * * *" })
    const [from, to] = [utc("2026-11-22T09:00:00Z"), utc("2026-11-22T12:00:00Z")]
    assert.deepStrictEqual(occurrences(hourly, from, to, 10).map(short), [
      "2026-11-22T09:00",
      "2026-11-22T10:00",
      "2026-11-22T11:00"
    ])
    assert.strictEqual(occurrences(hourly, from, to, 2).length, 2)
    assert.deepStrictEqual(occurrences(hourly, from, to, 0), [])
    assert.deepStrictEqual(occurrences(hourly, to, from, 10), [])
  })

  it("have the name and the instant as their key", () => {
    const { key } = next(schedule({ cron: "0 6 * * *", zone: "Asia/Tokyo" }), utc("2026-11-22")) ?? {}
    assert.strictEqual(key, "s 2026-11-22T21:00:00.000Z")
  })

  it("end with the year 9999", () => {
    assert.strictEqual(next(schedule({ cron: "0 6 * * *" }), utc("9999-12-31T00:00:00Z")), undefined)
    assert.isDefined(previous(schedule({ cron: "0 6 * * *" }), utc("+020000-01-01T00:00:00Z")))
    assert.isDefined(next(schedule({ cron: "0 6 * * *" }), utc("-020000-01-01T00:00:00Z")))
  })
})

describe("preview", () => {
  it("shows the next ten with their local times", () => {
    const shown = preview(schedule({ cron: "30 2 * * *", zone: "Europe/Vienna" }), utc("2026-03-28T00:00:00Z"))
    assert.strictEqual(shown.length, 10)
    assert.deepStrictEqual(
      shown.slice(0, 3).map(({ local }) => local),
      [
        "2026-03-28T02:30:00.000+01:00[Europe/Vienna]",
        "2026-03-29T03:00:00.000+02:00[Europe/Vienna]",
        "2026-03-30T02:30:00.000+02:00[Europe/Vienna]"
      ]
    )
  })
})
