/**
 * Waiting for a copy by what its monitor says.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Drive from "../src/Drive.ts"
import * as Drives from "../src/Drives.ts"
import { connect, json, make, settle } from "./support/Server.ts"

/** A copy whose monitor says these things one after the other, the last one from then on. */
const copied = (...says: ReadonlyArray<unknown>) =>
  Effect.gen(function* () {
    const server = yield* make
    let polls = 0
    server.respond(({ method, url }) => {
      if (method === "POST") return { status: 202, headers: { location: `${server.origin}/monitor/1` } }
      // Who does not notice what is said does not wait for ever.
      if (url.startsWith("/monitor/") && polls > 50) return json({ status: "completed", resourceId: "NEW" })
      if (url.startsWith("/monitor/")) return json(says[Math.min(polls++, says.length - 1)])
      return json({ id: url.endsWith("/items/NEW") ? "NEW" : "OLD", name: "Case" })
    })
    const copy = Drives.copy(Drive.me, { id: "OLD" }, { name: "Copy" })
    const result = yield* settle(server, Effect.result(Effect.provide(copy, connect(server))))
    return { result, polls }
  })

describe("a copy's monitor", () => {
  const silent: ReadonlyArray<readonly [string, unknown]> = [
    ["nothing", {}],
    ["null", { status: null }],
    ["an unknown word", { status: "pondering", percentageComplete: 12 }],
    ["no object", "done"]
  ]
  for (const [what, said] of silent) {
    it.effect(`that says ${what} is Malformed`, () =>
      Effect.gen(function* () {
        const { polls, result } = yield* copied({ status: "inProgress" }, said)
        assert.strictEqual(result._tag === "Failure" ? result.failure.reason._tag : "", "Malformed")
        assert.strictEqual(polls, 2)
      })
    )
  }

  it.effect("is asked until the copy is done, whatever the case of its words", () =>
    Effect.gen(function* () {
      const going = ["notStarted", "running", "waiting", "updating", "InProgress"].map((status) => ({ status }))
      const { polls, result } = yield* copied(...going, { status: "Completed", resourceId: "NEW" })
      assert.strictEqual(result._tag === "Success" ? result.success.id : "", "NEW")
      assert.strictEqual(polls, 6)
    })
  )

  for (const status of ["failed", "deleteFailed", "cancelled"]) {
    it.effect(`that says ${status} ends the wait with its code`, () =>
      Effect.gen(function* () {
        const { result } = yield* copied({ status, error: { code: "nameAlreadyExists" } })
        const error = result._tag === "Failure" ? result.failure : undefined
        assert.strictEqual(error?.reason._tag, "JobFailed")
        assert.include(error?.message, "nameAlreadyExists")
      })
    )
  }
})
