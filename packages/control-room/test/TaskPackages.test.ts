import { assert, layer as withLayer } from "@effect/vitest"
import { TaskPackageId } from "@signalbox/api/contract/Ids"
import * as Assistants from "@signalbox/api/Assistants"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import { hostileZips } from "@signalbox/testkit/HostileZips"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as RawZip from "@signalbox/testkit/RawZip"
import { sized, soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { bodyAs, errorOf, multipart, send } from "./support/Http.ts"
import { layer, linkWorker, onPostgres, Service } from "./support/Service.ts"

const Form = Schema.Struct({ url: Schema.String, form_data: Schema.Record(Schema.String, Schema.String) })

const zipped = (...tasks: ReadonlyArray<string>) =>
  Effect.map(zipOf({ "robot.yaml": robotYaml(...tasks), "tasks.py": "print(1)\n" }), (bytes) => ({
    name: "p.zip",
    bytes
  }))

const withTasks = Effect.fnUntraced(function* (name: string, ...tasks: ReadonlyArray<string>) {
  const { id } = yield* TaskPackages.create(name)
  yield* TaskPackages.upload(id, yield* zipped(...tasks))
  return id
})

/** Sends a zip as a form, and returns the response. */
const post = Effect.fnUntraced(function* (id: string, zip: Uint8Array) {
  const { origin, raw } = yield* Service
  const { form_data, url } = bodyAs(Form, yield* raw("GET", `task-packages/${id}/upload`))
  const fields = Object.entries(form_data).map(([name, value]) => ({ name, value }))
  const parts = [...fields, { name: "file", filename: "p.zip", value: zip }]
  return yield* send(origin, "POST", url.slice(origin.length), multipart(parts))
})

/** A worker of another workspace. */
const workerElsewhere = Effect.gen(function* () {
  const { makeKey, makeWorkspace, origin, raw } = yield* Service
  const other = yield* makeWorkspace
  const key = yield* makeKey(["Workers.write_workers"], other)
  const answer = yield* raw("POST", `/api/v1/workspaces/${other}/workers/link-tokens`, { key })
  const { link_token } = bodyAs(Schema.Struct({ link_token: Schema.String }), answer)
  const linkToken = Redacted.make(link_token)
  return yield* WorkerProtocol.make(origin, yield* WorkerProtocol.link({ origin, linkToken, name: "w", tasks: [] }))
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("task packages", (it) => {
  it.effect("are created, get their zip, and return it with the names of their tasks", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const made = yield* TaskPackages.create("invoices")
      const empty = { tasks: [], download: null, git: null, current: null }
      assert.deepStrictEqual(made, { id: made.id, name: "invoices", type: "zip", ...empty })
      assert.deepStrictEqual(yield* TaskPackages.get(made.id), made)
      assert.strictEqual((yield* Effect.flip(TaskPackages.create("invoices")))._tag, "Conflict")
      const zip = yield* zipped("Read", "Write all", "naïve 漢字")
      yield* TaskPackages.upload(made.id, zip)
      const filled = yield* TaskPackages.get(made.id)
      assert.deepStrictEqual(filled.tasks, [{ name: "Read" }, { name: "Write all" }, { name: "naïve 漢字" }])
      assert.deepStrictEqual(yield* Stream.mkUint8Array(TaskPackages.download(made.id)), zip.bytes)
      const answer = yield* send(origin, "HEAD", (filled.download?.url ?? "").slice(origin.length))
      assert.strictEqual(answer.headers["content-type"], "application/zip")
      assert.strictEqual(answer.headers["content-disposition"], "attachment; filename*=UTF-8''invoices.zip")
      yield* TaskPackages.upload(made.id, yield* zipped("Other"))
      assert.deepStrictEqual((yield* TaskPackages.get(made.id)).tasks, [{ name: "Other" }])
      assert.deepStrictEqual((yield* TaskPackages.list({ name: "invoices" })).data, [
        { id: made.id, name: "invoices", type: "zip" }
      ])
      const { blobs } = yield* Service
      const kept = (yield* blobs).kept.length
      yield* TaskPackages.remove(made.id)
      // The zips of both versions.
      assert.strictEqual((yield* blobs).kept.length, kept - 2)
      assert.strictEqual((yield* Effect.flip(TaskPackages.remove(made.id)))._tag, "NotFound")
    })
  )

  it.effect("refuse bad requests and changes nothing", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw, rows } = yield* Service
      const { id } = yield* TaskPackages.create("plain")
      const other = yield* makeWorkspace
      const key = yield* makeKey(["Tasks.read_task_packages", "Tasks.write_task_packages"], other)
      const git = { type: "github", configuration: { mode: "detached", reference: "main", repository: "https://a/b" } }
      const before = yield* rows
      const cases: ReadonlyArray<readonly [number, string, string, unknown?, string?]> = [
        [400, "POST", "task-packages", { name: "", type: "zip" }],
        [400, "POST", "task-packages", {}],
        [400, "POST", "task-packages", { name: "x", type: "github" }],
        [400, "POST", `task-packages/${id}`, { type: "zip" }],
        [400, "POST", `task-packages/${id}`, { ...git, configuration: { mode: "detached" } }],
        [409, "POST", `task-packages/${id}`, git],
        [404, "POST", "task-packages/nobody", git],
        [404, "GET", "task-packages/nobody/upload"],
        [404, "GET", `/api/v1/workspaces/${other}/task-packages/${id}`, undefined, key],
        [404, "GET", `/api/v1/workspaces/${other}/task-packages/${id}/upload`, undefined, key],
        [404, "DELETE", `/api/v1/workspaces/${other}/task-packages/${id}`, undefined, key]
      ]
      for (const [status, method, path, json, given] of cases) {
        const answer = yield* raw(method, path, {
          ...(json === undefined ? {} : { json }),
          ...(given === undefined ? {} : { key: given })
        })
        assert.strictEqual(answer.status, status, `${method} ${path}: ${answer.text}`)
        assert.isNotEmpty(errorOf(answer).message)
      }
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect("refuse zips that no worker should unpack, and keep their content", () =>
    Effect.gen(function* () {
      const { blobs, rows } = yield* Service
      const id = yield* withTasks("hostile", "Kept")
      const robot: RawZip.Entry = { name: "robot.yaml", content: robotYaml("New") }
      const yaml = (content: string) => RawZip.make([{ name: "robot.yaml", content }])
      const well = RawZip.make([robot])
      const unnamed = [
        { what: "nothing in it", zip: RawZip.make([]), says: /robot\.yaml/ },
        { what: "no tasks", zip: yaml("devTasks: {}\n"), says: /robot\.yaml has no mapping `tasks`/ },
        {
          what: "a robot.yaml that is too large",
          zip: yaml(`#${"x".repeat(300_000)}\n${robotYaml("a")}`),
          says: /262144/
        }
      ]
      const before = { rows: yield* rows, blobs: yield* blobs }
      for (const { says, what, zip } of [...hostileZips, ...unnamed]) {
        const answer = yield* post(id, zip)
        assert.strictEqual(answer.status, 400, `${what}: ${answer.status} ${answer.text}`)
        const { error } = errorOf(answer)
        assert.strictEqual(error.code, "INVALID_REQUEST", what)
        assert.match(error.message, /^file: .*; nothing was stored$/, what)
        assert.match(error.message, says, what)
      }
      assert.deepStrictEqual({ rows: yield* rows, blobs: yield* blobs }, before)
      assert.deepStrictEqual((yield* TaskPackages.get(id)).tasks, [{ name: "Kept" }])
      assert.strictEqual((yield* post(id, well)).status, 204)
      assert.deepStrictEqual((yield* TaskPackages.get(id)).tasks, [{ name: "New" }])
    })
  )

  // The content of a zip does not depend on the database: in the short form one is enough.
  it.effect.skipIf(onPostgres && !soak)("accept every valid zip", () =>
    Effect.gen(function* () {
      const { id } = yield* TaskPackages.create("fine")
      // As many as may be, in the long form.
      const entries = sized(2_000, 20_000)
      const megabytes = sized(8, 100)
      const robot: RawZip.Entry = { name: "robot.yaml", content: robotYaml("A"), deflate: true }
      const many = Array.from({ length: entries - 1 }, (_, n): RawZip.Entry => ({ name: `folder ${n % 50}/${n}` }))
      const deep = Object.fromEntries([
        ["robot.yaml", robotYaml("A")],
        ["a/".repeat(60) + "b", "x"]
      ])
      const zips: ReadonlyArray<readonly [string, Uint8Array]> = [
        ["folders", RawZip.make([{ name: "a/", mode: 0o40755 }, robot, { name: "a/b" }, { name: "c/", mode: 0 }])],
        [
          "no modes",
          RawZip.make([
            { ...robot, mode: 0 },
            { name: "a.py", mode: 0 }
          ])
        ],
        [`${entries} entries`, RawZip.make([robot, ...many])],
        ["a ZIP64 directory", RawZip.make([robot, { name: "a", content: "x" }], { wide: 0 })],
        ["streamed sizes and folders", yield* zipOf(deep)],
        ["dots in names", RawZip.make([robot, { name: "...a/..b/c.." }, { name: ".hidden" }])],
        [
          `${megabytes} MB that compress well`,
          yield* zipOf({ "robot.yaml": robotYaml("A"), big: Buffer.alloc(megabytes * 1e6) })
        ]
      ]
      for (const [what, zip] of zips) {
        const answer = yield* post(id, zip)
        assert.strictEqual(answer.status, 204, `${what}: ${answer.text}`)
        assert.deepStrictEqual((yield* TaskPackages.get(id)).tasks, [{ name: "A" }], what)
      }
    })
  )

  it.effect("are named by steps: a run starts when there is a zip with the task, and workers get it", () =>
    Effect.gen(function* () {
      const { origin, raw } = yield* Service
      const unknown = TaskPackageId.make("01900000-0000-7000-8000-000000000000")
      const step = (package_id: TaskPackageId, name = "Run") => [{ name: "s", task: { package_id, name } }]
      const refused = yield* raw("POST", "processes", { json: { name: "p", steps: step(unknown) } })
      assert.strictEqual(refused.status, 404)
      assert.include(errorOf(refused).message, "steps.0.task.package_id")
      const { id } = yield* TaskPackages.create("the package")
      const process = yield* Processes.create({ name: "with a package", steps: step(id) })
      const empty = yield* Effect.flip(ProcessRuns.start(process.id))
      assert.strictEqual(empty._tag, "Conflict")
      assert.include(empty.message, "the package")
      yield* TaskPackages.upload(id, yield* zipped("Other"))
      const lacking = yield* Effect.flip(ProcessRuns.start(process.id))
      assert.strictEqual(lacking._tag, "Conflict")
      assert.match(lacking.message, /the package.*"Run".*"Other"/)
      const zip = yield* zipped("Run")
      yield* TaskPackages.upload(id, zip)
      assert.isTrue((yield* ProcessRuns.start(process.id)).started)
      // Neither a worker with its own task of this name matches, nor one that takes no packages.
      const { protocol } = yield* linkWorker(["Run"])
      assert.deepStrictEqual(yield* protocol.lease({ free: 5, tasks: ["Run"], waitSeconds: 0 }), [])
      const foreign = yield* workerElsewhere
      assert.deepStrictEqual(yield* foreign.lease({ free: 5, tasks: ["Run"], packages: true, waitSeconds: 0 }), [])
      const [lease] = yield* protocol.lease({ free: 5, tasks: [], packages: true, waitSeconds: 0 })
      assert.deepStrictEqual(lease?.task, { name: "Run" })
      const digest = `sha256:${createHash("sha256").update(zip.bytes).digest("hex")}`
      assert.strictEqual(lease?.package?.digest, digest)
      const fetched = yield* send(origin, "GET", (lease?.package?.url ?? "").slice(origin.length))
      assert.isTrue(fetched.bytes.equals(zip.bytes))
      if (lease === undefined) return assert.fail("no lease")
      yield* protocol.start(lease)
      yield* protocol.finish(lease, null)
      assert.strictEqual((yield* ProcessRuns.get(lease.process_run_id)).state, "completed")
      // A worker's own task goes to the workers that have it, whatever packages they take.
      const own = yield* Processes.create({ name: "own", steps: [{ name: "s", task: { name: "Run" } }] })
      yield* ProcessRuns.start(own.id)
      assert.deepStrictEqual(yield* protocol.lease({ free: 1, tasks: [], packages: true, waitSeconds: 0 }), [])
      const [bare] = yield* protocol.lease({ free: 1, tasks: ["Run"], packages: true, waitSeconds: 0 })
      assert.strictEqual(bare?.package, null)
    })
  )

  it.effect("stay while a step or an assistant names them", () =>
    Effect.gen(function* () {
      const id = yield* withTasks("in use", "A")
      const steps = [{ name: "s", task: { package_id: id, name: "A" } }]
      const process = yield* Processes.create({ name: "uses it", steps })
      const held = Effect.fnUntraced(function* (says: string) {
        const error = yield* Effect.flip(TaskPackages.remove(id))
        assert.strictEqual(error._tag, "Conflict")
        assert.include(error.message, says)
      })
      yield* held("the process uses it")
      const run = yield* ProcessRuns.start(process.id)
      if (!run.started) return assert.fail("not started")
      yield* Processes.update(process.id, { name: "uses it", steps: [] })
      // The run keeps the steps that it started with, also while its failed items may be retried.
      yield* held(run.id)
      yield* ProcessRuns.stop(run.id)
      assert.strictEqual((yield* ProcessRuns.get(run.id)).state, "unresolved")
      yield* held(run.id)
      const { data } = yield* WorkItems.list({ processRun: run.id })
      yield* WorkItems.markAsDone(data.map((item) => item.id))
      assert.strictEqual((yield* ProcessRuns.get(run.id)).state, "completed")
      yield* TaskPackages.remove(id)
      const other = yield* withTasks("used by people", "A")
      yield* Assistants.create({ name: "helper", task: "A", taskPackage: other })
      const error = yield* Effect.flip(TaskPackages.remove(other))
      assert.strictEqual(error._tag, "Conflict")
      assert.include(error.message, "helper")
    })
  )
})
