/** Every occurrence in many zones over years, against a calculation that reads each minute from the clock. */
import { assert, describe, it } from "@effect/vitest"
import { occurrences } from "@signalbox/schedule/Occurrences"
import { sized, soak } from "@signalbox/testkit/Soak"
import * as DateTime from "effect/DateTime"
import { schedule } from "./support/Definitions.ts"
import { type Meaning, reckon } from "./support/Reckoning.ts"

const always = () => true
const weekday = (date: Date) => date.getUTCDay() > 0 && date.getUTCDay() < 6

const meanings: ReadonlyArray<Meaning> = [
  { cron: "30 2 * * *", everyRealHour: false, day: always, time: (hour, minute) => hour === 2 && minute === 30 },
  { cron: "0 0 * * *", everyRealHour: false, day: always, time: (hour, minute) => hour === 0 && minute === 0 },
  { cron: "*/20 0-3 * * *", everyRealHour: false, day: always, time: (hour, minute) => hour < 4 && minute % 20 === 0 },
  { cron: "45 23 * * *", everyRealHour: false, day: always, time: (hour, minute) => hour === 23 && minute === 45 },
  { cron: "30 * * * *", everyRealHour: true, day: always, time: (_, minute) => minute === 30 },
  { cron: "*/15 * * * *", everyRealHour: true, day: always, time: (_, minute) => minute % 15 === 0 },
  { cron: "5 */2 * * *", everyRealHour: true, day: always, time: (hour, minute) => hour % 2 === 0 && minute === 5 },
  {
    cron: "15 1 * * sun",
    everyRealHour: false,
    day: (date) => date.getUTCDay() === 0,
    time: (hour, minute) => hour === 1 && minute === 15
  },
  {
    cron: "*/10 */3 * * mon-fri",
    everyRealHour: true,
    day: weekday,
    time: (hour, minute) => hour % 3 === 0 && minute % 10 === 0
  },
  {
    cron: "0 12 30,31 * *",
    everyRealHour: false,
    day: (date) => date.getUTCDate() >= 30,
    time: (hour, minute) => hour === 12 && minute === 0
  }
]

/** Zones with rare rules first: skipped days, changes at midnight, by half an hour, by two hours, for Ramadan. */
const zones = [
  "Pacific/Apia",
  "Australia/Lord_Howe",
  "America/St_Johns",
  "Asia/Beirut",
  "Europe/Vienna",
  "Africa/Cairo",
  "Africa/Casablanca",
  "Africa/Johannesburg",
  "America/Argentina/San_Luis",
  "America/Asuncion",
  "America/Caracas",
  "America/Chicago",
  "America/Havana",
  "America/Los_Angeles",
  "America/Mexico_City",
  "America/New_York",
  "America/Nuuk",
  "America/Santiago",
  "America/Sao_Paulo",
  "Antarctica/Casey",
  "Antarctica/Troll",
  "Asia/Amman",
  "Asia/Dhaka",
  "Asia/Gaza",
  "Asia/Hebron",
  "Asia/Jerusalem",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "Asia/Pyongyang",
  "Asia/Tehran",
  "Asia/Tokyo",
  "Atlantic/Azores",
  "Europe/Dublin",
  "Europe/Istanbul",
  "Europe/London",
  "Europe/Moscow",
  "Pacific/Chatham",
  "Pacific/Fakaofo",
  "Pacific/Fiji",
  "UTC"
]

const from = Date.UTC(soak ? 2007 : 2010, 0, 1)
const to = Date.UTC(soak ? 2017 : 2012, 0, 10)

describe("occurrences are those of the clock in", () => {
  for (const zone of zones.slice(0, sized(3, zones.length)))
    it(zone, () => {
      const reckoned = reckon(zone, meanings, from, to)
      for (const [index, { cron }] of meanings.entries()) {
        const found = occurrences(
          schedule({ cron, zone }),
          DateTime.makeUnsafe(from),
          DateTime.makeUnsafe(to),
          Number.POSITIVE_INFINITY
        ).map(({ at }) => at.epochMilliseconds)
        const expected = reckoned[index] ?? []
        const differs = expected.findIndex((time, n) => time !== found[n])
        assert.deepStrictEqual(
          [cron, differs, found[differs], found.length],
          [cron, -1, undefined, expected.length],
          `expected ${new Date(expected[differs] ?? 0).toISOString()}`
        )
      }
    })
})
