/** What came when: items of each hour, with what has become of them, and runs of a time. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import { WorkItems as Store } from "../src/internal/store/items/WorkItems.ts"
import { endpoints, fill } from "./support/Endpoints.ts"
import { assertError, send } from "./support/Http.ts"
import { headersOf, quiet, seed } from "./support/Seed.ts"
import { Service } from "./support/Service.ts"
import { timesOf } from "./support/TimeMembers.ts"

const hour = 3_600_000

/** All hours together. */
const sums = Effect.map(WorkItems.throughput(), (hours) =>
  hours.reduce(
    (sum, { done, failed, open }) => ({ done: sum.done + done, failed: sum.failed + failed, open: sum.open + open }),
    { done: 0, failed: 0, open: 0 }
  )
)

withLayer(quiet)("times", (it) => {
  it.effect("that do not exist are refused wherever a request has one", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const known = yield* seed
      const places = endpoints.flatMap((endpoint) => timesOf(endpoint.identifier).map((time) => ({ endpoint, time })))
      // Those that a list by hand had forgotten, so that a walk that finds nothing does not pass.
      for (const place of [
        "listProcessRuns created_before",
        "updateGroupLinkToken expires_at",
        "createBulkOperation filter.state_updated_after",
        "sendStepRunConsole messages.0.timestamp",
        "createSchedule anchor",
        "updateSchedule until"
      ]) {
        assert.include(
          places.map(({ endpoint, time }) => `${endpoint.identifier} ${time.field}`),
          place
        )
      }
      for (const { endpoint, time } of places) {
        for (const value of ["2027-02-30T00:00:00Z", "2027-02-29T12:00:00+01:00", "2027-04-31T00:00:00.000Z"]) {
          const { body, query } = time.requestWith(value)
          const path = fill(endpoint.path, (parameter) => known.ids[parameter] ?? assert.fail(parameter))
          const answer = yield* send(origin, endpoint.method, path + query, {
            headers: { ...headersOf(endpoint.door, known.tokens[endpoint.door]), "content-type": "application/json" },
            ...(body === undefined ? {} : { body: JSON.stringify(body) })
          })
          assertError(answer, 400, "INVALID_REQUEST", new RegExp(`^${time.field.replaceAll(".", "\\.")}: `))
        }
      }
    })
  )

  it.effect("that exist are taken, unless they would not sort", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { id: process } = yield* Processes.create({
        name: "leap",
        steps: [{ name: "a", task: { name: "nobody" } }]
      })
      for (const due of ["2028-02-29T23:59:59Z", "2027-02-28T23:59:59.999-11:00"]) {
        const made = yield* raw("POST", "work-items", { json: { process: { id: process }, payload: 1, due_at: due } })
        assert.strictEqual(made.status, 200, made.text)
      }
      // Stored in UTC they would not sort.
      for (const due of ["9999-12-31T23:59:59-12:00", "0000-01-01T00:00:00+12:00"]) {
        const refused = yield* raw("POST", "work-items", { json: { process: { id: process }, due_at: due } })
        assertError(refused, 400, "INVALID_REQUEST", /^due_at: is not a valid time/)
      }
    })
  )

  it.effect("counts items by what has become of them", () =>
    Effect.gen(function* () {
      const before = yield* sums
      const process = yield* Processes.create({ name: "throughput", steps: [{ name: "a", task: { name: "nobody" } }] })
      yield* WorkItems.createMany({ process: process.id, payloads: [1, 2] })
      for (const remainingAsDone of [true, false]) {
        const run = yield* ProcessRuns.start(process.id, { payloads: [3] })
        if (run.started) yield* ProcessRuns.stop(run.id, { remainingAsDone })
      }
      const { done, failed, open } = yield* sums
      assert.deepStrictEqual([done - before.done, failed - before.failed, open - before.open], [1, 1, 2])
    })
  )

  it.effect("has an entry for each hour, the current one last", () =>
    Effect.gen(function* () {
      const hours = yield* WorkItems.throughput({ hours: 3 })
      const times = hours.map(({ from }) => Date.parse(from))
      assert.deepStrictEqual(
        times.map((time) => (time - (times[0] ?? 0)) / hour),
        [0, 1, 2]
      )
      assert.strictEqual((times[2] ?? 1) % hour, 0)
      assert.match((yield* Effect.flip(WorkItems.throughput({ hours: 0 }))).message, /hours/)
    })
  )

  it.effect("counts an item in the hour in which it was created, for its workspace alone", () =>
    Effect.gen(function* () {
      const { makeWorkspace, workspaceId } = yield* Service
      const store = yield* Store
      const process = yield* Processes.create({ name: "hours", steps: [{ name: "a", task: { name: "nobody" } }] })
      const { id } = yield* WorkItems.create({ process: process.id })
      // The time in the id, by which items are counted; `created_at` may be a millisecond later.
      const at = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)
      const around = (from: number, to: number) =>
        Effect.map(store.createdBetween(workspaceId, [from, at, at + 1, to]), (counts) => counts.map((one) => one.new))
      const [earlier = 0, then = 0, later = 0] = yield* around(at - hour, at + hour)
      const other = yield* store.createdBetween(yield* makeWorkspace, [at - hour, at + hour])
      assert.deepStrictEqual(other, [{ new: 0, pending: 0, in_progress: 0, done: 0, failed: 0 }])
      yield* WorkItems.remove([id])
      assert.deepStrictEqual(yield* around(at - hour, at + hour), [earlier, then - 1, later])
    })
  )

  it.effect("lists runs that were created from one time to another", () =>
    Effect.gen(function* () {
      const process = yield* Processes.create({ name: "times", steps: [{ name: "a", task: { name: "nobody" } }] })
      const run = yield* ProcessRuns.start(process.id)
      assert.isTrue(run.started)
      const { data } = yield* ProcessRuns.list({ process: process.id })
      const at = Date.parse(data[0]?.created_at ?? "")
      const found = (from: number, before: number) =>
        Effect.map(
          ProcessRuns.list({
            process: process.id,
            createdAfter: new Date(from).toISOString(),
            createdBefore: new Date(before).toISOString()
          }),
          ({ data }) => data.length
        )
      assert.strictEqual(yield* found(at - hour, at + hour), 1)
      assert.strictEqual(yield* found(at - 2 * hour, at - hour), 0)
      assert.strictEqual(yield* found(at + hour, at + 2 * hour), 0)
      const refused = yield* Effect.flip(ProcessRuns.list({ createdAfter: "2026-13-01T00:00:00Z" }))
      assert.match(refused.message, /created_after: is not a valid time/)
    })
  )
})
