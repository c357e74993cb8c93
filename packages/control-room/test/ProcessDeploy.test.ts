/**
 * Processes as code, deployed to the real service.
 */
import { assert, describe, layer as withLayer } from "@effect/vitest"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Process from "@signalbox/api/Process"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as WorkItems from "@signalbox/api/WorkItems"
import { sized } from "@signalbox/testkit/Soak"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { assertError } from "./support/Http.ts"
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
    it.effect("deploys limits, says when they differ, and refuses a pointer that is none", () =>
      Effect.gen(function* () {
        const name = newName()
        const limited = (key: string, limit = 2) =>
          Process.make(name, {
            steps: [Process.step(split, { concurrency: { key, limit }, rate: { limit: 10, per: "minute" } })],
            concurrency: { limit: 5 }
          })
        const { id } = yield* Process.deploy(limited("/file"))
        const { concurrency, steps } = yield* Processes.getDefinition(id)
        assert.deepStrictEqual(concurrency, { limit: 5 })
        assert.deepInclude(steps[0], { concurrency: { key: "/file", limit: 2 }, rate: { limit: 10, per: "minute" } })
        assert.strictEqual((yield* Process.deploy(limited("/file"))).plan.action, "unchanged")
        const { plan } = yield* Process.deploy(limited("/file", 3))
        assert.deepStrictEqual(Process.describePlan(plan), ["~ step split: concurrency"])
        const refused = yield* Effect.flip(Process.deploy(limited("file")))
        assert.include(refused.message, "steps.0.concurrency.key")
        assert.deepStrictEqual(yield* Processes.limits(id), [])
      })
    )

    it.effect("deploys secret fields: those that a schema marks, and pointers", () =>
      Effect.gen(function* () {
        const name = newName()
        const input = Schema.Struct({ file: Schema.String, ssn: Schema.String.annotate({ writeOnly: true }) })
        const secret = (sensitive: ReadonlyArray<string>) =>
          Process.make(name, {
            steps: [{ name: "pay", input, output: Schema.Void }],
            sensitive,
            sensitive_files: false
          })
        const { id } = yield* Process.deploy(secret(["/decision"]))
        const { input_schema, ...definition } = yield* Processes.getDefinition(id)
        assert.deepNestedPropertyVal(input_schema, "properties.ssn.writeOnly", true)
        assert.deepInclude(definition, { sensitive: ["/decision"], sensitive_files: false })
        assert.strictEqual((yield* Process.deploy(secret(["/decision"]))).plan.action, "unchanged")
        const { plan } = yield* Process.deploy(secret(["/decision", "/note"]))
        assert.deepStrictEqual(Process.describePlan(plan), ["~ sensitive"])
      })
    )

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
            Process.step(split, {
              worker_group: group.name,
              worker: { labels: ["gpu", "eu"] },
              max_parallel: 3,
              env: { A: "1" }
            }),
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
              worker: { labels: ["gpu", "eu"] },
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
        const said = Process.step(split, { max_parallel: 1, start_after: "items", env: {}, worker: { labels: [] } })
        const { plan } = yield* Process.deploy(Process.make(name, { steps: [said, count], check_payloads: false }))
        assert.strictEqual(plan.action, "unchanged")
        assert.deepStrictEqual(Process.describePlan(plan), [])
        assert.deepStrictEqual(yield* rows, before)
      })
    )
  })

  describe("has a plan", () => {
    it.effect("that says which step names another version of its package", () =>
      Effect.gen(function* () {
        const { id, name } = yield* TaskPackages.create(`package ${crypto.randomUUID()}`)
        const bytes = yield* zipOf({ "robot.yaml": robotYaml("t") })
        yield* TaskPackages.upload(id, { name: "p.zip", bytes })
        const task = Process.packageTask({ package: name, task: "t", input: Airport, output: Airport })
        const of = newName()
        const made = (version?: number | null) =>
          Process.make(of, {
            steps: [Process.step(task, version === undefined ? {} : { task_package_version: version })]
          })
        yield* Process.deploy(made(1))
        const { steps } = yield* Processes.getDefinition(yield* Process.id(made()))
        assert.strictEqual(steps[0]?.task_package_version, 1)
        const { plan } = yield* Process.deploy(made())
        assert.deepStrictEqual(Process.describePlan(plan), ["~ step t: task_package_version"])
        assert.strictEqual((yield* Process.plan(made(null))).action, "unchanged")
        const refused = yield* Effect.flip(Process.deploy(made(2)))
        assert.match(refused.message, /steps\.0\.task_package_version: the package has no version 2/)
      })
    )

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
            Process.step(split, {
              timeout_seconds: 60,
              retry: { max_attempts: 2, delay_seconds: 0 },
              worker: { labels: ["gpu"] }
            }),
            { name: "more", input: Airport, output: Airport },
            Process.step(count, { name: "total" })
          ],
          check_payloads: true
        })
        assert.deepStrictEqual(Process.describePlan(yield* Process.plan(next)), [
          "- step same",
          "- step count",
          "~ step split: worker, timeout_seconds, retry",
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

    it.effect("deletes them with the change: a client that is cut off in between leaves both or neither", () =>
      Effect.gen(function* () {
        const name = newName()
        const id = yield* waiting(Process.make(name, { steps: [split, count] }))
        const renamed = Process.make(name, { steps: [Process.step(split, { name: "divide" }), count] })
        const client = yield* HttpClient.HttpClient
        const { key, origin, workspaceId } = yield* Service
        let changes = 0
        /** Deploys with a client that dies at the answer to its first change. */
        const dying = yield* Process.deploy(renamed, { waiting: "delete" }).pipe(
          Effect.provide(ControlRoom.layerHttpClient({ baseUrl: origin, workspaceId, apiKey: Redacted.make(key) })),
          Effect.provideService(
            HttpClient.HttpClient,
            HttpClient.tap(client, ({ request }) =>
              request.method === "POST" && ++changes > 0 ? Effect.interrupt : Effect.void
            )
          ),
          Effect.exit
        )
        assert.isTrue(Exit.hasInterrupts(dying))
        assert.strictEqual(changes, 1)
        assert.strictEqual(yield* queued(id), 0)
        assert.strictEqual((yield* Process.deploy(renamed, { waiting: "delete" })).plan.action, "unchanged")
        assert.strictEqual(yield* queued(id), 0)
      })
    )

    it.effect("deletes none when the change is refused", () =>
      Effect.gen(function* () {
        const { makeKey, origin, raw, rows, workspaceId } = yield* Service
        const name = newName()
        const process = Process.make(name, { steps: [split, count] })
        const id = yield* waiting(process)
        const other = yield* waiting(Process.make(newName(), { steps: [split] }))
        const ids = Stream.runCollect(Stream.map(WorkItems.stream({ process: id, state: "new" }), (item) => item.id))
        const delete_work_items = yield* ids
        const of = yield* Effect.map(Stream.runCollect(WorkItems.stream({ process: other })), ([item]) => item?.id)
        const { revision, ...definition } = yield* Processes.getDefinition(id)
        const json = { ...definition, description: "new", delete_work_items }
        const reader = yield* makeKey(["Processes.write_processes", "Processes.read_processes"])
        const before = yield* rows
        const path = `processes/${id}`
        const conflict = yield* raw("POST", path, { json: { ...json, revision: `${revision}x` } })
        assertError(conflict, 409, "CONFLICT", /^revision: /)
        const wrong = { ...json, check_payloads: true, input_schema: { pattern: "(" } }
        assertError(yield* raw("POST", path, { json: wrong }), 400, "INVALID_REQUEST", /^input_schema/)
        const foreign = { ...json, delete_work_items: [...delete_work_items, of] }
        assertError(
          yield* raw("POST", path, { json: foreign }),
          409,
          "CONFLICT",
          /^delete_work_items: .* does not wait/
        )
        const target = `${origin}/api/v1/workspaces/${workspaceId}/${path}`
        const refused = yield* raw("POST", target, { json, key: reader })
        assertError(refused, 403, "FORBIDDEN", /^delete_work_items: .*Processes\.write_work_items/)
        const { api_key: _, ...now } = yield* rows
        const { api_key: __, ...then } = before
        assert.deepStrictEqual(now, then)
        assert.lengthOf(yield* ids, 2)
      })
    )

    it.effect("deletes none that a run has taken between the plan and the change", () =>
      Effect.gen(function* () {
        const name = newName()
        const id = yield* waiting(Process.make(name, { steps: [split, count] }))
        const first = yield* Stream.runHead(WorkItems.stream({ process: id, state: "new" }))
        if (first._tag === "None") return assert.fail("no item")
        const client = yield* HttpClient.HttpClient
        const { key, origin, workspaceId } = yield* Service
        const room = { baseUrl: origin, workspaceId, apiKey: Redacted.make(key) }
        const own = yield* Effect.context<ControlRoom>()
        let changes = 0
        const taking = HttpClient.mapRequestEffect(client, (request) =>
          request.method === "POST" && ++changes === 1
            ? ProcessRuns.start(id, { workItems: [first.value.id] }).pipe(
                Effect.provide(own),
                Effect.orDie,
                Effect.as(request)
              )
            : Effect.succeed(request)
        )
        const renamed = Process.make(name, { steps: [Process.step(split, { name: "divide" }), count] })
        const { plan } = yield* Process.deploy(renamed, { waiting: "delete" }).pipe(
          Effect.provide(ControlRoom.layerHttpClient(room)),
          Effect.provideService(HttpClient.HttpClient, taking)
        )
        assert.strictEqual(changes, 2)
        assert.strictEqual(plan.waiting.count, 1)
        assert.strictEqual(yield* queued(id), 0)
        assert.notStrictEqual((yield* WorkItems.get(first.value.id)).state, "new")
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

    it.effect("that run and are created loses none and doubles none", () =>
      Effect.gen(function* () {
        const name = newName()
        const [one, two] = [`one ${name}`, `two ${name}`]
        const Own = Schema.Struct({ n: Schema.Finite })
        const task = (task: string) => ({ name: task, input: Own, output: Own })
        const parallel = { max_parallel: 2 }
        const versions = [
          Process.make(name, { steps: [Process.step(task(one), parallel)] }),
          Process.make(name, { steps: [Process.step(task(one), parallel), Process.step(task(two), parallel)] }),
          Process.make(name, { steps: [Process.step(task(one), { ...parallel, name: "renamed" }), task(two)] })
        ] as const
        const { id } = yield* Process.deploy(versions[0])
        const rounds = sized(3, 60)
        const perRun = 3
        const payloads = (round: number) => Array.from({ length: perRun }, (_, n) => ({ n: 100 * (round + 1) + n }))
        /** The first task passes its number on, and the second doubles it. */
        const worker = Effect.gen(function* () {
          const { protocol, stayAlive, take } = yield* linkWorker([one, two])
          yield* stayAlive
          return yield* Effect.forever(
            Effect.gen(function* () {
              const { lease, session } = yield* take
              const { n } = Schema.decodeUnknownSync(Own)(yield* session.payload(lease.work_item_id))
              yield* session.createOutput(lease.work_item_id, { n: lease.task.name === one ? n : n * 2 })
              yield* protocol.finish(lease, null)
            })
          )
        })
        const workers = yield* Effect.forkChild(Effect.all([worker, worker], { concurrency: 2 }))
        const running = yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: rounds }, (_, round) => round),
            (round) => Process.run(versions[0], payloads(round)),
            { concurrency: 3 }
          )
        )
        let deployed = 0
        const deploying = Effect.gen(function* () {
          while (running.pollUnsafe() === undefined && workers.pollUnsafe() === undefined) {
            const version = versions[++deployed % versions.length]
            if (version !== undefined) yield* Process.deploy(version, { waiting: "keep" })
          }
        })
        yield* Effect.all([deploying, deploying], { concurrency: 2 })
        const runs = yield* Fiber.join(running)
        yield* Fiber.interrupt(workers)
        assert.isAbove(deployed, 3)
        for (const [round, { outputs }] of runs.entries()) {
          const numbers = outputs.map(({ payload }) => payload.n).toSorted((a, b) => a - b)
          // All by the one definition with which the run began.
          const factor = Math.round((numbers[0] ?? 0) / (100 * (round + 1)))
          assert.include([1, 2], factor)
          assert.deepStrictEqual(
            numbers,
            payloads(round).map(({ n }) => n * factor)
          )
        }
        assert.strictEqual(yield* queued(id), 0)
        assert.strictEqual(yield* Stream.runCount(ProcessRuns.stream({ process: id })), rounds)
      })
    )
  })
})
