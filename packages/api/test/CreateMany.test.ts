/** Many work items: what is checked before the first request, and what a failure after others says. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { ProcessId } from "../src/contract/Ids.ts"
import * as WorkItems from "../src/WorkItems.ts"
import { answer } from "./support/FaultServer.ts"
import { withServer } from "./support/Retries.ts"

const process = ProcessId.make("p")
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
const created = (from: number, count: number) =>
  answer(200, { work_items: numbers(count).map((n) => ({ id: `i${from + n}` })) })
const refused = (status: number, message: string) => answer(status, { error: { code: "REFUSED", message }, message })

describe("many work items", () => {
  for (const [what, input, message] of [
    ["a payload that is no JSON", { payloads: numbers(2500).with(2100, NaN) }, /^payloads\.2100: NaN/],
    ["a payload that is too large", { payloads: ["a", "x".repeat(1024 * 1024)] }, /^payloads\.1: more than/],
    ["a large payload of long characters", { payloads: ["ö".repeat(600_000)] }, /^payloads\.0: more than/],
    ["a reference too few", { payloads: [1, 2], references: ["a"] }, /^references: has 1 entries for 2 payloads/],
    ["a reference too long", { payloads: [1, 2], references: [null, "x".repeat(256)] }, /^references\.1: /],
    ["references without payloads", { payloads: [], references: ["a"] }, /^references: /]
  ] as const) {
    it.live(`are all refused, and nothing is sent, for ${what}`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          server.script([created(0, 1000)])
          const error = yield* Effect.flip(WorkItems.createMany({ process, ...input }))
          assert.strictEqual(error._tag, "InvalidRequest")
          assert.match(error.message, message)
          assert.lengthOf(server.received(), 0)
        })
      )
    )
  }

  it.live("fail with what exists when a later request fails, under the index of the caller", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([created(0, 1000), created(1000, 1000), refused(400, "payloads.100.total: expected a number")])
        const error = yield* Effect.flip(WorkItems.createMany({ process, payloads: numbers(2500) }))
        if (error._tag !== "PartlyCreated") return assert.fail(error.message)
        assert.deepStrictEqual([error.ids.length, error.ids[1999], error.total], [2000, "i1999", 2500])
        assert.strictEqual(error.cause._tag, "InvalidRequest")
        assert.strictEqual(
          error.message,
          "2000 of 2500 work items were created; continue from index 2000: payloads.2100.total: expected a number"
        )
      })
    )
  )

  it.live("fail as they are when the first request fails", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([refused(404, "no such process")])
        const error = yield* Effect.flip(WorkItems.createMany({ process, payloads: numbers(2500) }))
        assert.strictEqual(error._tag, "NotFound")
        assert.lengthOf(server.received(), 1)
      })
    )
  )

  it.live("of no payloads are none", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([created(0, 1)])
        assert.deepStrictEqual(yield* Effect.exit(WorkItems.createMany({ process, payloads: [] })), Exit.succeed([]))
        assert.lengthOf(server.received(), 0)
      })
    )
  )
})
