/** A schedule that is put: made, or replaced by its name. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ProcessId } from "../src/contract/Ids.ts"
import * as Schedules from "../src/Schedules.ts"
import { answer } from "./support/FaultServer.ts"
import { withServer } from "./support/Retries.ts"

const definition = { name: "nightly", process: { id: ProcessId.make("p") }, every: "1 day" }
const inUse = answer(409, { error: { code: "CONFLICT", message: "in use" }, message: "in use" })

const listed = {
  created_at: "2026-11-20T00:00:00.000Z",
  process: { id: "p", name: "orders" },
  cron: null,
  every: "1 day",
  anchor: null,
  at: null,
  zone: "UTC",
  from: null,
  until: null,
  calendar: { dates: [], weekdays: [], otherwise: "skip" },
  jitter: "0",
  missed: "latest",
  overlap: "skip",
  queue: 1,
  paused: null,
  next_at: null,
  waiting: []
}
const page = (names: ReadonlyArray<string>) =>
  answer(200, { data: names.map((name) => ({ ...listed, id: `s-${name}`, name })), has_more: false, next: null })

describe("a schedule that is put", () => {
  it.live("replaces the one with its name", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const updated = { ...listed, id: "s-nightly", name: "nightly", inputs: null, active_runs: [] }
        server.script([inUse, page(["other", "nightly"]), answer(200, updated)])
        yield* Effect.ignore(Schedules.put(definition))
        const [, , last] = server.received()
        assert.match(last?.path ?? "", /\/schedules\/s-nightly$/)
      })
    )
  )

  it.live("fails with the conflict when nothing has its name", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([inUse, page(["other"])])
        const error = yield* Effect.flip(Schedules.put(definition))
        assert.strictEqual(error._tag, "Conflict")
      })
    )
  )
})
