import { assert, describe, it } from "@effect/vitest"
import { retryAfterMillis } from "../src/RetryAfter.ts"

const now = Date.UTC(2026, 10, 22, 12, 0, 0)

describe("Retry-After", () => {
  const forms: ReadonlyArray<readonly [string, Readonly<Record<string, string>>, number | null]> = [
    ["whole seconds", { "retry-after": "3" }, 3000],
    ["zero", { "retry-after": "0" }, 0],
    ["fractions, rounded up to a millisecond", { "retry-after": "2.1281" }, 2129],
    ["milliseconds, which win", { "retry-after-ms": "250", "retry-after": "9" }, 250],
    ["unreadable milliseconds beside seconds", { "retry-after-ms": "x", "retry-after": "9" }, 9000],
    ["a date", { "retry-after": "Sun, 22 Nov 2026 12:00:04 GMT" }, 4000],
    ["a date of the older form", { "retry-after": "Sunday, 22-Nov-26 12:00:04 GMT" }, 4000],
    ["a date in the past", { "retry-after": "Sat, 21 Nov 2026 12:00:00 GMT" }, 0],
    ["spaces around it", { "retry-after": " 3 " }, 3000],
    ["nothing", {}, null],
    ["an empty value", { "retry-after": "" }, null],
    ["a word", { "retry-after": "soon" }, null],
    ["a negative number, which is no year", { "retry-after": "-5" }, null],
    ["a number without end", { "retry-after": "1e308" }, null]
  ]
  for (const [name, headers, millis] of forms) {
    it(`${name}: ${millis === null ? "none" : `${millis} ms`}`, () => {
      assert.strictEqual(retryAfterMillis(headers, now), millis)
    })
  }
})
