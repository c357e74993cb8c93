/**
 * Many work items in one request, on the database of the project.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import { withIdempotencyScope } from "@signalbox/api/Idempotency"
import * as Processes from "@signalbox/api/Processes"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { layer } from "./support/Service.ts"

const newProcess = Effect.suspend(() => {
  const name = `many ${crypto.randomUUID()}`
  return Processes.create({ name, steps: [{ name, task: { name } }] })
})

withLayer(layer)("many work items", (it) => {
  it.effect("are created in one request, with their ids in the order of the payloads", () =>
    Effect.gen(function* () {
      const process = yield* newProcess
      const ids = yield* WorkItems.createMany({
        process: process.id,
        payloads: Array.from({ length: 1000 }, (_, n) => n)
      })
      assert.lengthOf(new Set(ids), 1000)
      const [, second] = ids
      if (second === undefined) return assert.fail("none was made")
      const item = yield* WorkItems.get(second)
      assert.deepStrictEqual([item.payload, item.state, item.process.id], [1, "new", process.id])
    })
  )

  it.effect("of a process that is not there are none", () =>
    Effect.gen(function* () {
      const { id } = yield* newProcess
      yield* Processes.remove(id)
      const error = yield* Effect.flip(WorkItems.createMany({ process: id, payloads: [1] }))
      assert.strictEqual(error._tag, "NotFound")
    })
  )

  it.effect("of which a request fails are continued under the keys of the same scope, and none is created twice", () =>
    Effect.gen(function* () {
      const { id } = yield* newProcess
      const payloads = Array.from({ length: 1500 }, (_, n) => n)
      const taken = crypto.randomUUID()
      const there = yield* WorkItems.create({ process: id, reference: taken })
      const references = payloads.map((n) => (n === 1200 ? taken : null))
      const createAll = withIdempotencyScope(
        `all-${taken}`,
        WorkItems.createMany({ process: id, payloads, references })
      )
      const failure = yield* Effect.flip(createAll)
      if (failure._tag !== "PartlyCreated") return assert.fail(failure.message)
      assert.lengthOf(failure.ids, 1000)
      assert.strictEqual(failure.cause._tag, "Conflict")
      yield* WorkItems.remove([there.id])
      const ids = yield* createAll
      assert.deepStrictEqual(ids.slice(0, 1000), failure.ids)
      const all = yield* Stream.runCollect(WorkItems.stream({ process: id, limit: 500 }))
      assert.sameMembers(
        all.map((item) => item.id),
        ids
      )
    })
  )
})
