/**
 * Processes as code, deployed to the real service.
 */
import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as Process from "@signalbox/api/Process"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { layer, linkWorker, Service } from "./support/Service.ts"

const File = Schema.Struct({ file: Schema.String })
const Airport = Schema.Struct({ code: Schema.String })

const split = { name: "split", input: File, output: Airport } as const
const count = { name: "count", input: Airport, output: Schema.Struct({ total: Schema.Finite }) } as const

const newName = () => `process ${crypto.randomUUID()}`

const waiting = (process: Process.Process) =>
  Effect.gen(function* () {
    const { id } = yield* Process.deploy(process)
    yield* WorkItems.create({ process: id, payload: { file: "a.csv" } })
    yield* WorkItems.create({ process: id, payload: { file: "b.csv" } })
    return id
  })

const queued = (process: Processes.Process["id"]) => Stream.runCount(WorkItems.stream({ process, state: "new" }))

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the deployment of a process", (it) => {
  describe("is idempotent", () => {
    it.effect("creates the process with all that its steps say", () =>
      Effect.gen(function* () {
        const group = yield* WorkerGroups.create(`group ${crypto.randomUUID()}`)
        const taskPackage = yield* TaskPackages.create(`package ${crypto.randomUUID()}`)
        const post = Process.packageTask({
          package: taskPackage.name,
          task: "Post to ERP",
          input: Airport,
          output: Schema.Void
        })
        const process = Process.make(newName(), {
          description: "d",
          steps: [
            Process.step(split, { worker_group: group.name, max_parallel: 3, env: { A: "1" } }),
            Process.step(post, { name: "post", retry: { max_attempts: 2, delay_seconds: 1 }, worker_group: group.id })
          ],
          default_work_item: { payload: { file: "a.csv" } },
          check_payloads: true
        })
        const { id, plan } = yield* Process.deploy(process)
        assert.strictEqual(plan.action, "create")
        assert.deepStrictEqual(Process.describePlan(plan), ["+ step split", "+ step post"])
        const { revision: _, ...definition } = yield* Processes.getDefinition(id)
        assert.deepStrictEqual(definition, {
          name: process.name,
          description: "d",
          steps: [
            {
              name: "split",
              task: { name: "split" },
              worker_group: { id: group.id },
              max_parallel: 3,
              env: { A: "1" }
            },
            {
              name: "post",
              task: { name: "Post to ERP", package_id: taskPackage.id },
              worker_group: { id: group.id },
              retry: { max_attempts: 2, delay_seconds: 1 }
            }
          ],
          default_work_item: { payload: { file: "a.csv" } },
          input_schema: {
            $schema: "https://json-schema.org/draft/2020-12/schema",
            type: "object",
            properties: { file: { type: "string" } },
            required: ["file"],
            additionalProperties: true
          },
          check_payloads: true
        })
      })
    )

    it.effect("sends nothing when the definition is the same, said in whatever way", () =>
      Effect.gen(function* () {
        const { rows } = yield* Service
        const name = newName()
        yield* Process.deploy(Process.make(name, { steps: [split, count] }))
        const before = yield* rows
        const said = Process.step(split, { max_parallel: 1, start_after: "items", env: {} })
        const { plan } = yield* Process.deploy(Process.make(name, { steps: [said, count], check_payloads: false }))
        assert.strictEqual(plan.action, "unchanged")
        assert.deepStrictEqual(Process.describePlan(plan), [])
        assert.deepStrictEqual(yield* rows, before)
      })
    )
  })

  describe("has a plan", () => {
    it.effect("that says what changes, and changes nothing", () =>
      Effect.gen(function* () {
        const { rows } = yield* Service
        const name = newName()
        const same = { name: "same", input: Airport, output: Airport } as const
        yield* Process.deploy(Process.make(name, { steps: [split, same, count] }))
        const before = yield* rows
        const next = Process.make(name, {
          description: "new",
          steps: [
            Process.step(split, { timeout_seconds: 60, retry: { max_attempts: 2, delay_seconds: 0 } }),
            { name: "more", input: Airport, output: Airport },
            Process.step(count, { name: "total" })
          ],
          check_payloads: true
        })
        assert.deepStrictEqual(Process.describePlan(yield* Process.plan(next)), [
          "- step same",
          "- step count",
          "~ step split: timeout_seconds, retry",
          "+ step more",
          "+ step total",
          "~ description",
          "~ check_payloads"
        ])
        assert.deepStrictEqual(yield* rows, before)
      })
    )

    it.effect("that says when steps have another order", () =>
      Effect.gen(function* () {
        const name = newName()
        const one = { name: "one", input: Airport, output: Airport } as const
        const two = { name: "two", input: Airport, output: Airport } as const
        yield* Process.deploy(Process.make(name, { steps: [split, one, two] }))
        const plan = yield* Process.plan(Process.make(name, { steps: [split, two, one] }))
        assert.deepStrictEqual(Process.describePlan(plan), ["~ order"])
      })
    )

    it.effect("that says what is missing in the workspace", () =>
      Effect.gen(function* () {
        const { rows } = yield* Service
        const before = yield* rows
        const post = Process.packageTask({ package: "nowhere", task: "t", input: Airport, output: Airport })
        const invalid = [
          [Process.make("p", { steps: [split, post] }), /^steps\.1 "t": there is no task package "nowhere"/],
          [
            Process.make("p", { steps: [Process.step(split, { worker_group: "nobody" })] }),
            /^steps\.0 "split": there is no worker group "nobody"/
          ]
        ] as const
        for (const [process, message] of invalid) {
          const error = yield* Effect.flip(Process.deploy(process))
          assert.strictEqual(error._tag, "InvalidProcess")
          assert.match(error.message, message)
        }
        assert.deepStrictEqual(yield* rows, before)
      })
    )
  })

  describe("with items that wait", () => {
    it.effect("changes what does not concern them", () =>
      Effect.gen(function* () {
        const name = newName()
        const id = yield* waiting(Process.make(name, { steps: [split, count] }))
        const { plan } = yield* Process.deploy(
          Process.make(name, { steps: [Process.step(split, { max_parallel: 2, environment: "none" })] })
        )
        assert.deepStrictEqual(Process.describePlan(plan), [
          "- step count",
          "~ step split: max_parallel, environment",
          "2 items wait"
        ])
        assert.strictEqual(yield* queued(id), 2)
      })
    )

    it.effect("refuses to take their step away, unless told how they go on", () =>
      Effect.gen(function* () {
        const { rows } = yield* Service
        const name = newName()
        const id = yield* waiting(Process.make(name, { steps: [split, count] }))
        const before = yield* rows
        const renamed = Process.make(name, { steps: [Process.step(split, { name: "divide" }), count] })
        const error = yield* Effect.flip(Process.deploy(renamed))
        if (error._tag !== "WaitingItems") return assert.fail(error.message)
        assert.match(error.message, /2 items wait for the step "split", which is removed; .*waiting: "keep"/)
        assert.deepStrictEqual(yield* rows, before)
        yield* Process.deploy(renamed, { waiting: "keep" })
        assert.strictEqual(yield* queued(id), 2)
        const again = Process.make(name, { steps: [split] })
        yield* Process.deploy(again, { waiting: "delete" })
        assert.strictEqual(yield* queued(id), 0)
        assert.strictEqual((yield* Process.plan(again)).action, "unchanged")
      })
    )

    it.effect("refuses a first step that does not take their payload, and deletes only those", () =>
      Effect.gen(function* () {
        const name = newName()
        const id = yield* waiting(Process.make(name, { steps: [split] }))
        yield* WorkItems.create({ process: id, payload: { file: "c.csv", day: 1 } })
        const dated = { ...split, input: Schema.Struct({ file: Schema.String, day: Schema.Finite }) }
        const stricter = Process.make(name, { steps: [dated] })
        assert.deepStrictEqual((yield* Process.plan(stricter)).waiting, {
          step: "split",
          isRemoved: false,
          count: 3,
          unfit: 2,
          hasMore: false
        })
        const error = yield* Effect.flip(Process.deploy(stricter))
        assert.match(error.message, /the step "split" does not accept the payload of 2 of 3 waiting items/)
        yield* Process.deploy(stricter, { waiting: "delete" })
        assert.strictEqual(yield* queued(id), 1)
      })
    )

    it.effect("leaves the items of runs to the steps with which these began", () =>
      Effect.gen(function* () {
        const name = newName()
        const task = `task ${crypto.randomUUID()}`
        const first = { name: task, input: File, output: Airport } as const
        const { id } = yield* Process.deploy(Process.make(name, { steps: [first, count] }))
        const run = yield* ProcessRuns.start(id, { payloads: [{ file: "a.csv" }] })
        if (!run.started) return assert.fail("not started")
        yield* Process.deploy(Process.make(name, { steps: [split] }))
        const worker = yield* linkWorker([task, "count"])
        const { lease, session } = yield* worker.take
        yield* session.createOutput(lease.work_item_id, { code: "VIE" })
        yield* worker.protocol.finish(lease, null)
        const second = yield* worker.take
        assert.strictEqual(second.lease.task.name, "count")
        yield* worker.protocol.finish(second.lease, null)
        assert.strictEqual((yield* ProcessRuns.get(run.id)).state, "completed")
      })
    )
  })

  describe("beside others", () => {
    it.effect("gives one process, and one result", () =>
      Effect.gen(function* () {
        const name = newName()
        const version = (max_parallel: number) => Process.make(name, { steps: [Process.step(split, { max_parallel })] })
        const versions = [1, 2, 3, 4]
        const deployed = yield* Effect.forEach(versions, (n) => Process.deploy(version(n)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(new Set(deployed.map(({ id }) => id)).size, 1)
        assert.strictEqual(deployed.filter(({ plan }) => plan.action === "create").length, 1)
        const plans = yield* Effect.forEach(versions, (n) => Process.plan(version(n)))
        assert.strictEqual(plans.filter(({ action }) => action === "unchanged").length, 1)
      })
    )
  })
})
