/** Firings by their table of moves, and hours of days in zones. */
import { assert, describe, it } from "@effect/vitest"
import { AlertDefinition, type AlertHours, firingStates } from "@signalbox/api/contract/Alerts"
import * as Schema from "effect/Schema"
import { advance, firingMoves, type FiringNow } from "../src/internal/engine/Alerts.ts"
import { contains, hasPassed } from "../src/internal/engine/AlertHours.ts"

const at = (text: string) => Date.parse(text)
const hour = 3_600_000

describe("a firing", () => {
  const cases: ReadonlyArray<readonly [now: FiringNow, to: string, message: string | null]> = [
    [{ state: "held", found: true, mayTell: true, repeat: false }, "firing", "began"],
    [{ state: "held", found: true, mayTell: false, repeat: false }, "held", null],
    [{ state: "held", found: false, mayTell: true, repeat: false }, "over", null],
    [{ state: "firing", found: true, mayTell: true, repeat: false }, "firing", null],
    [{ state: "firing", found: true, mayTell: true, repeat: true }, "firing", "repeated"],
    [{ state: "firing", found: true, mayTell: false, repeat: true }, "firing", null],
    [{ state: "firing", found: false, mayTell: true, repeat: true }, "over", "over"],
    [{ state: "firing", found: false, mayTell: false, repeat: false }, "ending", null],
    [{ state: "ending", found: true, mayTell: true, repeat: false }, "firing", null],
    [{ state: "ending", found: false, mayTell: true, repeat: false }, "over", "over"],
    [{ state: "over", found: true, mayTell: true, repeat: true }, "over", null]
  ]
  for (const [now, to, message] of cases) {
    it(`${JSON.stringify(now)} is ${to}, with the message ${message}`, () => {
      assert.deepStrictEqual(advance(now), { to, message })
    })
  }

  it("ends in one state, which nothing leaves", () => {
    const ends = firingStates.filter((state) => Object.keys(firingMoves[state]).length === 0)
    assert.deepStrictEqual(ends, ["over"])
  })
})

describe("hours", () => {
  const work: AlertHours = {
    zone: "Europe/Vienna",
    from: "08:00",
    to: "18:00",
    weekdays: ["mon", "tue", "wed", "thu", "fri"],
    except: ["2026-12-25"]
  }
  const night: AlertHours = { zone: "Europe/Vienna", from: "22:00", to: "07:00" }

  it("are of their zone, in winter and in summer", () => {
    assert.isFalse(contains(work, at("2026-01-07T06:59:59Z")))
    assert.isTrue(contains(work, at("2026-01-07T07:00:00Z")))
    assert.isTrue(contains(work, at("2026-07-01T06:00:00Z")))
    assert.isFalse(contains(work, at("2026-07-01T16:00:00Z")))
  })

  it("are of their days alone", () => {
    assert.isFalse(contains(work, at("2026-01-10T10:00:00Z")))
    assert.isFalse(contains(work, at("2026-12-25T10:00:00Z")))
    assert.isTrue(contains(work, at("2026-12-28T10:00:00Z")))
  })

  it("pass midnight, and belong to the day that they begin on", () => {
    assert.isTrue(contains(night, at("2026-01-07T22:30:00Z")))
    assert.isTrue(contains(night, at("2026-01-08T05:59:00Z")))
    assert.isFalse(contains(night, at("2026-01-08T06:00:00Z")))
    const friday: AlertHours = { ...night, weekdays: ["fri"] }
    assert.isTrue(contains(friday, at("2026-01-10T03:00:00Z")))
    assert.isFalse(contains(friday, at("2026-01-09T03:00:00Z")))
  })

  it("are the whole day with the same time twice", () => {
    const whole: AlertHours = { zone: "UTC", from: "00:00", to: "00:00", weekdays: ["wed"] }
    assert.isTrue(contains(whole, at("2026-01-07T00:00:00Z")))
    assert.isTrue(contains(whole, at("2026-01-07T23:59:59Z")))
    assert.isFalse(contains(whole, at("2026-01-08T00:00:00Z")))
  })

  it("count what has passed in them: over a weekend nothing", () => {
    const friday = at("2026-01-09T16:00:00Z")
    assert.isFalse(hasPassed(work, friday, at("2026-01-12T07:59:59Z"), 2 * hour))
    assert.isTrue(hasPassed(work, friday, at("2026-01-12T08:00:00Z"), 2 * hour))
    assert.isTrue(hasPassed(null, friday, friday + 2 * hour, 2 * hour))
    assert.isFalse(hasPassed(null, friday, friday + 2 * hour - 1, 2 * hour))
  })

  it("are real hours on the day that clocks change", () => {
    const day: AlertHours = { zone: "Europe/Vienna", from: "00:00", to: "00:00" }
    const midnight = at("2026-03-28T23:00:00Z")
    assert.isTrue(hasPassed({ ...day, weekdays: ["sun"] }, midnight, at("2026-03-29T22:00:00Z"), 23 * hour))
    assert.isFalse(hasPassed({ ...day, weekdays: ["sun"] }, midnight, at("2026-03-30T22:00:00Z"), 24 * hour))
  })

  it("refuse a zone that does not exist, naming the field", () => {
    const decode = Schema.decodeUnknownSync(AlertDefinition)
    const alert = { name: "a", rule: { type: "disk_above", percent: 90 }, channels: [{ id: "c" }] }
    assert.strictEqual(decode(alert).name, "a")
    assert.throws(
      () => decode({ ...alert, quiet: { ...night, zone: "Europe/Wien" } }),
      /no such time zone: "Europe\/Wien".*Europe\/Vienna[\s\S]*quiet[\s\S]*zone/
    )
  })
})
