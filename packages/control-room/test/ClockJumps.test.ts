/** A system clock that is changed while the service runs. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Schedules from "@signalbox/api/Schedules"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Runs } from "../src/internal/runs/Runs.ts"
import { Scheduler } from "../src/internal/runs/Scheduler.ts"
import { Database } from "../src/internal/store/database/Database.ts"
import { Signer } from "../src/internal/transfers/Signer.ts"
import { StepRuns as StoredStepRuns } from "../src/internal/store/runs/StepRuns.ts"
import { bodyAs, multipart, send } from "./support/Http.ts"
import { adjustable, layer, linkWorker, masterKeyIn, movedBy, onPostgres, Service } from "./support/Service.ts"

const Forms = Schema.Struct({
  upload: Schema.Struct({ url: Schema.String, form_data: Schema.Record(Schema.String, Schema.String) })
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a clock that jumps", (it) => {
  it.effect("back gives no negative duration", () =>
    Effect.gen(function* () {
      const process = yield* Processes.create({ name: "back", steps: [{ name: "a", task: { name: "back" } }] })
      const run = yield* ProcessRuns.start(process.id, { payloads: [1] })
      const id = run.started ? run.id : yield* Effect.die(new Error("not started"))
      const worker = yield* linkWorker(["back"])
      const { lease } = yield* worker.take
      const stored = yield* (yield* StoredStepRuns).find(lease.step_run_id)
      if (stored === null) return assert.fail("no step run")
      const hourAgo = movedBy(yield* Clock.Clock, -60 * 60 * 1000)
      yield* Effect.provideService((yield* Runs).finish(stored, null), Clock.Clock, hourAgo)
      assert.strictEqual((yield* ProcessRuns.get(id)).duration, 0)
      const [stepRun] = yield* Stream.runCollect(StepRuns.stream(id))
      assert.strictEqual(stepRun?.duration, 0)
    })
  )

  it.effect.skipIf(!onPostgres)(
    "ahead by an hour on one node starts nothing early, and takes no work from a living worker",
    () =>
      Effect.gen(function* () {
        const process = yield* Processes.create({
          name: "set",
          steps: [
            { name: "a", task: { name: "set" }, max_parallel: 2, retry: { max_attempts: 2, delay_seconds: 1800 } }
          ]
        })
        const inHalfAnHour = new Date(Date.now() + 30 * 60 * 1000).toISOString()
        const definition = { name: "once", process: { id: process.id }, at: inHalfAnHour }
        const schedule = yield* Schedules.create(definition)
        const run = yield* ProcessRuns.start(process.id, { payloads: [1, 2] })
        const id = run.started ? run.id : yield* Effect.die(new Error("not started"))
        const worker = yield* linkWorker(["set"])
        const [living, failing] = [yield* worker.take, yield* worker.take]
        yield* worker.protocol.finish(failing.lease, { code: "ROBOT_FAILURE", message: "not today" })
        yield* worker.protocol.heartbeat([living.lease.step_run_id])

        const ahead = adjustable(yield* Clock.Clock, () => 60 * 60 * 1000)
        const ticks = Effect.all([(yield* Scheduler).tick, (yield* Runs).tick, (yield* Scheduler).tick])
        yield* Effect.provideService(ticks, Clock.Clock, ahead)
        assert.strictEqual((yield* Schedules.get(schedule.id)).next_at, schedule.next_at)
        assert.lengthOf(yield* Stream.runCollect(Schedules.occurrences(schedule.id)), 0)
        const states = (yield* Stream.runCollect(StepRuns.stream(id))).map(({ id, state }) => [id, state])
        assert.sameDeepMembers(states, [
          [living.lease.step_run_id, "in_progress"],
          [failing.lease.step_run_id, "failed"]
        ])
        assert.deepStrictEqual((yield* worker.protocol.heartbeat([living.lease.step_run_id])).lost, [])
        // What the node with the other clock writes has the time of all.
        const { millis } = yield* Database
        const [here, there] = [yield* millis, yield* Effect.provideService(millis, Clock.Clock, ahead)]
        assert.isBelow(there - here, 30 * 60 * 1000)
      })
  )

  it.effect("ahead by minutes ends no upload form early", () =>
    Effect.gen(function* () {
      const { folder, origin, raw } = yield* Service
      const process = yield* Processes.create({ name: "ahead", steps: [{ name: "a", task: { name: "ahead" } }] })
      const item = yield* WorkItems.create({ process: process.id })
      const answer = yield* raw("POST", `work-items/${item.id}/files`, { json: { file_name: "a", file_size: 1 } })
      const policy: Record<string, unknown> = JSON.parse(
        Buffer.from(bodyAs(Forms, answer).upload.form_data["policy"] ?? "", "base64url").toString()
      )
      const signer = yield* Effect.provide(Signer, Layer.provide(Signer.layer, masterKeyIn(folder)))
      /** The form, when the clock is this much past its expiry. */
      const uploadAfter = (millis: number) => {
        const encoded = Buffer.from(JSON.stringify({ ...policy, expires: Date.now() - millis })).toString("base64url")
        return send(
          origin,
          "POST",
          "/transfer/v1/uploads",
          multipart([
            { name: "policy", value: encoded },
            { name: "signature", value: signer.sign(`upload\n${encoded}`) },
            { name: "file", filename: "a", value: "1" }
          ])
        )
      }
      assert.strictEqual((yield* uploadAfter(4 * 60 * 1000)).status, 204)
      assert.strictEqual((yield* uploadAfter(6 * 60 * 1000)).status, 400)
    })
  )
})
