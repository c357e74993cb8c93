/** The management of schedules over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { FlowManagementClient, type FlowManagementError } from "../src/FlowManagementClient.ts"
import * as FlowSchedules from "../src/FlowSchedules.ts"
import { until } from "./support/Polling.ts"
import { address, layer, orders, token } from "./support/Served.ts"

const client = Layer.unwrap(
  Effect.map(address, (url) =>
    Layer.fresh(FlowManagementClient.layer({ url, token: Redacted.make(token) })).pipe(
      Layer.provide(NodeHttpClient.layerUndici)
    )
  )
)

/** Needs escaping in a path. */
const odd = "each year / jährlich?"

const schedule = (name: string, options: Partial<FlowSchedules.Options<string>> = {}) =>
  FlowSchedules.layer(orders, {
    name,
    cron: "0 6 1 1 *",
    zone: "Europe/Vienna",
    jitter: "5 minutes",
    input: ({ epochMilliseconds }: DateTime.Utc) => `${epochMilliseconds}`,
    ...options
  })

const world = Layer.merge(schedule("yearly", { overlap: "queue" }), schedule(odd)).pipe(
  Layer.provideMerge(Layer.provideMerge(client, Layer.fresh(layer)))
)

const test = <E>(title: string, body: Effect.Effect<void, E, Layer.Success<typeof world>>) =>
  it.live(title, () => Effect.provide(body, world))

describe("the management of schedules", () => {
  test(
    "lists and shows them as the program itself does, whatever their name",
    Effect.gen(function* () {
      const { schedules } = yield* FlowManagementClient
      const all = yield* schedules.list
      assert.deepStrictEqual(
        all.map(({ name }) => name),
        [odd, "yearly"]
      )
      assert.deepStrictEqual(all, yield* FlowSchedules.list)
      assert.deepStrictEqual(yield* schedules.get(odd), yield* FlowSchedules.get(odd))
    })
  )

  test(
    "pauses, resumes, begins one now and removes",
    Effect.gen(function* () {
      const { schedules } = yield* FlowManagementClient
      yield* schedules.pause(odd, "the ERP is down", { by: "ann" })
      assert.deepInclude((yield* schedules.get(odd)).paused, { by: "ann", note: "the ERP is down" })
      yield* schedules.resume(odd)
      assert.isNull((yield* schedules.get(odd)).paused)

      const first = yield* schedules.runNow("yearly")
      assert.strictEqual(first.outcome, "begins")
      yield* until(Effect.map(schedules.get("yearly"), ({ running }) => running[0]?.at === first.at))
      assert.strictEqual((yield* schedules.runNow("yearly")).outcome, "waits")

      yield* schedules.remove("yearly")
      assert.deepStrictEqual(
        (yield* schedules.list).map(({ name }) => name),
        [odd]
      )
    })
  )

  test(
    "begins the times of a past span",
    Effect.gen(function* () {
      const { schedules } = yield* FlowManagementClient
      const [from, to] = [Date.parse("2020-01-01T00:00Z"), Date.parse("2023-01-01T00:00Z")]
      assert.strictEqual(yield* schedules.backfill("yearly", from, to), 3)
      yield* until(
        Effect.map(schedules.get("yearly"), ({ backfill, running }) => backfill.length + running.length === 3)
      )
    })
  )

  test(
    "says what was wrong, and changes nothing then",
    Effect.gen(function* () {
      const { schedules } = yield* FlowManagementClient
      const before = yield* schedules.list
      const no = /^NOT_FOUND name: the schedule nobody does not exist; the first start of a program/
      const table: ReadonlyArray<readonly [Effect.Effect<unknown, FlowManagementError>, RegExp]> = [
        [schedules.get("nobody"), no],
        [schedules.pause("nobody", ""), no],
        [schedules.resume("nobody"), no],
        [schedules.runNow("nobody"), no],
        [schedules.remove("nobody"), no],
        [schedules.backfill("nobody", 0, 1), no],
        [
          schedules.backfill("yearly", 5, 5),
          /^INVALID_REQUEST the schedule yearly: to: Expected to be later than from/
        ],
        [
          schedules.backfill("yearly", 0, Date.now() + 1e9),
          /^INVALID_REQUEST the schedule yearly: to: Expected at most now/
        ]
      ]
      for (const [call, expected] of table) {
        const { code, message } = yield* Effect.flip(call)
        assert.match(`${code} ${message}`, expected)
      }
      assert.deepStrictEqual(yield* schedules.list, before)
    })
  )

  test(
    "needs the token",
    Effect.gen(function* () {
      const base = yield* address
      const response = yield* Effect.promise(() => fetch(`${base}/flow-schedules`))
      assert.strictEqual(response.status, 401)
    })
  )
})
