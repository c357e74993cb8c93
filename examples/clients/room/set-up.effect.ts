/** What a process needs before its first run. Safe to repeat, so a deployment runs it each time. */
import * as Assets from "@signalbox/api/Assets"
import * as Processes from "@signalbox/api/Processes"
import * as Schedules from "@signalbox/api/Schedules"
import * as Secrets from "@signalbox/api/Secrets"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

export const main = Effect.fnUntraced(function* (
  password: Redacted.Redacted,
  prices: Readonly<Record<string, number>>
) {
  yield* Secrets.put("shop", { items: { user: "robot", password } })
  yield* Assets.put("prices", {
    name: "prices.json",
    bytes: new TextEncoder().encode(JSON.stringify(prices))
  })
  const process = yield* Processes.put({
    name: "nightly",
    steps: [{ name: "price", task: { name: "price" } }]
  })
  const schedule = yield* Schedules.put({
    name: "every night",
    process: { id: process.id },
    cron: "30 2 * * mon-fri",
    zone: "Europe/Copenhagen"
  })
  yield* Console.log(`runs next at ${schedule.next_at}`)
  return schedule.id
})
