import { assert, describe, it } from "@effect/vitest"
import { between } from "./support/Definitions.ts"

describe("a local time that the zone leaves out", () => {
  it("comes at the first instant that exists", () => {
    assert.deepStrictEqual(between({ cron: "30 2 * * *", zone: "Europe/Vienna" }, "2026-03-28", "2026-03-31"), [
      "2026-03-28T01:30",
      "2026-03-29T01:00",
      "2026-03-30T00:30"
    ])
  })

  it("comes once with the others that are left out with it", () => {
    assert.deepStrictEqual(between({ cron: "*/10 2 * * *", zone: "Europe/Vienna" }, "2026-03-29", "2026-03-30"), [
      "2026-03-29T01:00"
    ])
  })

  it("comes once with one that falls on the same instant", () => {
    assert.deepStrictEqual(
      between({ cron: "0,30 2-3 * * *", zone: "Europe/Vienna" }, "2026-03-29", "2026-03-30T00:00:00Z"),
      ["2026-03-29T01:00", "2026-03-29T01:30"]
    )
  })

  it("comes then too where the hours are a wildcard", () => {
    assert.deepStrictEqual(
      between({ cron: "30 * * * *", zone: "Europe/Vienna" }, "2026-03-29T00:00:00Z", "2026-03-29T03:00:00Z"),
      ["2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30", "2026-03-29T02:30"]
    )
  })

  it("may be half an hour", () => {
    assert.deepStrictEqual(
      between({ cron: "15 2 * * *", zone: "Australia/Lord_Howe" }, "2026-10-02T12:00:00Z", "2026-10-05T12:00:00Z"),
      ["2026-10-02T15:45", "2026-10-03T15:30", "2026-10-04T15:15"]
    )
  })

  it("may be midnight", () => {
    assert.deepStrictEqual(
      between({ cron: "0 0 * * *", zone: "Asia/Beirut" }, "2026-03-27T12:00:00Z", "2026-03-30T12:00:00Z"),
      ["2026-03-27T22:00", "2026-03-28T22:00", "2026-03-29T21:00"]
    )
    assert.deepStrictEqual(
      between({ cron: "15 0 * * *", zone: "America/Asuncion" }, "2018-10-06T00:00:00Z", "2018-10-09T00:00:00Z"),
      ["2018-10-06T04:15", "2018-10-07T04:00", "2018-10-08T03:15"]
    )
  })

  it("may be a whole day", () => {
    assert.deepStrictEqual(
      between({ cron: "0 12 * * *", zone: "Pacific/Apia" }, "2011-12-29T00:00:00Z", "2012-01-01T00:00:00Z"),
      ["2011-12-29T22:00", "2011-12-30T10:00", "2011-12-30T22:00", "2011-12-31T22:00"]
    )
  })
})

describe("a local time that the zone repeats", () => {
  it("comes once where the hours are fixed", () => {
    assert.deepStrictEqual(
      between({ cron: "0,30 1-3 * * *", zone: "Europe/Vienna" }, "2026-10-24T22:00:00Z", "2026-10-25T12:00:00Z"),
      [
        "2026-10-24T23:00",
        "2026-10-24T23:30",
        "2026-10-25T00:00",
        "2026-10-25T00:30",
        "2026-10-25T02:00",
        "2026-10-25T02:30"
      ]
    )
  })

  it("comes in each real hour where the hours are a wildcard", () => {
    assert.deepStrictEqual(
      between({ cron: "30 * * * *", zone: "Europe/Vienna" }, "2026-10-24T23:00:00Z", "2026-10-25T03:00:00Z"),
      ["2026-10-24T23:30", "2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30"]
    )
  })

  it("comes in each real hour where the hours are steps", () => {
    assert.deepStrictEqual(
      between({ cron: "0 */2 * * *", zone: "Europe/Vienna" }, "2026-10-24T23:00:00Z", "2026-10-25T04:00:00Z"),
      ["2026-10-25T00:00", "2026-10-25T01:00", "2026-10-25T03:00"]
    )
  })

  it("comes in each real hour where a range names all hours", () => {
    assert.strictEqual(
      between({ cron: "30 0-23 * * *", zone: "Europe/Vienna" }, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z").length,
      25
    )
  })

  it("may be half an hour", () => {
    const zone = "Australia/Lord_Howe"
    assert.deepStrictEqual(between({ cron: "*/15 * * * *", zone }, "2026-04-04T14:30:00Z", "2026-04-04T15:31:00Z"), [
      "2026-04-04T14:30",
      "2026-04-04T14:45",
      "2026-04-04T15:00",
      "2026-04-04T15:15",
      "2026-04-04T15:30"
    ])
    assert.deepStrictEqual(between({ cron: "*/15 1 * * *", zone }, "2026-04-04T12:00:00Z", "2026-04-05T12:00:00Z"), [
      "2026-04-04T14:00",
      "2026-04-04T14:15",
      "2026-04-04T14:30",
      "2026-04-04T14:45"
    ])
  })

  it("may reach over midnight", () => {
    // One minute after midnight the clocks go back to 23:01.
    const zone = "America/St_Johns"
    assert.deepStrictEqual(between({ cron: "30 23 * * *", zone }, "2010-11-06T12:00:00Z", "2010-11-08T12:00:00Z"), [
      "2010-11-07T02:00",
      "2010-11-08T03:00"
    ])
    assert.deepStrictEqual(between({ cron: "0 0 * * *", zone }, "2010-11-06T12:00:00Z", "2010-11-08T12:00:00Z"), [
      "2010-11-07T02:30",
      "2010-11-08T03:30"
    ])
    assert.deepStrictEqual(between({ cron: "30 * * * *", zone }, "2010-11-07T01:00:00Z", "2010-11-07T05:00:00Z"), [
      "2010-11-07T01:00",
      "2010-11-07T02:00",
      "2010-11-07T03:00",
      "2010-11-07T04:00"
    ])
    // Of one day in the year, whose last hour is repeated.
    assert.deepStrictEqual(between({ cron: "30 23/1 6 11 *", zone }, "2010-01-01", "2011-07-01"), [
      "2010-11-07T02:00",
      "2010-11-07T03:00"
    ])
  })
})
