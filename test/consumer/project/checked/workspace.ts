// A workspace as a module. The day of the default item is a value that only the schema of this file can write as JSON.
import * as Process from "@signalbox/api/Process"
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import { greet } from "../tasks.ts"

export const hello = Process.make("hello", {
  steps: [greet],
  default_work_item: { payload: { name: "Ada" } },
  check_payloads: true
})

const Day = Schema.Struct({ day: Schema.DateTimeUtcFromString })

export const days = Process.make("days", {
  steps: [{ name: "plan", input: Day, output: Schema.Null }],
  default_work_item: { payload: { day: DateTime.makeUnsafe("2026-11-20T00:00:00Z") } }
})
export const assets = { currency: { text: "EUR" } }
